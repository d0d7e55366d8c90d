// Package survey measures what the survey of pool libraries does, under its author's names: a million tasks that sleep for
// 10 ms, by plain goroutines and by pools of 50,000, and the MD5 sums of a tree of files. An op is all tasks.
//
//	go test -run none -bench 'Goroutines|ErrGroup|Pool$' -cpu 1,8 -benchtime 10s ./lab/survey
package survey

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/pool"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
	"golang.org/x/sync/errgroup"
)

var (
	tasks    = flag.Int("tasks", 1_000_000, "tasks that sleep")
	capacity = flag.Int("capacity", 50_000, "most tasks that a pool runs at once")
	pause    = flag.Duration("sleep", 10*time.Millisecond, "how long a task sleeps")
)

// TestMain says how long a benchmark ran: a pool that is kept costs the less for each op, the more ops there are.
func TestMain(m *testing.M) {
	flag.Parse()
	fmt.Println("benchtime:", flag.Lookup("test.benchtime").Value)
	bench.Main(m)
}

func BenchmarkGoroutines(b *testing.B)     { run(b, goroutines, true) }
func BenchmarkErrGroup(b *testing.B)       { run(b, errGroup, true) }
func BenchmarkErrGroupCustom(b *testing.B) { run(b, errGroupCustom, true) }
func BenchmarkConcPool(b *testing.B)       { run(b, concPool, false) }
func BenchmarkAntsPool(b *testing.B)       { run(b, antsPool, true) }

// BenchmarkChannel is a comment in the article, as are benchmarks that end when the last task is submitted: submit-ns/op.
func BenchmarkChannel(b *testing.B) { run(b, semaphore, true) }

// BenchmarkSleepers makes a pool for each op. The function is made once, not for each task.
func BenchmarkSleepers(b *testing.B) {
	for _, r := range models.Runners {
		b.Run("model="+r.Name, func(b *testing.B) {
			n, limit := size()
			op := func() int { return r.Count(n, limit, func() { time.Sleep(*pause) }) }
			bench.Warm(b, func() { op() })
			bench.Run(b, n, op)
		})
	}
}

// BenchmarkKept keeps a pool: with stint.Group, each op is a group of its own in it.
func BenchmarkKept(b *testing.B) {
	b.Run("model=stint.Pool", func(b *testing.B) { run(b, stintPool, true) })
	b.Run("model=stint.Group", func(b *testing.B) {
		p := stint.NewPool(stint.Limit(*capacity))
		defer p.Close()
		run(b, func(s *sleepers, _ int) way {
			g, f := stint.NewGroup(context.Background(), p), func(context.Context) error { s.sleep(); return nil }
			return way{func() { g.Go(f) }, func() { bench.Check(g.Wait()) }, nil}
		}, false)
	})
}

// BenchmarkWorkerChannel hands 20,000 tasks that compute for a microsecond to four workers for each CPU: over a channel
// for each worker, with a list of idle workers, as in ants, or over one channel, as in conc.
func BenchmarkWorkerChannel(b *testing.B) {
	n, steps := 20_000, bench.Steps(time.Microsecond)
	for _, buffer := range []int{0, 1} {
		for name, shared := range map[string]bool{"own": false, "shared": true} {
			b.Run(fmt.Sprintf("channel=%s/buffer=%d", name, buffer), func(b *testing.B) {
				bench.Run(b, n, func() int {
					var s sleepers
					handOver(n, 4*runtime.GOMAXPROCS(0), buffer, shared, func() { runtime.KeepAlive(bench.Spin(steps)); s.woken.Add(1) })
					return int(s.woken.Load())
				})
			})
		}
	}
}

func handOver(n, workers, buffer int, shared bool, task func()) {
	var wg sync.WaitGroup
	idle := make(chan chan func(), workers) // the channels of workers that can take a task
	c := make(chan func(), buffer)
	for range workers {
		if !shared {
			c = make(chan func(), buffer)
			idle <- c
		}
		own := c
		wg.Go(func() {
			for f := <-own; f != nil; f = <-own {
				if f(); !shared {
					idle <- own
				}
			}
		})
	}
	for i := range n + workers {
		if i == n {
			task = nil // ends a worker
		}
		if !shared {
			c = <-idle
		}
		c <- task
	}
	wg.Wait()
}

