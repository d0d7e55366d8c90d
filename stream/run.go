package stream

import (
	"context"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/task"
)

// A run is one execution of a stream by a terminal.
type run struct {
	ctx      context.Context // the caller's
	last     *chain          // on the caller's goroutine; the other lifetimes are made from its own
	ticker   ticker
	failures task.Failures // of functions; all errors are Kept or Late
}

// who names the function in a PanicError.
const who = "stream: function"

// newRun returns a run, with the chain of the caller's goroutine.
func newRun(ctx context.Context) *run {
	r := &run{ctx: ctx}
	r.last = r.chain(ctx)
	return r
}

// chain returns a new chain, which ends with ctx.
func (r *run) chain(ctx context.Context) *chain {
	c := &chain{lifetime: newLifetime(ctx), run: r, step: 1, done: make(chan struct{})}
	r.ticker.join(c)
	return c
}

// start runs f on the goroutine of c, which it starts, and then calls end with the error
// that ends the records.
func (c *chain) start(f func(), end func(error)) {
	go func() {
		defer close(c.done)
		defer func() { end(c.err) }()
		task.Guard(f, func(o task.Outcome) { c.fail(c.unreturned(o)) })
	}()
}

// afterFunc is time.AfterFunc: all goroutines of a run start in this file.
func afterFunc(d time.Duration, f func()) *time.Timer { return time.AfterFunc(d, f) }

// recordPanic records that a function has panicked, which ends the run, or has called
// Goexit. It returns the error that the records end with.
func (r *run) recordPanic(in *lifetime, o task.Outcome) error {
	if o.Panic == nil {
		return r.recordError(in, o.Failure())
	}
	p := o.Panic.Raised(who)
	r.failures.Panic(p, r.waits)
	r.last.cancel()
	return p
}

// waits returns what a panic waits for.
func (r *run) waits() string {
	return "the terminal of a stream; other functions of it run"
}

// recordError records the error of a function, to be reported together with a panic, and
// returns it.
func (r *run) recordError(in *lifetime, err error) error {
	r.failures.Keep(err, in.ended())
	return err
}

// close ends the run when the last chain has returned. Each chain has waited for those that
// it started.
func (r *run) close() {
	r.last.cancel() // a yield function may be kept
	r.ticker.close()
	r.failures.TellBeside(who, r.ctx.Err(), context.Cause(r.ctx))
}

// result returns the error of the run, or panics if a function has. It is called after close.
// It calls methods of the error, and panics with a *stint.PanicError if a method panics.
func (r *run) result() error {
	r.failures.Raise()
	err := r.last.err
	if r.ctx.Err() == nil {
		return err
	}
	if err == nil {
		return context.Cause(r.ctx)
	}
	switch own := task.Besides([]error{err}, who, r.ctx.Err(), context.Cause(r.ctx)); len(own) {
	case 0: // a consequence of the cancellation
		return context.Cause(r.ctx)
	case 1:
		return err
	default:
		panic(task.With(own[1].(*stint.PanicError), own[:1]))
	}
}
