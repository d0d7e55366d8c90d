package ours

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
	original "golang.org/x/sync/errgroup"
)

// BenchmarkEmptyTask runs empty tasks, at most two at once. They are counted before, not while they are measured.
func BenchmarkEmptyTask(b *testing.B) {
	n := size(*tasks)
	empty := models.Task{Plain: func() {}, Pool: func(context.Context) {}, Group: func(context.Context) error { return nil }}
	var all []model[int]
	for _, r := range models.Runners {
		if got := r.Count(n, 2, func() {}); got != n {
			b.Errorf("%s: %d tasks ran, want %d", r.Name, got, n)
		}
		all = append(all, model[int]{r.Name, func() int { r.Run(n, 2, empty); return n }})
	}
	compare(b, "", n, n, all...)
}

// BenchmarkSleepers runs tasks that sleep, the goroutines without a limit. Each model runs once before: the runtime keeps
// what it allocates for goroutines, so the first would pay for the others.
func BenchmarkSleepers(b *testing.B) {
	n, limit := size(*sleepers), size(30_000)
	var all []model[int]
	for _, r := range models.Runners {
		switch r.Name {
		case "goroutines", "conc", "stint.Pool", "stint.Group":
			op := func() int { return r.Count(n, limit, func() { time.Sleep(7 * ms) }) }
			bench.Warm(b, func() { op() })
			all = append(all, model[int]{r.Name, op})
		}
	}
	compare(b, "", n, n, all...)
}

// A group is of one of both packages.
type group interface {
	Go(func() error)
	SetLimit(int)
	Wait() error
}

// BenchmarkErrgroup makes a group, starts the same task some times, and waits. That both packages do the same is tested.
func BenchmarkErrgroup(b *testing.B) {
	steps := bench.Steps(10 * time.Microsecond)
	tasks := map[string]func() error{
		"none":  func() error { return nil },
		"10us":  func() error { runtime.KeepAlive(bench.Spin(steps)); return nil },
		"sleep": func() error { time.Sleep(10 * time.Millisecond); return nil },
	}
	for _, g := range []struct {
		work     string
		n, limit int // 0: no limit
	}{
		{"none", 1, 0}, {"none", 3, 0}, {"none", 10, 2}, {"none", 100, 0}, {"none", 20_000, 0}, {"none", 20_000, 2},
		{"10us", 3, 0}, {"10us", 2000, 0}, {"10us", 2000, 2}, {"sleep", 100_000, 0}, {"sleep", 10_000, 1000},
	} {
		f := tasks[g.work]
		run := func(x group) error {
			if g.limit > 0 {
				x.SetLimit(g.limit)
			}
			for range size(g.n) {
				x.Go(f)
			}
			return x.Wait()
		}
		compare(b, fmt.Sprintf("work=%s/tasks=%d/limit=%d/", g.work, g.n, g.limit), g.n, nil,
			model[error]{"stint", func() error { return run(new(errgroup.Group)) }},
			model[error]{"x-sync", func() error { return run(new(original.Group)) }})
	}
}
