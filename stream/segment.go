package stream

import (
	"context"
	"sync/atomic"
)

// A segment is what runs on one goroutine: a source or the receiving end of a
// boundary, the stages after it, and a terminal or the sending end of the next
// boundary. Its fields belong to that goroutine but for halt and active.
type segment struct {
	*scope // ends when nobody wants more of it
	run    *run
	done   chan struct{} // closed when the goroutine has ended

	err     error  // why the records end here, if not because there are no more
	flush   func() // hands on what the sending end has taken; nil at a terminal
	steps   int    // how many records go through the stages at once
	hurried uint32 // the tick that hurry knows of

	halt   uint32 // atomic: bits below, looked at between two records. Functions of package atomic: in generic code its methods are not inlined, and cost 1 ns each
	active uint32 // atomic: 1 while several records go through the stages at once
}

const (
	ticked uint32 = 1 << iota // 1 ms has gone: hand on what is finished
	over                      // nobody wants more
)

// most is how many records go through the stages at once.
const most = 256

// over reports whether nobody wants more records of g.
func (g *segment) over() bool { return atomic.LoadUint32(&g.halt)&over != 0 }

// late reports whether records that are finished should be handed on now.
func (g *segment) late() bool { return atomic.LoadUint32(&g.halt)&ticked != 0 }

// hurry reports whether a tick has come since it did so last: what was in the stages then
// is sent now, and once, though the stages are late until the next step.
func (g *segment) hurry() bool {
	if !g.late() {
		return false
	}
	before := g.hurried
	g.hurried = atomic.LoadUint32(&g.run.clock.ticks)
	return g.hurried != before
}

// stop ends g: it takes nothing more from its source. It does not wait.
func (g *segment) stop() {
	atomic.OrUint32(&g.halt, over)
	g.cancel()
}

// end stops g, which runs on a goroutine of its own, and waits for it.
func (g *segment) end() {
	g.stop()
	<-g.done
}

// fail makes err the end of the records, unless they have ended. It returns what a sink
// does then.
func (g *segment) fail(err error) bool {
	if g.err == nil {
		g.err = err
	}
	return false
}

// refuse makes err the end of the records, after which nothing is wanted in the scope in.
// It returns what a sink does then.
func (g *segment) refuse(in *scope, err error) bool {
	in.cancel()
	return g.fail(err)
}

// A scope is what the functions before some point of a stream are in. Their context ends
// when no more is wanted there, so that one which waits for nothing else returns.
type scope struct {
	ctx    context.Context
	cancel context.CancelFunc
}

// within returns a scope that ends with ctx, or before.
func within(ctx context.Context) *scope {
	s := new(scope)
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// pause is called before the goroutine of g blocks: what is finished must not wait
// for what comes next.
func (g *segment) pause() {
	atomic.StoreUint32(&g.active, 0)
	if g.flush != nil {
		g.flush()
	}
}

// tick makes the stages hand on what is finished. Once they have been told there is no
// need for another tick.
func (g *segment) tick() bool {
	if g.hot() {
		atomic.OrUint32(&g.halt, ticked)
	}
	return false
}

func (g *segment) hot() bool { return atomic.LoadUint32(&g.active) != 0 && !g.late() }

// pump hands items to a sink, in steps that become longer as long as a step does not
// last into the next tick of the clock: a function call for every stage and record is
// dear where the functions do little, and where they do much the first record of a
// step must not wait for the last. It reports whether the sink wants more.
func pump[T any](g *segment, items []T, to sink[T]) bool {
	for len(items) > 0 {
		switch h := atomic.LoadUint32(&g.halt); {
		case h&over != 0, g.ctx.Err() != nil: // which comes first
			return false
		case h&ticked != 0:
			atomic.AndUint32(&g.halt, ^ticked)
			g.steps = 1
		}
		n := min(g.steps, len(items))
		if n > 1 {
			if atomic.LoadUint32(&g.active) == 0 {
				atomic.StoreUint32(&g.active, 1)
			}
			g.run.clock.wake()
		}
		if !to.many(items[:n]) {
			return false
		}
		items = items[n:]
		g.steps = min(2*g.steps, most)
	}
	return true
}
