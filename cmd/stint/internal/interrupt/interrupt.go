// Package interrupt ends a command in order after a signal. It also lets a caller stop
// waiting for calls that have no context: reading a pipe or a terminal, or opening a file
// on a file server. Such a call cannot be cancelled. When the context ends first, its
// goroutine is left to the end of the process, and the caller must not use again what the
// call was given.
package interrupt

import (
	"context"
	"io"
	"iter"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// A Signal is the cause of a context that a signal has ended. It is a context.Canceled.
type Signal struct{ syscall.Signal }

// Error returns the text of the signal.
func (s Signal) Error() string { return s.String() }

// Is reports whether err is context.Canceled.
func (s Signal) Is(err error) bool { return err == context.Canceled }

// Status returns the exit status that a shell reports after the signal.
func (s Signal) Status() int { return 128 + int(s.Signal) }

// signals are those of a context that Notify has returned.
type signals struct {
	second  context.Context
	claimed atomic.Bool
	steps   chan int
}

type signalsKey struct{}

// Notify returns a context that the first INT, TERM, HUP or QUIT ends, until stop is called.
// The next signal has its default action, unless Second was called. QUIT then ends the
// process with its exit status, as the default action would print all goroutines. Of signals
// that are pending at once, the one with the lowest number counts as the first.
//
// USR1 and USR2 are for Steps. They end no command, also after stop.
//
// A signal that was ignored when the process started, as an interrupt is in a background job
// of a script, stays ignored. Go tells that of INT and HUP only.
func Notify(parent context.Context) (ctx context.Context, stop func()) {
	second, kill := context.WithCancel(context.Background())
	s := &signals{second: second, steps: make(chan int, 64)}
	ctx, cancel := context.WithCancelCause(context.WithValue(parent, signalsKey{}, s))
	got, done := make(chan os.Signal, 8), make(chan struct{})
	var some []os.Signal // that end ctx, besides QUIT
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			some = append(some, sig)
		}
	}
	signal.Notify(got, append(some, syscall.SIGQUIT)...)
	step := make(chan os.Signal, 64)
	for sig := range steps {
		signal.Notify(step, sig)
	}
	go func() {
		for n, last := 1, false; ; n++ {
			var it Signal
			select {
			case sig := <-step:
				select {
				case s.steps <- steps[sig]:
				default: // nobody receives them
				}
				n--
				continue
			case sig := <-got:
				it = Signal{sig.(syscall.Signal)}
			case <-done:
				return
			}
			switch {
			case last && it.Signal == syscall.SIGQUIT:
				os.Exit(it.Status())
			case n == 1:
				cancel(it)
			case n == 2:
				kill()
			}
			if last = n > 1 || !s.claimed.Load(); last && len(some) > 0 {
				signal.Reset(some...)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		close(done)
		cancel(nil)
		kill()
	}
}

// Second returns a context that the second signal ends. ctx is one of Notify, or made from it.
// After Second, only the third signal has its default action.
func Second(ctx context.Context) context.Context {
	s, ok := ctx.Value(signalsKey{}).(*signals)
	if !ok {
		return context.Background()
	}
	s.claimed.Store(true)
	return s.second
}

// Steps returns a channel with 1 for each USR1 and -1 for each USR2, nil if there are no such signals.
// ctx is one of Notify, or made from it.
func Steps(ctx context.Context) <-chan int {
	if s, ok := ctx.Value(signalsKey{}).(*signals); ok && steps != nil {
		return s.steps
	}
	return nil
}

// result is the result of one call.
type result[T any] struct {
	v   T
	err error
}

// Call returns what f returns, or the cause of ctx if ctx ends first.
func Call[T any](ctx context.Context, f func() (T, error)) (T, error) {
	done := make(chan result[T], 1) // buffered, so that an abandoned call can return
	go func() {
		v, err := f()
		done <- result[T]{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
	}
}

// Seq yields what seq yields, and the cause of ctx if ctx ends before seq does. It
// starts one goroutine for the whole sequence. The caller must end ctx if it leaves
// the loop early.
func Seq[T any](ctx context.Context, seq iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ready := make(chan result[T], 64)
		complete := false // seq ended by itself; read after ready is closed
		go func() {
			defer close(ready)
			for v, err := range seq {
				select {
				case ready <- result[T]{v, err}:
				case <-ctx.Done():
					return
				}
			}
			complete = true
		}()
		for {
			select {
			case r, ok := <-ready:
				if ok && yield(r.v, r.err) {
					continue
				}
				if ok || complete {
					return
				}
			case <-ctx.Done():
			}
			var zero T
			yield(zero, context.Cause(ctx))
			return
		}
	}
}

// reader is an interruptible reader.
type reader struct {
	ctx context.Context // of the one run that the reader is made for
	r   io.Reader
}

// NewReader returns a reader of r that fails when ctx ends. After that, neither r nor
// the buffer of the last Read may be used.
func NewReader(ctx context.Context, r io.Reader) io.Reader { return &reader{ctx, r} }

func (r *reader) Read(b []byte) (int, error) {
	return Call(r.ctx, func() (int, error) { return r.r.Read(b) })
}
