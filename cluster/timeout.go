package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-go/stint"
)

// Timeout bounds one call of the function. When d has passed, the context of the call ends with
// context.DeadlineExceeded. If the function returns within a second after that, its result
// counts, and its error is retried as Retry says.
//
// A call that does not return in that second is abandoned. Its result is an error in which
// errors.Is finds context.DeadlineExceeded. It is not retried, and the slot gets another task.
// A call whose context has ended for another reason is abandoned in the same way, without a
// result.
//
// The goroutine of an abandoned call stays until the function returns, and may run at the same
// time as a task that should run alone. Serve and Close do not wait for it. Its result is
// dropped, and Log reports its panic. Status counts abandoned calls. Timeout panics if d is not
// positive.
func Timeout(d time.Duration) TaskOption {
	if d <= 0 {
		panic(fmt.Sprintf("cluster: Timeout(%v): want more than 0", d))
	}
	return func(k *kind) { k.timeout = d }
}

// timeoutGrace is how long a function with a Timeout has to return after its context has ended.
const timeoutGrace = time.Second

// invokeWithTimeout calls the function on another goroutine, and abandons it if it does not
// return in time.
func (w *worker) invokeWithTimeout(ctx context.Context, l *lease) outcome {
	k := l.kind()
	ctx, stop := context.WithTimeout(ctx, k.timeout)
	defer stop()
	done, abandoned := make(chan outcome), make(chan struct{})
	go func() {
		o := outcome{err: stint.ErrGoexit}
		defer func() {
			select {
			case done <- o:
			case <-abandoned:
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
	late := time.NewTimer(timeoutGrace)
	defer late.Stop()
	select {
	case o := <-done:
		return o
	case <-late.C:
	}
	w.abandoned.Add(1)
	close(abandoned)
	err := fmt.Errorf("cluster: %s: the function has not returned %v after the end of its context: %w", k.name, timeoutGrace, context.Cause(ctx))
	w.client.conf.log.Warn("cluster: a call is abandoned", "task", l.id(), "error", err)
	return outcome{err: err, final: true}
}

// returned is called when the function of an abandoned call has returned.
func (w *worker) returned(l *lease, o outcome) {
	w.abandoned.Add(-1)
	if o.final {
		w.client.conf.log.Error("cluster: an abandoned call has panicked", "task", l.id(), "error", o.err)
		return
	}
	w.client.conf.log.Info("cluster: an abandoned call has returned", "task", l.id(), "error", o.err)
}
