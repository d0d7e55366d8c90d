//go:build race

// Programs that the library orders: the detector must report nothing. Each writes plain
// variables from tasks that cannot run at the same time.
package sharp

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/errgroup"
	"github.com/stint-go/stint/stream"
)

var bg = context.Background()

func inc(n *int) func(context.Context) error { return func(context.Context) error { *n++; return nil } }

func TestLimitOne(t *testing.T) {
	for range 50 {
		n := 0
		l := stint.Limit(1)
		g, h := stint.NewGroup(bg, l), stint.NewGroup(bg, l)
		p := stint.NewPool(l)
		for range 20 {
			g.Go(inc(&n))
			h.Go(inc(&n))
			p.Go(func(context.Context) { n++ })
			l.Do(bg, inc(&n))
		}
		stint.Range(bg, 2000, func(context.Context, int) error { n++; return nil }, l)
		g.Wait()
		h.Wait()
		p.Close()
		if n != 2080 {
			t.Error(n)
		}
	}
}

func TestErrgroupLimitOne(t *testing.T) {
	for range 50 {
		var g errgroup.Group
		n := 0
		g.SetLimit(1)
		for range 100 {
			g.Go(func() error { n++; return errors.New("x") })
		}
		g.Wait()
		g.Go(func() error { n++; return nil })
		g.Go(func() error { return nil }) // returns when the first has ended
		if n != 101 {
			t.Error(n)
		}
		g.Wait()
	}
}

func TestResultsOfTasks(t *testing.T) {
	for _, opt := range []stint.Option{stint.Limit(3), stint.NewPool(stint.Limit(3))} {
		for range 30 {
			xs := make([]int, 100)
			g := stint.NewGroup(bg, opt, stint.KeepGoing())
			for i := range xs {
				g.Go(func(context.Context) error {
					xs[i] = i
					if i%10 == 0 {
						runtime.Goexit()
					}
					if i%7 == 0 {
						return errors.New("e")
					}
					return nil
				})
			}
			g.Wait()
			sum := 0
			for _, x := range xs {
				sum += x
			}
			ys, _ := stint.Map(bg, xs, func(_ context.Context, x int) (*int, error) { y := x; return &y, nil }, opt)
			for _, y := range ys {
				sum -= *y
			}
			if sum != 0 {
				t.Error(sum)
			}
			for y, err := range stint.MapSeq(bg, slices.Values(xs), func(_ context.Context, x int) (*int, error) { y := x; return &y, nil }, opt) {
				if err == nil {
					sum += *y
				}
			}
			r, _ := stint.First(bg, xs, func(_ context.Context, x int) (*int, error) { y := x; return &y, nil }, opt)
			_ = *r
			xs[0] = sum
		}
	}
}

// One slot of two is known to be taken: the others are one at a time.
func TestOneSlotIsTaken(t *testing.T) {
	for range 50 {
		n := 0
		release := make(chan struct{})
		g := stint.NewGroup(bg, stint.Limit(2))
		g.Go(func(context.Context) error { <-release; return nil })
		for range 50 {
			g.Go(inc(&n))
		}
		g.Go(func(context.Context) error { close(release); return nil })
		g.Wait()
		var e errgroup.Group
		e.SetLimit(2)
		e.Go(func() error {
			for range 50 {
				e.Go(func() error { n++; return nil })
			}
			return nil
		})
		e.Wait()
		if n != 100 {
			t.Error(n)
		}
	}
}

func TestTheLimitFalls(t *testing.T) {
	for range 50 {
		n := 0
		l := stint.Limit(4)
		g := stint.NewGroup(bg, l)
		for range 20 {
			g.Go(func(context.Context) error { return nil })
		}
		l.Set(1)
		for range 50 {
			g.Go(inc(&n))
		}
		g.Wait()
	}
}

func TestNested(t *testing.T) {
	for range 30 {
		n := 0
		l := stint.Limit(1)
		err := stint.Range(bg, 5, func(ctx context.Context, _ int) error {
			n++
			if err := stint.Range(ctx, 5, func(ctx context.Context, _ int) error { n++; return nil }, l); err != nil {
				return err
			}
			g := stint.NewGroup(ctx, l)
			for range 5 {
				g.Go(inc(&n))
			}
			err := g.Wait()
			n++
			return err
		}, l)
		if err != nil || n != 60 {
			t.Error(err, n)
		}
	}
}

func TestTasksStartTasks(t *testing.T) {
	for range 30 {
		g := stint.NewGroup(bg, stint.Limit(3))
		x := 0
		g.Go(func(ctx context.Context) error {
			x = 1
			return g.GoContext(ctx, func(context.Context) error { x++; return nil })
		})
		g.Wait()
		if x != 2 {
			t.Error(x)
		}
	}
}

func TestQueueZero(t *testing.T) {
	for range 30 {
		g := stint.NewGroup(bg, stint.Limit(1), stint.Queue(0))
		n := 0
		for range 20 {
			g.Go(inc(&n))
		}
		g.Go(func(context.Context) error { return nil }) // has a worker: the others have ended
		n++
		g.Wait()
	}
}

func TestKeys(t *testing.T) {
	for range 30 {
		var ns [4]int
		stint.EachKey(bg, func(yield func(int) bool) {
			for i := range 100 {
				if !yield(i) {
					return
				}
			}
		}, func(i int) int { return i % 4 }, func(_ context.Context, i int) error { ns[i%4]++; return nil }, stint.Limit(3))
		if ns != [4]int{25, 25, 25, 25} {
			t.Error(ns)
		}
	}
}

