//go:build race

package sharp

import (
	"context"
	"errors"
	"math"
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

func incItem(n *int) func(context.Context, int) error {
	return func(context.Context, int) error { *n++; return nil }
}

// pointer returns a function whose results the tasks behind it read.
func pointer(_ context.Context, x int) (*int, error) { return &x, nil }

// TestOrders runs programs that the library orders: the detector must report nothing. Each
// writes plain variables from tasks that cannot run at the same time, and returns how many
// tasks have written, and how many must have.
func TestOrders(t *testing.T) {
	for name, program := range orders {
		t.Run(name, func(t *testing.T) {
			for range 15 {
				if got, want := program(); got != want {
					t.Fatalf("%d tasks have written, want %d", got, want)
				}
			}
		})
	}
}

var orders = map[string]func() (got, want int){
	"a limit of one":                  limitOfOne,
	"an errgroup with a limit of one": errgroupLimitOfOne,
	"results on a limiter":            func() (int, int) { return results(stint.Limit(3)) },
	"results on a pool":               func() (int, int) { p := stint.NewPool(stint.Limit(3)); defer p.Close(); return results(p) },
	"a slot of two is taken":          slotIsTaken,
	"a slot of an errgroup is taken":  slotOfAnErrgroupIsTaken,
	"the limit falls":                 limitFalls,
	"nested calls":                    nested,
	"a task starts a task":            startsTasks,
	"no queue":                        noQueue,
	"keys":                            keys,
	"keys that equal no other":        noKeys,
	"short loops":                     shortLoops,
	"Idle, and Completed of a pool":   idleAndStats,
	"Completed of a limiter":          limiterStats,
	"a submitter counts":              submitterCounts,
	"buffers of a sequence":           buffersOfASequence,
	"Do":                              func() (int, int) { return callersOfDo(1) },
	"Do, with a permit that is taken": func() (int, int) { return callersOfDo(2) },
	"a stream":                        ofAStream,
	"the functions that are told":     hooks,
	"calls one after the other":       calls,
}

func limitOfOne() (n, want int) {
	l := stint.Limit(1)
	g, h := stint.NewGroup(bg, l), stint.NewGroup(bg, l)
	p := stint.NewPool(l)
	for range 20 {
		g.Go(inc(&n))
		h.Go(inc(&n))
		p.Go(func(context.Context) { n++ })
		l.Do(bg, inc(&n))
	}
	stint.Range(bg, 2000, incItem(&n), l)
	g.Wait()
	h.Wait()
	p.Close()
	return n, 2080
}

func errgroupLimitOfOne() (n, want int) {
	var g errgroup.Group
	g.SetLimit(1)
	for range 100 {
		g.Go(func() error { n++; return errTask })
	}
	g.Wait()
	g.Go(func() error { n++; return nil })
	g.Go(func() error { return nil }) // returns when the first has ended
	n++
	g.Wait()
	return n, 102
}

// results reads what tasks have written when they have ended, however they did.
func results(opt stint.Option) (sum, want int) {
	xs := make([]int, 100)
	g := stint.NewGroup(bg, opt, stint.KeepGoing())
	for i := range xs {
		g.Go(func(context.Context) error {
			xs[i] = 1
			if i%10 == 0 {
				runtime.Goexit()
			}
			return []error{nil, errTask}[i%2]
		})
	}
	g.Wait()
	for _, x := range xs {
		sum += x
	}
	ys, _ := stint.Map(bg, xs, pointer, opt)
	for _, y := range ys {
		sum += *y
	}
	for y, err := range stint.MapSeq(bg, slices.Values(xs), pointer, opt) {
		if err == nil {
			sum += *y
		}
	}
	first, _ := stint.First(bg, xs, pointer, opt)
	xs[0] = sum
	return sum + *first, 301
}

// slotIsTaken knows one slot of two to be taken: the others are one at a time.
func slotIsTaken() (n, want int) {
	release := make(chan struct{})
	g := stint.NewGroup(bg, stint.Limit(2))
	g.Go(func(context.Context) error { <-release; return nil })
	for range 50 {
		g.Go(inc(&n))
	}
	g.Go(func(context.Context) error { close(release); return nil })
	g.Wait()
	return n, 50
}

func slotOfAnErrgroupIsTaken() (n, want int) {
	var e errgroup.Group
	e.SetLimit(2)
	e.Go(func() error {
		for range 50 {
			e.Go(func() error { n++; return nil })
		}
		return nil
	})
	e.Wait()
	return n, 50
}

func limitFalls() (n, want int) {
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
	return n, 50
}

func nested() (n, want int) {
	l := stint.Limit(1)
	err := stint.Range(bg, 5, func(ctx context.Context, _ int) error {
		n++
		if err := stint.Range(ctx, 5, incItem(&n), l); err != nil {
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
	if err != nil {
		return 0, 60
	}
	return n, 60
}

func startsTasks() (n, want int) {
	g := stint.NewGroup(bg, stint.Limit(3))
	g.Go(func(ctx context.Context) error {
		n = 1
		return g.GoContext(ctx, inc(&n))
	})
	g.Wait()
	return n, 2
}

func noQueue() (n, want int) {
	g := stint.NewGroup(bg, stint.Limit(1), stint.Queue(0))
	for range 20 {
		g.Go(inc(&n))
	}
	g.Go(func(context.Context) error { return nil }) // has a worker: the others have ended
	n++
	g.Wait()
	return n, 21
}

func keys() (n, want int) {
	var ns [4]int
	task := func(_ context.Context, i int) error { ns[i%4]++; return nil }
	stint.EachKey(bg, slices.Values(items), func(i int) int { return i % 4 }, task, stint.Limit(3))
	return ns[0] + ns[1] + ns[2] + ns[3], numTasks
}

// noKeys reads results whose keys do not even equal themselves.
func noKeys() (n, want int) {
	noKey := func(*int) float64 { return math.NaN() }
	xs := make([]*int, 100)
	for y, err := range stint.MapKey(bg, slices.Values(xs), noKey, func(context.Context, *int) (*int, error) { return new(int), nil }, stint.Limit(3)) {
		if err == nil {
			*y++
			n += *y
		}
	}
	return n, len(xs)
}

// shortLoops has fewer items than workers look for.
func shortLoops() (n, want int) {
	for range 200 {
		var xs [3]int
		stint.Range(bg, len(xs), func(_ context.Context, i int) error { xs[i]++; return nil }, stint.Limit(len(xs)))
		n += xs[0] + xs[1] + xs[2]
	}
	return n, 600
}

func idleAndStats() (n, want int) {
	p := stint.NewPool(stint.Limit(2))
	defer p.Close()
	xs := make([]int, 40)
	for i := range 20 {
		p.Go(func(context.Context) { xs[i]++ })
	}
	p.Idle(bg)
	for i := range 20 {
		xs[i]--
	}
	for i := range xs {
		p.Go(func(context.Context) { xs[i]++ })
	}
	for p.Stats().Completed < 60 {
		runtime.Gosched()
	}
	for _, x := range xs {
		n += x
	}
	return n, 40
}

func limiterStats() (n, want int) {
	l := stint.Limit(2)
	g := stint.NewGroup(bg, l)
	g.Go(inc(&n))
	for l.Stats().Completed == 0 {
		runtime.Gosched()
	}
	n++
	g.Wait()
	return n, 2
}

// submitterCounts knows a slot to be free again when Go has returned often enough.
func submitterCounts() (n, want int) {
	g := stint.NewGroup(bg, stint.Limit(1), stint.Queue(2))
	var slots [4]int
	for i := range 40 {
		slots[i%4]++ // four tasks later, only the last three may be queued or running
		g.Go(inc(&slots[i%4]))
	}
	g.Wait()
	return slots[0] + slots[1] + slots[2] + slots[3], 80
}

// buffersOfASequence uses a buffer again when its result has been consumed.
func buffersOfASequence() (n, want int) {
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
		n++
	}
	return n, 60
}

// callersOfDo are ordered by a limit of 1, and by one of 2 if one permit is known to be
// taken; and whoever sees a call counted is behind it.
func callersOfDo(limit int) (n, want int) {
	l := stint.Limit(limit)
	held, end := make(chan struct{}), make(chan struct{})
	var holder, callers sync.WaitGroup
	if limit == 2 {
		holder.Go(func() { l.Do(bg, func(context.Context) error { close(held); <-end; return nil }) })
		<-held
	}
	refused := 0
	for range 20 {
		callers.Go(func() {
			l.Do(bg, inc(&n))
			err := l.TryDo(bg, inc(&n))
			l.Do(bg, func(context.Context) error {
				if errors.Is(err, stint.ErrBusy) {
					refused++
				}
				return nil
			})
		})
	}
	callers.Wait()
	l.Do(bg, func(ctx context.Context) error { return stint.Range(ctx, 5, incItem(&n), l) })
	close(end)
	holder.Wait()
	return n + refused, 45
}

func ofAStream() (n, want int) {
	var sums [3]int
	byKey := func(_ context.Context, p *int) (int, error) { sums[*p%3]++; return *p, nil }
	s := stream.ParMapKey(stream.ParMap(stream.From(items), pointer, stint.Limit(3)), func(p *int) int { return *p % 3 }, byKey, stint.Limit(4))
	got, _ := stream.Collect(bg, s)
	return len(got) + sums[0] + sums[1] + sums[2], 2 * numTasks
}

// hooks are told what a task has written.
func hooks() (told, want int) {
	p := stint.NewPool(stint.Limit(2), stint.OnPanic(func(e *stint.PanicError) { told += *e.Value.(*int) }))
	p.Go(func(context.Context) { n := 1; panic(&n) })
	p.Close()
	l := stint.Auto(1, 4, stint.Overload(func(err error) bool { return err == errTask }))
	stint.Each(bg, items, func(context.Context, int) error { return errTask }, l, stint.KeepGoing())
	return told, 1
}

func calls() (n, want int) {
	var all [4]int
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			p := stint.NewPool(stint.Limit(3))
			defer p.Close()
			for range 20 {
				stint.Each(bg, []int{1}, incItem(&all[i]), p)
				all[i]++
			}
		})
	}
	wg.Wait()
	return all[0] + all[1] + all[2] + all[3], 160
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

func TestManyGoroutines(t *testing.T) {
	g := stint.NewGroup(bg, stint.Limit(3900))
	for range 3900 {
		g.Go(func(context.Context) error { time.Sleep(300 * time.Millisecond); return nil })
	}
	g.Wait()
}
