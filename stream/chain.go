package stream

import (
	"context"
	"sync/atomic"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
)

// A chain is the part of a run on one goroutine: a source or the receiver of a boundary,
// the stages after it, and a terminal or the sender of the next boundary. Its fields belong
// to that goroutine, except halt and active.
type chain struct {
	*lifetime // ends when no more of its records are wanted
	run       *run
	done      chan struct{} // closed when the goroutine has finished

	passing  *task.Passage // the panic that leaves the goroutine
	err      error         // ends the records; nil: there are no more, or no more are wanted
	flush    func()        // sends what the sender holds; nil at a terminal
	step     int           // how many records go through the stages at once
	lastTick uint32        // the tick that newTick has reported

	// Both are atomic. In generic code the methods of atomic.Uint32 are not inlined, and
	// cost 1 ns each.
	halt   uint32 // tickBit, stopBit: the stages look at it between two records
	active uint32 // 1 while several records go through the stages at once
}

const (
	tickBit uint32 = 1 << iota // a millisecond has passed: pass on finished records
	stopBit                    // no more records are wanted
)

// maxStep is the largest number of records that pass through the stages at once.
const maxStep = 256

func (c *chain) stopped() bool { return atomic.LoadUint32(&c.halt)&stopBit != 0 }

func (c *chain) ticked() bool { return atomic.LoadUint32(&c.halt)&tickBit != 0 }

// newTick reports whether the ticker has ticked since newTick last reported true. The tick
// bit stays set until the next step, so that each tick sends the finished records once.
func (c *chain) newTick() bool {
	if !c.ticked() {
		return false
	}
	before := c.lastTick
	c.lastTick = atomic.LoadUint32(&c.run.ticker.ticks)
	return c.lastTick != before
}

// stop makes c take no more records from its source. It does not block.
func (c *chain) stop() {
	atomic.OrUint32(&c.halt, stopBit)
	c.cancel()
}

// stopAndWait stops c, which runs on a goroutine of its own, and waits for it.
func (c *chain) stopAndWait() {
	c.stop()
	<-c.done
}

// during calls f, and then end, which waits for others, even if f does not return.
func (c *chain) during(f, end func()) {
	returned := false
	defer func() {
		if !returned && c.passing == nil {
			c.passing = task.Passing(c.run.waits)
		}
		end()
	}()
	f()
	returned = true
}

// unreturned is recordPanic for the panic or Goexit that leaves the goroutine.
func (c *chain) unreturned(o task.Outcome) error {
	err := c.run.recordPanic(c.lifetime, o)
	p, _ := err.(*task.PanicError)
	c.passing.End(p)
	return err
}

// fail ends the records with err, unless they have ended. It returns false for the sink
// that calls it.
func (c *chain) fail(err error) bool {
	if c.err == nil {
		c.err = err
	}
	return false
}

// failIn is fail, and ends the lifetime of the functions before.
func (c *chain) failIn(in *lifetime, err error) bool {
	in.cancel()
	return c.fail(err)
}

// beforeBlocking is called before the goroutine blocks: it sends the finished records.
func (c *chain) beforeBlocking() {
	atomic.StoreUint32(&c.active, 0)
	if c.flush != nil {
		c.flush()
	}
}

// tick makes the stages pass on finished records. They then need no further tick.
func (c *chain) tick() bool {
	if c.needsTick() {
		atomic.OrUint32(&c.halt, tickBit)
	}
	return false
}

func (c *chain) needsTick() bool { return atomic.LoadUint32(&c.active) != 0 && !c.ticked() }

// A lifetime is the context of the functions before some point of a stream. It ends when
// no more records are wanted there, for functions that wait for nothing else.
type lifetime struct {
	ctx context.Context
	end context.CancelCauseFunc
}

// newLifetime returns a lifetime that ends with ctx, or before.
func newLifetime(ctx context.Context) *lifetime {
	l := new(lifetime)
	l.ctx, l.end = limit.CallContext(ctx, "")
	return l
}

func (l *lifetime) cancel() { l.end(nil) }

// pump passes items to a sink in steps. The size of a step doubles until a step lasts into
// the next tick: for short functions, a call for each stage and record is expensive; for
// long ones, the first record of a step must not wait for the last. pump reports whether
// the sink wants more.
func pump[T any](c *chain, items []T, to sink[T]) bool {
	for len(items) > 0 {
		switch h := atomic.LoadUint32(&c.halt); {
		case h&stopBit != 0, c.ctx.Err() != nil: // either may come first
			return false
		case h&tickBit != 0:
			atomic.AndUint32(&c.halt, ^tickBit)
			c.step = 1
		}
		n := min(c.step, len(items))
		if n > 1 {
			if atomic.LoadUint32(&c.active) == 0 {
				atomic.StoreUint32(&c.active, 1)
			}
			c.run.ticker.wake()
		}
		if !to.many(items[:n]) {
			return false
		}
		items = items[n:]
		c.step = min(2*c.step, maxStep)
	}
	return true
}
