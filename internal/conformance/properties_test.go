package conformance_test

import (
	"context"
	"runtime/pprof"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// A wayIn leads into a task: run runs f as one task on l, with a context made from ctx, and
// waits for it. not has the reasons why a property does not apply.
type wayIn struct {
	name string
	run  func(ctx context.Context, l *stint.Limiter, f func(context.Context) error, opts ...stint.Option) error
	not  map[string]string
}

// A property is what a task has because of the task or the call around it.
const (
	ownPriority  = "own priority" // a call in the task has the priority that the way in was given
	itsPriority  = "its priority" // a call in the task has the priority of the task that uses it
	ownName      = "name"         // the task finds the name that the way in was given
	itsValues    = "values"       // and the values of the context that the way in was given
	itsPermit    = "permit"       // at a limit of one, the way in can be used in a task
	lentPermit   = "lending"      // at a limit of one, the task can make calls
	noOptions    = "it takes no options"
	poolIsNobody = "a pool belongs to no task, and its tasks have its priority and context"
	noTask       = "the request is no task: its context is that of the caller"
)

var (
	ofPools = map[string]string{itsPriority: poolIsNobody, itsValues: poolIsNobody, itsPermit: poolIsNobody}
	ofOne   = map[string]string{ownPriority: noOptions, ownName: noOptions}
)

// waysIn are all of them: the entry points, and the ways that are none.
func waysIn() []wayIn {
	var all []wayIn
	for _, e := range entryPoints {
		all = append(all, wayIn{e.name, func(ctx context.Context, l *stint.Limiter, f func(context.Context) error, opts ...stint.Option) error {
			return e.run(ctx, 1, func(ctx context.Context, _ int) error { return f(ctx) }, append(opts, l)...)
		}, nil})
	}
	all = append(all, admissions()...)
	all = append(all, pools()...)
	return append(all, wayIn{"Group.TryGo", func(ctx context.Context, l *stint.Limiter, f func(context.Context) error, opts ...stint.Option) error {
		g := stint.NewGroup(ctx, append(opts, l)...)
		_ = g.TryGo(f)
		return g.Wait()
	}, nil}, wayIn{"Results.GoContext", func(ctx context.Context, l *stint.Limiter, f func(context.Context) error, opts ...stint.Option) error {
		r := stint.NewResults[int](context.Background(), append(opts, l)...)
		r.GoContext(ctx, func(ctx context.Context) (int, error) { return 0, f(ctx) })
		_, err := r.Wait()
		return err
	}, map[string]string{itsPriority: "the group was made outside of the task", itsPermit: "the group was made outside of the task"}},
		wayIn{"ParMap", func(ctx context.Context, l *stint.Limiter, f func(context.Context) error, opts ...stint.Option) error {
			g := func(ctx context.Context, i int) (int, error) { return i, f(ctx) }
			_, err := stream.Collect(ctx, stream.ParMap(stream.From(indexes(1)), g, append(opts, l)...))
			return err
		}, nil},
		wayIn{"ParMapKey", func(ctx context.Context, l *stint.Limiter, f func(context.Context) error, opts ...stint.Option) error {
			g := func(ctx context.Context, i int) (int, error) { return i, f(ctx) }
			_, err := stream.Collect(ctx, stream.ParMapKey(stream.From(indexes(1)), itself, g, append(opts, l)...))
			return err
		}, nil})
}

// admissions are its for goroutines that stint has not started.
func admissions() []wayIn {
	type run = func(context.Context, *stint.Limiter, func(context.Context) error, ...stint.Option) error
	do := func(do func(*stint.Limiter, context.Context, func(context.Context) error) error) run {
		return func(ctx context.Context, l *stint.Limiter, f func(context.Context) error, _ ...stint.Option) error {
			return do(l, ctx, f)
		}
	}
	return []wayIn{
		{"Do", do((*stint.Limiter).Do), ofOne},
		{"TryDo", do((*stint.Limiter).TryDo), ofOne},
		{"Handler", do(throughHandler), ofOne},
		{"Transport", do(throughTransport), map[string]string{ownPriority: noOptions, ownName: noOptions, lentPermit: noTask}},
	}
}

// pools are its of a Pool on the limiter.
func pools() []wayIn {
	onPool := func(name string, start func(*stint.Pool, context.Context, func(context.Context)) error, not map[string]string) wayIn {
		return wayIn{name, func(ctx context.Context, l *stint.Limiter, f func(context.Context) error, opts ...stint.Option) (err error) {
			p := stint.NewPool(append(opts, l)...)
			start(p, ctx, func(ctx context.Context) { err = f(ctx) })
			p.Close()
			return err
		}, not}
	}
	return []wayIn{
		onPool("Pool.Go", func(p *stint.Pool, _ context.Context, f func(context.Context)) error { return p.Go(f) }, ofPools),
		onPool("Pool.TryGo", func(p *stint.Pool, _ context.Context, f func(context.Context)) error { _ = p.TryGo(f); return nil }, ofPools),
		onPool("Pool.GoContext", (*stint.Pool).GoContext, map[string]string{itsPriority: poolIsNobody, itsPermit: poolIsNobody}),
	}
}

// Every way in keeps every property, or says why not.
func TestEveryWayInKeepsProperties(t *testing.T) {
	type run = func(context.Context, *stint.Limiter, func(context.Context) error) error
	bg := context.Background()
	with := func(w wayIn, opts ...stint.Option) run {
		return func(ctx context.Context, l *stint.Limiter, f func(context.Context) error) error {
			return w.run(ctx, l, f, opts...)
		}
	}
	within := func(w wayIn, opts ...stint.Option) run {
		return func(ctx context.Context, l *stint.Limiter, f func(context.Context) error) error {
			return stint.Range(ctx, 1, func(ctx context.Context, _ int) error { return w.run(ctx, l, f) }, append(opts, l)...)
		}
	}
	nested := func(l *stint.Limiter) func(context.Context) error {
		return func(ctx context.Context) error { return stint.Range(ctx, 2, sleep1, l) }
	}
	for property, keeps := range map[string]func(t *testing.T, w wayIn){
		ownPriority: func(t *testing.T, w wayIn) { givesWay(t, with(w, stint.LowPriority())) },
		itsPriority: func(t *testing.T, w wayIn) { givesWay(t, within(w, stint.LowPriority())) },
		ownName: func(t *testing.T, w wayIn) {
			var name string
			with(w, stint.Name("way in"))(bg, stint.Limit(1), func(ctx context.Context) error {
				name, _ = pprof.Label(ctx, "stint")
				return nil
			})
			equal(t, "name", name, "way in")
		},
		itsValues: func(t *testing.T, w wayIn) {
			var value any
			with(w)(context.WithValue(bg, chainKey{}, 1), stint.Limit(1), func(ctx context.Context) error {
				value = ctx.Value(chainKey{})
				return nil
			})
			equal(t, "value", value, any(1))
		},
		itsPermit: func(t *testing.T, w wayIn) {
			ran := false
			within(w)(bg, stint.Limit(1), func(context.Context) error { ran = true; return nil })
			equal(t, "the task has run", ran, true)
		},
		lentPermit: func(t *testing.T, w wayIn) {
			l, ran := stint.Limit(1), false
			with(w)(bg, l, func(ctx context.Context) error { ran = nested(l)(ctx) == nil; return nil })
			equal(t, "the calls of the task have run", ran, true)
		},
	} {
		for _, w := range waysIn() {
			if w.not[property] == "" {
				t.Run(property+"/"+w.name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { keeps(t, w) }) })
			}
		}
	}
}

func sleep1(context.Context, int) error { time.Sleep(time.Second); return nil }

// givesWay reports an error if a call that run makes on its limiter does not have low priority: if
// more than one of its tasks runs, on the permit of run, while others wait for a permit.
func givesWay(t *testing.T, run func(context.Context, *stint.Limiter, func(context.Context) error) error) {
	l, hold := stint.Limit(2), make(chan struct{})
	var low, others gauge
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { l.Do(t.Context(), func(context.Context) error { <-hold; return nil }) })
	synctest.Wait()
	ran := false
	wg.Go(func() {
		run(t.Context(), l, func(ctx context.Context) error {
			ran = true
			return stint.Range(ctx, 4, func(context.Context, int) error {
				low.Hold(time.Second)
				return nil
			}, l)
		})
	})
	synctest.Wait()
	equal(t, "the task has started", ran, true)
	for range 4 {
		wg.Go(func() {
			l.Do(t.Context(), func(context.Context) error { others.Hold(time.Second); return nil })
		})
	}
	synctest.Wait()
	close(hold)
	for range 4 {
		synctest.Wait()
		if n := low.Now(); n > 1 {
			t.Errorf("%d of its tasks run while others wait", n)
		}
		time.Sleep(time.Second)
	}
}