// TestGoroutinePool runs ten tasks of a second by the pool that the article sketches: four at once, in three seconds, all
// of them though the first fails, and Wait returns all errors.
func TestGoroutinePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, fails := time.Now(), map[int]error{0: errors.New("the first task failed"), 9: errors.New("the last task failed")}
		g := stint.NewGroup(t.Context(), stint.Limit(4), stint.Queue(10), stint.KeepGoing())
		for i := range 10 {
			g.Go(func(ctx context.Context) error {
				time.Sleep(time.Second)
				return cmp.Or(ctx.Err(), fails[i])
			})
		}
		if err := g.Wait(); !errors.Is(err, fails[0]) || !errors.Is(err, fails[9]) || time.Since(began) != 3*time.Second {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}

type sleepers struct {
	sync.WaitGroup
	woken atomic.Int64

	submitting time.Duration // of all ops
	ops        int
}

func (s *sleepers) sleep() {
	time.Sleep(*pause)
	s.woken.Add(1)
}

// A way runs sleepers.
type way struct {
	start func() // starts one, and blocks as the library does
	wait  func() // nil: the sleepers tell the WaitGroup of their ends
	close func() // nil: there is nothing to close
}

// run measures ops that share a way, or have one each. One runs before: the runtime keeps the structures of its goroutines, and
// the author's figures are those of later ops.
func run(b *testing.B, open func(s *sleepers, limit int) way, kept bool) {
	n, limit := size()
	s := new(sleepers)
	w := open(s, limit)
	op := func() int { return s.op(n, w) }
	own := func() int {
		w := open(s, limit)
		if w.close != nil {
			defer w.close()
		}
		return s.op(n, w)
	}
	if !kept {
		op = own
	}
	bench.Warm(b, func() { own() })
	s.submitting, s.ops = 0, 0
	bench.Run(b, n, op, func(b *testing.B) { b.ReportMetric(float64(s.submitting)/float64(s.ops), "submit-ns/op") })
	if w.close != nil {
		w.close()
		bench.Peak(b, func() { own() }) // of a pool that is empty at first
	}
}

func (s *sleepers) op(n int, w way) int {
	s.woken.Store(0)
	if w.wait == nil {
		s.Add(n)
		w.wait = s.Wait
	}
	began := time.Now()
	for range n {
		w.start()
	}
	s.submitting += time.Since(began)
	s.ops++
	w.wait()
	return int(s.woken.Load())
}

// size returns the tasks and the capacity, less in a short test.
func size() (n, limit int) { return bench.Short(*tasks, 1000), bench.Short(*capacity, 500) }

// The ways have a closure for each task where the article has one that captures something.

func goroutines(s *sleepers, _ int) way {
	return way{start: func() { go func() { s.sleep(); s.Done() }() }}
}

func semaphore(s *sleepers, limit int) way {
	slots := make(chan struct{}, limit)
	return way{start: func() { slots <- struct{}{}; go func() { s.sleep(); <-slots; s.Done() }() }}
}

func errGroup(s *sleepers, limit int) way {
	var g errgroup.Group
	g.SetLimit(limit)
	return way{start: func() { g.Go(func() error { s.sleep(); s.Done(); return nil }) }}
}

func errGroupCustom(s *sleepers, limit int) way {
	var g errgroup.Group
	g.SetLimit(limit)
	f := func() error { s.sleep(); return nil }
	return way{func() { g.Go(f) }, func() { bench.Check(g.Wait()) }, nil}
}

func concPool(s *sleepers, limit int) way {
	p, f := pool.New().WithMaxGoroutines(limit), s.sleep
	return way{func() { p.Go(f) }, p.Wait, nil}
}

func antsPool(s *sleepers, limit int) way {
	p := bench.Must(ants.NewPool(limit, ants.WithExpiryDuration(10*time.Second)))
	return way{start: func() { bench.Check(p.Submit(func() { s.sleep(); s.Done() })) },
		close: func() { bench.Check(p.ReleaseTimeout(time.Minute)) }}
}

func stintPool(s *sleepers, limit int) way {
	p := stint.NewPool(stint.Limit(limit))
	return way{start: func() { bench.Check(p.Go(func(context.Context) { s.sleep(); s.Done() })) }, close: p.Close}
}
