package conformance_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// A refuser starts a task now or refuses it. The function end waits for the tasks.
type refuser struct {
	name string
	open func(l *stint.Limiter) (try func(func(context.Context) error), end func())
}

// refusers are the ways to be refused by an adaptive limit.
var refusers = []refuser{
	{"Pool.TryGo", func(l *stint.Limiter) (func(func(context.Context) error), func()) {
		p := stint.NewPool(l, stint.Queue(0))
		return func(f func(context.Context) error) { p.TryGo(func(ctx context.Context) { f(ctx) }) }, p.Close
	}},
	{"Group.TryGo", func(l *stint.Limiter) (func(func(context.Context) error), func()) {
		g := stint.NewGroup(bg, l, stint.Queue(0))
		return func(f func(context.Context) error) { g.TryGo(f) }, func() { g.Wait() }
	}},
	{"Limiter.TryDo", callers((*stint.Limiter).TryDo)},
}

// callers are goroutines that call do.
func callers(do func(*stint.Limiter, context.Context, func(context.Context) error) error) func(*stint.Limiter) (func(func(context.Context) error), func()) {
	return func(l *stint.Limiter) (func(func(context.Context) error), func()) {
		ctx, cancel := context.WithCancel(bg)
		var all sync.WaitGroup
		return func(f func(context.Context) error) { all.Go(func() { do(l, ctx, f) }) }, func() { cancel(); all.Wait() }
	}
}

// Refused tasks raise a limit at its start as waiting ones do: it takes about as long, if
// more tasks are offered than the limit allows.
func TestRefusalsRaiseTheLimit(t *testing.T) {
	onlySearches(t)
	const most = 200
	until := func(r refuser) (took time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			l := stint.Auto(1, most)
			try, end := r.open(l)
			for l.Current() < most && took < time.Minute {
				try(sleep(10 * time.Millisecond))
				time.Sleep(10 * time.Microsecond)
				took = sinceBubble()
			}
			end()
		})
		return took
	}
	waiting := until(refuser{"Limiter.Do", callers((*stint.Limiter).Do)})
	for _, r := range refusers {
		if took := until(r); took > waiting*5/4 {
			t.Errorf("%s: %v until the limit is %d; with tasks that wait %v", r.name, took, most, waiting)
		}
	}
}
