package stream

import (
	"context"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
)

// A chain is the part of a run on one goroutine: a source or the receiver of a boundary,
// the stages after it, and a terminal or the sender of the next boundary. Its fields belong
// to that goroutine.
type chain struct {
	*lifetime // ends when no more of its records are wanted
	run       *run
	done      chan struct{} // closed when the goroutine has finished
	flush     func()        // wakes the receiver of what the chain has sent; nil: there is none

	passing *task.Passage // the panic that leaves the goroutine
	err     error         // ends the records; nil: there are no more, or no more are wanted
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

// failIn is fail for the error of a function. It ends the lifetime of the functions before.
func (c *chain) failIn(in *lifetime, err error) bool {
	c.run.recordError(in, err)
	in.cancel()
	return c.fail(err)
}

// beforeBlocking is called before the goroutine blocks.
func (c *chain) beforeBlocking() {
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

// pump passes records to a sink while more are wanted, and reports whether they are.
func pump[T any](in *lifetime, records []T, to sink[T]) bool {
	for i := range records {
		if in.ended() || !to(records[i]) {
			return false
		}
	}
	return true
}
