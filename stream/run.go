package stream

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/task"
)

// A run is one use of a stream by a terminal.
type run struct {
	ctx   context.Context // the caller's
	last  *segment        // on the caller's goroutine; its context is that of the whole run
	clock clock

	unwatch func() bool
	watched sync.WaitGroup // the goroutine that unwatch keeps from starting

	mu       sync.Mutex
	stopped  bool
	segments []*segment
	lanes    map[any]any // of each partition
	panicked *stint.PanicError
	others   []error // later panics, and what functions returned before they were cancelled
	late     []error // what they returned after that
}

// who has panicked, as the PanicError says.
const who = "stream: function"

// start returns a run, with the segment of the caller's goroutine.
func start(ctx context.Context) (*run, *segment) {
	r := &run{ctx: ctx}
	r.last = r.segment(nil, ctx)
	if ctx.Done() != nil {
		r.watched.Add(1)
		r.unwatch = context.AfterFunc(ctx, func() {
			defer r.watched.Done()
			r.stop()
		})
	}
	return r, r.last
}

// segment returns a new segment, whose records go to the segment down, if that is not
// nil. It ends with ctx.
func (r *run) segment(down *segment, ctx context.Context) *segment {
	g := &segment{scope: within(ctx), run: r, steps: 1, done: make(chan struct{})}
	if down != nil {
		g.halt = atomic.LoadUint32(&down.halt) & over
	}
	r.mu.Lock()
	r.segments = append(r.segments, g)
	if r.stopped {
		g.halt |= over
	}
	r.mu.Unlock()
	r.clock.join(g)
	return g
}

// begin runs f on a goroutine of its own, that of g, and then tells end how it ended.
func (r *run) begin(g *segment, f func(), end func(error)) {
	go func() {
		defer close(g.done)
		returned := false
		defer func() {
			if !returned {
				g.fail(r.broken(g.scope, task.Unreturned(recover())))
			}
			end(g.err)
		}()
		f()
		returned = true
	}()
}

// after is time.AfterFunc. It is here with the other beginnings of goroutines.
func after(d time.Duration, f func()) *time.Timer { return time.AfterFunc(d, f) }

// broken takes in that a function, in the scope in, has panicked, which ends the whole
// run, or has called Goexit. It returns the error that the records end with.
func (r *run) broken(in *scope, o task.Outcome) error {
	if o.Panic == nil {
		return r.failed(in, stint.ErrGoexit)
	}
	p := o.Panic.Raised(who)
	r.mu.Lock()
	switch r.panicked {
	case nil:
		r.panicked = p
	case p: // raised again on its way
	default:
		r.others = append(r.others, p)
	}
	r.mu.Unlock()
	r.stop()
	return p
}

// failed takes in the error of a function, in the scope in, and returns it: each that was
// returned before a panic is told of beside it.
func (r *run) failed(in *scope, err error) error {
	late := in.ctx.Err() != nil
	r.mu.Lock()
	defer r.mu.Unlock()
	if late {
		r.late = append(r.late, err)
	} else {
		r.others = append(r.others, err)
	}
	return err
}

// stop ends all segments. A context of the caller's type may be told that nobody watches
// it any more, so no lock is held then. Segments that are made later are over.
func (r *run) stop() {
	r.mu.Lock()
	r.stopped = true
	segments := r.segments
	r.mu.Unlock()
	for _, g := range segments {
		g.stop()
	}
}

// close ends what is left of the run. The segments have been waited for by those that
// started them; it is called when the first has returned.
func (r *run) close() {
	r.last.cancel()
	if r.unwatch != nil {
		if r.unwatch() {
			r.watched.Done()
		}
		r.watched.Wait()
	}
	r.clock.close()
}

// raise panics if a function has, after close.
func (r *run) raise() {
	if r.panicked != nil {
		panic(task.With(r.panicked, append(r.others, r.besides(r.late)...)))
	}
}

// besides returns those of errs that say more than that the run was cancelled, and
// the panics of their methods behind them.
func (r *run) besides(errs []error) []error {
	return task.Besides(errs, who, r.ctx.Err(), context.Cause(r.ctx))
}

// result returns how the run has ended, after raise. It calls methods of the error, whose
// panic is one of a function.
func (r *run) result() error {
	err := plain(r.last.err)
	if r.ctx.Err() == nil {
		return err
	}
	if err == nil {
		return context.Cause(r.ctx)
	}
	switch own := r.besides([]error{err}); len(own) {
	case 0: // a consequence
		return context.Cause(r.ctx)
	case 1:
		return err
	default:
		panic(task.With(own[1].(*stint.PanicError), own[:1]))
	}
}
