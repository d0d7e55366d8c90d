package conformance_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/stream"
)

// through are what a task may do between its own context and the one with which it starts
// the next task of a chain: nothing, any call, and contexts that it makes itself. A call gets
// the options that apply to it.
func through() []entryPoint {
	l, server := stint.Limit(8), stint.Limit(8)
	ways := []entryPoint{
		{"nothing", func(ctx context.Context, _ int, f body, _ ...stint.Option) error { return f(ctx, 0) }},
		{"Do", func(ctx context.Context, _ int, f body, _ ...stint.Option) error {
			return l.Do(ctx, func(ctx context.Context) error { return f(ctx, 0) })
		}},
		{"TryDo", func(ctx context.Context, _ int, f body, _ ...stint.Option) error {
			return l.TryDo(ctx, func(ctx context.Context) error { return f(ctx, 0) })
		}},
		{"Handler", func(ctx context.Context, _ int, f body, _ ...stint.Option) error {
			return throughHandler(server, ctx, func(ctx context.Context) error { return f(ctx, 0) })
		}},
		{"ParMap", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
			_, err := stream.Collect(ctx, stream.ParMap(stream.From(indexes(n)), valued(f), opts...))
			return err
		}},
		{"MapErr", func(ctx context.Context, n int, f body, _ ...stint.Option) error {
			_, err := stream.Collect(ctx, stream.MapErr(stream.From(indexes(n)), valued(f)))
			return err
		}},
		{"errgroup", func(ctx context.Context, _ int, f body, _ ...stint.Option) error {
			g, ctx := errgroup.WithContext(ctx)
			g.Go(func() error { return f(ctx, 0) })
			return g.Wait()
		}},
		{"WithTimeout", func(ctx context.Context, _ int, f body, _ ...stint.Option) error {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			ctx, stop := context.WithCancel(ctx)
			defer stop()
			return f(ctx, 0)
		}},
	}
	return append(ways, entryPoints...)
}

type ownKey int

// A starter starts a task with the values of a context.
type starter = func(context.Context, func(context.Context) error) error

// starters are the ways to do that. close waits for the tasks.
func starters(opts ...stint.Option) map[string]func() (start starter, close func()) {
	return map[string]func() (starter, func()){
		"Pool": func() (starter, func()) {
			p := stint.NewPool(append(opts, stint.Limit(2))...)
			return func(ctx context.Context, f func(context.Context) error) error {
				return p.GoContext(ctx, func(ctx context.Context) { f(ctx) })
			}, p.Close
		},
		"Group": func() (starter, func()) {
			g := stint.NewGroup(bg, append(opts, stint.Limit(2))...)
			return g.GoContext, func() { g.Wait() }
		},
		"Results": func() (starter, func()) {
			r := stint.NewResults[int](context.WithValue(bg, ownKey(0), 1), append(opts, stint.Limit(2))...)
			return func(ctx context.Context, f func(context.Context) error) error {
				return r.GoContext(ctx, func(ctx context.Context) (int, error) { return 0, f(ctx) })
			}, func() { r.Wait() }
		},
		"two in turns": func() (starter, func()) { // each time from a task of the other
			turn := 0
			g := stint.NewGroup(context.WithValue(bg, ownKey(1), 1), append(opts, stint.Limit(2))...)
			h := stint.NewGroup(context.WithValue(bg, ownKey(2), 2), stint.Limit(2))
			return func(ctx context.Context, f func(context.Context) error) error {
				turn++
				return []*stint.Group{g, h}[turn%2].GoContext(ctx, f)
			}, func() { g.Wait(); h.Wait() }
		},
	}
}

// In a chain of tasks that start each other, the context of a task keeps nothing of the tasks
// before, and finds a value in the same steps in every task.
func TestChainsAreConstant(t *testing.T) {
	for variant, opts := range map[string][]stint.Option{
		"plain": nil, "named": {stint.Name("chain"), stint.LowPriority(), stint.Limit(4)},
	} {
		for name, open := range starters(withoutLimiter(opts)...) {
			if variant == "named" && name != "two in turns" {
				continue // these are the chains of two groups
			}
			for _, way := range through() {
				t.Run(name+"/"+way.name+"/"+variant, func(t *testing.T) { constantChain(t, open, way.run, opts) })
			}
		}
	}
}

func constantChain(t *testing.T, open func() (start starter, close func()), way run, opts []stint.Option) {
	start, close := open()
	defer close()
	var frames [2]int
	first := context.WithValue(bg, chainKey{}, 1)
	for i, length := range []int{10, 80} {
		last := chain(sounding{first, new(sync.Mutex), &frames[i]}, length, start, way, opts)
		equal(t, "values of the first task", [2]any{last.Value(chainKey{}), last.Value("none")}, [2]any{1, nil})
	}
	if frames[1] > frames[0]+10 { // a task may run on the goroutine of its submitter
		t.Errorf("a value takes %d frames after 10 tasks, %d after 80", frames[0], frames[1])
	}
	const tasks = 500
	var last context.Context
	_, kept := memory(t, func() { last = chain(first, tasks, start, way, opts) })
	if kept > 50*tasks {
		t.Errorf("%d bytes are kept for each task", kept/tasks)
	}
	runtime.KeepAlive(last)
}

type chainKey struct{}

// chain runs a chain of tasks, and returns the context of the last one.
func chain(ctx context.Context, length int, start starter, way run, opts []stint.Option) context.Context {
	last := make(chan context.Context, 1)
	var next func(n int) func(context.Context) error
	next = func(n int) func(context.Context) error {
		return func(ctx context.Context) error {
			if n == 0 {
				last <- ctx
				return nil
			}
			return way(ctx, 1, func(ctx context.Context, _ int) error { return start(ctx, next(n-1)) }, opts...)
		}
	}
	start(ctx, next(length))
	return <-last
}

// withoutLimiter returns opts without a Limiter.
func withoutLimiter(opts []stint.Option) []stint.Option {
	return slices.DeleteFunc(slices.Clone(opts), func(o stint.Option) bool { _, is := o.(*stint.Limiter); return is })
}
