package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-go/stint"
)

// Timeout sets how long one call of the function may take; without it there is no bound.
// Its context ends then, with context.DeadlineExceeded. What the function returns within a
// second after that counts, and its error is retried as Retry says.
//
// A call that does not return is left behind: the outcome is an error in which errors.Is
// finds context.DeadlineExceeded, without a retry, and the slot goes on with another task.
// The same happens a second after its context has ended for another reason, such as Close or the
// end of the run; then there is no outcome. The goroutine of the call stays until the function
// returns, with what it holds, and may still have effects, also beside a task that runs alone
// since its workers died. Serve and Close do not wait for it. What it returns goes nowhere; if
// it panics Log says so, and the process goes on. Status shows how many there are. Timeout
// panics if d is not positive.
func Timeout(d time.Duration) TaskOption {
	if d <= 0 {
		panic(fmt.Sprintf("cluster: Timeout(%v): want more than 0", d))
	}
	return func(k *kind) { k.timeout = d }
}

// grace is how long a function with a Timeout has to return when its context has ended.
const grace = time.Second

// within calls the function on a goroutine of its own, which is left behind if it does not
// return in time.
func (w *worker) within(ctx context.Context, l *lease) outcome {
	k := l.kind()
	ctx, stop := context.WithTimeout(ctx, k.timeout)
	defer stop()
	done, left := make(chan outcome), make(chan struct{})
	go func() {
		o := outcome{err: stint.ErrGoexit}
		defer func() {
			select {
			case done <- o:
			case <-left:
				w.returned(l, o)
			}
		}()
		o = w.invoke(ctx, l)
	}()
	select {
	case o := <-done:
		return o
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case o := <-done:
		return o
	case <-late.C:
	}
	w.abandoned.Add(1)
	close(left)
	err := fmt.Errorf("cluster: %s: the function has not returned %v after its context had ended: %w", k.name, grace, context.Cause(ctx))
	w.e.conf.Log.Warn("cluster: a call is left behind", "task", l.id(), "error", err)
	return outcome{err: err, final: true}
}

// returned is called when a function has returned that was left behind.
func (w *worker) returned(l *lease, o outcome) {
	w.abandoned.Add(-1)
	if o.final {
		w.e.conf.Log.Error("cluster: a call that was left behind has panicked", "task", l.id(), "error", o.err)
		return
	}
	w.e.conf.Log.Info("cluster: a call that was left behind has returned", "task", l.id(), "error", o.err)
}
