//go:build race

package sharp

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/stream"
)

// An entryPoint runs tasks under a limit.
type entryPoint struct {
	name string
	run  func(limit int, task func(i int))
}

var (
	errTask = errors.New("task")
	items   = make([]int, numTasks)
)

func init() {
	for i := range items {
		items[i] = i
	}
}

var entryPoints = slices.Concat(groups, loops, sequences)

var groups = []entryPoint{
	{"errgroup", errgroups(nil)},
	{"errgroup, tasks fail", errgroups(errTask)},
	{"Group", inGroup(0, nil)},
	{"Group, slow submitter", inGroup(30*time.Microsecond, nil)},
	{"Group, tasks fail", inGroup(0, errTask, stint.KeepGoing())},
	{"Group, Queue(0)", inGroup(0, nil, stint.Queue(0))},
	{"Group, Queue(3)", inGroup(0, nil, stint.Queue(3))},
	{"Group with a limit on a Pool", func(limit int, f func(int)) {
		p := stint.NewPool(stint.Limit(limit + 2))
		defer p.Close()
		fill(stint.NewGroup(bg, p, stint.Limit(limit)), f, 0, nil)
	}},
	{"Group on a Pool", onPool(func(p *stint.Pool, f func(int)) { fill(stint.NewGroup(bg, p), f, 0, nil) })},
	{"Pool", onPool(func(p *stint.Pool, f func(int)) {
		for i := range numTasks {
			p.Go(func(context.Context) { f(i) })
		}
	})},
	{"Results", func(limit int, f func(int)) {
		g := stint.NewResults[int](bg, stint.Limit(limit))
		for i := range numTasks {
			g.Go(func(context.Context) (int, error) { f(i); return i, nil })
		}
		g.Wait()
	}},
	{"Do", func(limit int, f func(int)) {
		l := stint.Limit(limit)
		var wg sync.WaitGroup
		for i := range numTasks {
			wg.Go(func() { l.Do(bg, func(context.Context) error { f(i); return nil }) })
		}
		wg.Wait()
	}},
	{"Do of Limiters", func(limit int, f func(int)) { // keys with a limit of 1 each
		m := stint.NewLimiters(func([20]int) *stint.Limiter { return stint.Limit(1) })
		var wg sync.WaitGroup
		for i := range numTasks {
			wg.Go(func() { m.Do(bg, [20]int{i % limit}, func(context.Context) error { f(i); return nil }) })
		}
		wg.Wait()
	}},
	{"Do, two callers", func(limit int, f func(int)) {
		l := stint.Limit(limit)
		var wg sync.WaitGroup
		for k := range 2 {
			wg.Go(func() {
				for i := k; i < numTasks; i += 2 {
					l.Do(bg, func(context.Context) error { f(i); return nil })
				}
			})
		}
		wg.Wait()
	}},
}

var loops = []entryPoint{
	{"Each", func(limit int, f func(int)) { stint.Each(bg, items, returnsNil(f), stint.Limit(limit)) }},
	{"Each, items fail", func(limit int, f func(int)) {
		stint.Each(bg, items, func(_ context.Context, i int) error { f(i); return errTask }, stint.Limit(limit), stint.KeepGoing())
	}},
	{"Each on a Pool", onPool(func(p *stint.Pool, f func(int)) { stint.Each(bg, items, returnsNil(f), p) })},
	{"Each with a limit on a Pool", func(limit int, f func(int)) {
		p := stint.NewPool(stint.Limit(limit + 2))
		defer p.Close()
		stint.Each(bg, items, returnsNil(f), p, stint.Limit(limit))
	}},
	{"Range", func(limit int, f func(int)) { stint.Range(bg, numTasks, returnsNil(f), stint.Limit(limit)) }},
	{"Map", func(limit int, f func(int)) { stint.Map(bg, items, same(f), stint.Limit(limit)) }},
	{"First", func(limit int, f func(int)) {
		stint.First(bg, items, func(_ context.Context, i int) (int, error) { f(i); return 0, errTask }, stint.Limit(limit))
	}},
	{"First, hedged", func(limit int, f func(int)) {
		stint.First(bg, items, func(_ context.Context, i int) (int, error) { f(i); return 0, errTask }, stint.Limit(limit), stint.HedgeAfter(1))
	}},
}

var sequences = []entryPoint{
	{"EachSeq", func(limit int, f func(int)) {
		stint.EachSeq(bg, slices.Values(items), returnsNil(f), stint.Limit(limit))
	}},
	{"MapSeq", func(limit int, f func(int)) {
		for range stint.MapSeq(bg, slices.Values(items), same(f), stint.Limit(limit)) {
		}
	}},
	{"MapSeq, Unordered", func(limit int, f func(int)) {
		for range stint.MapSeq(bg, slices.Values(items), same(f), stint.Limit(limit), stint.Unordered()) {
		}
	}},
	{"EachKey", func(limit int, f func(int)) {
		stint.EachKey(bg, slices.Values(items), itself, returnsNil(f), stint.Limit(limit))
	}},
	{"MapKey", func(limit int, f func(int)) {
		for range stint.MapKey(bg, slices.Values(items), itself, same(f), stint.Limit(limit)) {
		}
	}},
	{"ParMap", func(limit int, f func(int)) {
		stream.Collect(bg, stream.ParMap(stream.From(items), same(f), stint.Limit(limit)))
	}},
	{"ParMapKey", func(limit int, f func(int)) {
		stream.Collect(bg, stream.ParMapKey(stream.From(items), itself, same(f), stint.Limit(limit)))
	}},
}

func itself(i int) int { return i }

func returnsNil(f func(int)) func(context.Context, int) error {
	return func(_ context.Context, i int) error { f(i); return nil }
}

func same(f func(int)) func(context.Context, int) (int, error) {
	return func(_ context.Context, i int) (int, error) { f(i); return i, nil }
}

func errgroups(err error) func(int, func(int)) {
	return func(limit int, f func(int)) {
		var g errgroup.Group
		g.SetLimit(limit)
		for i := range numTasks {
			g.Go(func() error { f(i); return err })
		}
		g.Wait()
	}
}

func inGroup(between time.Duration, err error, opts ...stint.Option) func(int, func(int)) {
	return func(limit int, f func(int)) {
		fill(stint.NewGroup(bg, append([]stint.Option{stint.Limit(limit)}, opts...)...), f, between, err)
	}
}

func fill(g *stint.Group, f func(int), between time.Duration, err error) {
	for i := range numTasks {
		g.Go(func(context.Context) error { f(i); return err })
		time.Sleep(between)
	}
	g.Wait()
}

func onPool(run func(*stint.Pool, func(int))) func(int, func(int)) {
	return func(limit int, f func(int)) {
		p := stint.NewPool(stint.Limit(limit))
		defer p.Close()
		run(p, f)
	}
}
