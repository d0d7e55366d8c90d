package stream

import (
	"context"
	"sync"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/task"
)

// A run is one execution of a stream by a terminal.
type run struct {
	ctx    context.Context // the caller's
	last   *chain          // on the caller's goroutine; the other lifetimes are made from its own
	ticker ticker

	unwatch func() bool
	watched sync.WaitGroup // the goroutine that unwatch keeps from starting

	mu      sync.Mutex
	stopped bool
	chains  []*chain
	panics  *task.Panics
	others  []error // of functions that were not cancelled
	late    []error // errors of functions that were
}

// who names the function in a PanicError.
const who = "stream: function"

// newRun returns a run, with the chain of the caller's goroutine.
func newRun(ctx context.Context) (*run, *chain) {
	r := &run{ctx: ctx}
	r.last = r.chain(ctx)
	if ctx.Done() != nil {
		r.watched.Add(1)
		r.unwatch = context.AfterFunc(ctx, func() {
			defer r.watched.Done()
			r.stop()
		})
	}
	return r, r.last
}

// chain returns a new chain, which ends with ctx.
func (r *run) chain(ctx context.Context) *chain {
	c := &chain{lifetime: newLifetime(ctx), run: r, step: 1, done: make(chan struct{})}
	r.mu.Lock()
	r.chains = append(r.chains, c)
	if r.stopped {
		c.halt = stopBit
	}
	r.mu.Unlock()
	r.ticker.join(c)
	return c
}

// start runs f on the goroutine of c, which it starts, and then calls end with the error
// that ends the records.
func (r *run) start(c *chain, f func(), end func(error)) {
	go func() {
		defer close(c.done)
		defer func() { end(c.err) }()
		task.Guard(f, func(o task.Outcome) { c.fail(c.unreturned(o)) })
	}()
}

// afterFunc is time.AfterFunc: all goroutines of a run start in this file.
func afterFunc(d time.Duration, f func()) *time.Timer { return time.AfterFunc(d, f) }

// recordPanic records that a function has panicked, which stops the run, or has called
// Goexit. It returns the error that the records end with.
func (r *run) recordPanic(in *lifetime, o task.Outcome) error {
	if o.Panic == nil {
		return r.recordError(in, stint.ErrGoexit)
	}
	p := o.Panic.Raised(who)
	r.mu.Lock()
	r.panics = r.panics.Add(p, r.waits)
	r.mu.Unlock()
	r.stop()
	return p
}

// waits returns what a panic waits for.
func (r *run) waits() string {
	return "the terminal of a stream; other functions of it run"
}

// recordError records the error of a function, to be reported together with a panic, and
// returns it.
func (r *run) recordError(in *lifetime, err error) error {
	cancelled := in.ctx.Err() != nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancelled {
		r.late = append(r.late, err)
	} else {
		r.others = append(r.others, err)
	}
	return err
}

// stop stops all chains, also those made later. It cancels them without the lock: a context
// of a type of the caller may run the caller's code when a child is cancelled.
func (r *run) stop() {
	r.mu.Lock()
	r.stopped = true
	chains := r.chains
	r.mu.Unlock()
	for _, c := range chains {
		c.stop()
	}
}

// close is called when the first chain has returned. Each chain has waited for those
// that it started.
func (r *run) close() {
	r.last.stop() // a yield function may be kept
	if r.unwatch != nil {
		if r.unwatch() {
			r.watched.Done()
		}
		r.watched.Wait()
	}
	r.ticker.close()
}

// repanic panics if a function has. It is called after close.
func (r *run) repanic() {
	if r.panics != nil {
		r.panics.Raise(append(r.others, r.besides(r.late)...)...)
	}
}

// besides returns the errors that do not merely report the cancellation. A panic of a
// method of an error follows that error.
func (r *run) besides(errs []error) []error {
	return task.Besides(errs, who, r.ctx.Err(), context.Cause(r.ctx))
}

// result returns the error of the run. It is called after repanic. It calls methods of the
// error, and panics with a *stint.PanicError if a method panics.
func (r *run) result() error {
	err := r.last.err
	if r.ctx.Err() == nil {
		return err
	}
	if err == nil {
		return context.Cause(r.ctx)
	}
	switch own := r.besides([]error{err}); len(own) {
	case 0: // a consequence of the cancellation
		return context.Cause(r.ctx)
	case 1:
		return err
	default:
		panic(task.With(own[1].(*stint.PanicError), own[:1]))
	}
}
