package stream

import (
	"context"
	"sync/atomic"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
)

// A chain is the part of a run on one goroutine: a source or the receiver of a boundary,
// the stages after it, and a terminal or the sender of the next boundary. Its fields belong
// to that goroutine, except ticked and active.
type chain struct {
	*lifetime // ends when no more of its records are wanted
	run       *run
	done      chan struct{} // closed when the goroutine has finished
	step      int           // how many records go through the stages at once
	flush     func()        // wakes the receiver of what the chain has sent; nil: there is none

	passing *task.Passage // the panic that leaves the goroutine
	err     error         // ends the records; nil: there are no more, or no more are wanted

	// Atomic, by functions: in generic code the methods of atomic types are not inlined.
	active uint32 // 1: several records have gone through at once, or were sent, since the last tick
	ticked uint32 // 1: a tick has come since the step began, so finished records are passed on
}

// maxStep is the largest number of records that go through the stages at once.
const maxStep = 256

// activate lets the next tick see to c.
func (c *chain) activate() {
	if atomic.LoadUint32(&c.active) == 0 {
		atomic.StoreUint32(&c.active, 1)
		c.run.ticker.wake()
	}
}

// tick makes the stages pass on finished records, and the receiver take what was sent. If the
// chain sends one meanwhile, either it finds itself idle, or flush finds the record.
func (c *chain) tick() {
	if atomic.LoadUint32(&c.active) == 0 {
		return
	}
	atomic.StoreUint32(&c.active, 0)
	atomic.StoreUint32(&c.ticked, 1)
	c.wakeReceiver()
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

// wakeReceiver is called before the goroutine blocks, and by a tick.
func (c *chain) wakeReceiver() {
	if c.flush != nil {
		c.flush()
	}
}

// A lifetime is the context of the functions before some point of a stream. It ends when
// no more records are wanted there, for functions that wait for nothing else. The lifetimes of
// a run are made from each other: if one has ended, so have those of all functions before.
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

func (l *lifetime) ended() bool { return l.ctx.Err() != nil }

// pump passes records to a sink in steps. The size of a step doubles until a step lasts into
// the next tick: for short functions, a call for each stage and record is expensive; for
// long ones, the first record of a step must not wait for the last. pump reports whether more
// records are wanted.
func pump[T any](c *chain, in *lifetime, records []T, to sink[T]) bool {
	for len(records) > 0 {
		if in.ended() {
			return false
		}
		if atomic.LoadUint32(&c.ticked) != 0 {
			atomic.StoreUint32(&c.ticked, 0)
			c.step = 1
		}
		n := min(c.step, len(records))
		if n > 1 {
			c.activate()
		}
		if !to.many(records[:n]) {
			return false
		}
		records = records[n:]
		c.step = min(2*c.step, maxStep)
	}
	return true
}