func TestPoolIdleAndStats(t *testing.T) {
	for range 30 {
		p := stint.NewPool(stint.Limit(2))
		xs := make([]int, 40)
		for i := range 20 {
			p.Go(func(context.Context) { xs[i] = i })
		}
		p.Idle(bg)
		for i := range 20 {
			xs[i]++
		}
		for i := 20; i < 40; i++ {
			p.Go(func(context.Context) { xs[i] = i })
		}
		for p.Stats().Completed < 40 {
			time.Sleep(time.Microsecond)
		}
		for i := range xs {
			xs[i]++
		}
		p.Close()
	}
}

func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		g := stint.NewGroup(bg, stint.Limit(2))
		for range 5 {
			g.Go(inc(&n))
			synctest.Wait()
			n++
		}
		g.Wait()
		stint.Range(bg, 5, func(context.Context, int) error { time.Sleep(time.Second); return nil }, stint.Limit(2))
	})
}

// A slot of the submitter's is free again when Go has returned often enough.
func TestSubmitterCounts(t *testing.T) {
	for range 30 {
		g := stint.NewGroup(bg, stint.Limit(1), stint.Queue(2))
		var slots [4]int
		for i := range 40 {
			slots[i%4]++ // four tasks later, only the last three may be queued or running
			g.Go(func(context.Context) error { slots[i%4]++; return nil })
		}
		g.Wait()
	}
}

// The feeder of a MapSeq may use a buffer again when its result has been consumed.
func TestBuffersOfASequence(t *testing.T) {
	for range 30 {
		var buffers [6]int
		seq := func(yield func(*int) bool) {
			for i := range 60 {
				buffers[i%6] = i
				if !yield(&buffers[i%6]) {
					return
				}
			}
		}
		f := func(_ context.Context, p *int) (int, error) { *p++; return *p, nil }
		for range stint.MapSeq(bg, seq, f, stint.Limit(3), stint.Queue(2)) {
		}
	}
}

// Callers of Do are ordered by a limit of 1, and by one of 2 if one permit is known to be
// taken; and whoever sees a call counted is behind it.
func TestDo(t *testing.T) {
	for _, limit := range []int{1, 2} {
		l := stint.Limit(limit)
		n, held := 0, make(chan struct{})
		end := make(chan struct{})
		var holder, callers sync.WaitGroup
		if limit == 2 {
			holder.Go(func() { l.Do(bg, func(context.Context) error { close(held); <-end; return nil }) })
			<-held
		}
		for range 20 {
			callers.Go(func() {
				l.Do(bg, inc(&n))
				l.TryDo(bg, inc(&n))
			})
		}
		for l.Stats().Completed < 20 {
			time.Sleep(time.Microsecond)
		}
		callers.Wait()
		l.Do(bg, func(ctx context.Context) error {
			return stint.Range(ctx, 5, func(context.Context, int) error { n++; return nil }, l)
		})
		n++
		close(end)
		holder.Wait()
	}
}

func TestLimiterStats(t *testing.T) {
	for range 30 {
		l, n := stint.Limit(2), 0
		g := stint.NewGroup(bg, l)
		g.Go(inc(&n))
		for l.Stats().Completed == 0 {
			time.Sleep(time.Microsecond)
		}
		n++
		g.Wait()
	}
}

func TestStreams(t *testing.T) {
	for range 30 {
		var sums [3]int
		f := func(_ context.Context, i int) (*int, error) { return &i, nil }
		byKey := func(_ context.Context, p *int) (int, error) { sums[*p%3]++; return *p, nil }
		s := stream.ParMapKey(stream.ParMap(stream.From(items), f, stint.Limit(3)), func(p *int) int { return *p % 3 }, byKey, stint.Limit(4))
		got, err := stream.Collect(bg, s)
		if err != nil || len(got) != numTasks || sums[0]+sums[1]+sums[2] != numTasks {
			t.Error(got, err, sums)
		}
	}
}

// OnPanic and Overload are told what a task has written.
func TestHooks(t *testing.T) {
	told := 0
	p := stint.NewPool(stint.Limit(2), stint.OnPanic(func(e *stint.PanicError) { told += *e.Value.(*int) }))
	p.Go(func(context.Context) { n := 1; panic(&n) })
	p.Close()
	l := stint.Auto(1, 4, stint.Overload(func(err error) bool { return err == errTask }))
	stint.Each(bg, items, func(context.Context, int) error { return errTask }, l, stint.KeepGoing())
	if told != 1 {
		t.Error(told)
	}
}

func TestMany(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			p := stint.NewPool(stint.Limit(3))
			for range 20 {
				x := 0
				stint.Each(bg, []int{1}, func(context.Context, int) error { x++; return nil }, p)
				x++
				stint.Each(bg, []int{1}, func(context.Context, int) error { x++; return nil }, p)
				x++
			}
			p.Close()
		})
	}
	wg.Wait()
}

func TestManyGoroutines(t *testing.T) {
	g := stint.NewGroup(bg, stint.Limit(3900))
	for range 3900 {
		g.Go(func(context.Context) error { time.Sleep(300 * time.Millisecond); return nil })
	}
	g.Wait()
}
