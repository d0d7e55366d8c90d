package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
)

func TestNestingNeverDeadlocks(t *testing.T) {
	for _, limit := range []int{1, 2} {
		t.Run(fmt.Sprint("limit=", limit), func(t *testing.T) {
			pairs(t, entryPoints, func(t *testing.T, outer, inner entryPoint) {
				p := stint.NewPool(stint.Limit(limit))
				defer p.Close()
				nestPair(t, outer, inner, stint.Limit(limit), limit)
				nestPair(t, outer, inner, p, limit)
			})
			each(t, func(t *testing.T, e entryPoint) { nestDo(t, e, limit) })
		})
		t.Run(fmt.Sprint("deep, limit=", limit), func(t *testing.T) {
			onBoth(t, limit, func(t *testing.T, e entryPoint, opt stint.Option, _ func(int)) {
				walkTree(t, e, 2, 5, limit, func(int) stint.Option { return opt })
			})
		})
	}
	t.Run("through another limit", func(t *testing.T) { // a, b, a, b: the permits of a are found across b
		onBoth(t, 1, func(t *testing.T, e entryPoint, a stint.Option, _ func(int)) {
			b := stint.Limit(1)
			walkTree(t, e, 2, 4, 1, func(depth int) stint.Option { return []stint.Option{b, a}[depth%2] })
		})
	})
	t.Run("through own limits", func(t *testing.T) { // calls with a limit each between those that share one
		onBoth(t, 2, func(t *testing.T, e entryPoint, opt stint.Option, _ func(int)) {
			walkTree(t, e, 2, 4, 2, func(depth int) stint.Option { return []stint.Option{stint.Limit(2), opt}[depth%2] })
		})
	})
	t.Run("two pools", func(t *testing.T) { // p, q, p, q
		onBoth(t, 1, func(t *testing.T, e entryPoint, _ stint.Option, _ func(int)) {
			p, q := stint.NewPool(stint.Limit(1)), stint.NewPool(stint.Limit(1))
			defer p.Close()
			defer q.Close()
			walkTree(t, e, 2, 4, 1, func(depth int) stint.Option { return []stint.Option{q, p}[depth%2] })
		})
	})
	for limit := 1; limit <= 3; limit++ {
		t.Run(fmt.Sprint("a full queue of the pool, limit=", limit), func(t *testing.T) {
			each(t, func(t *testing.T, e entryPoint) { fullQueues(t, e, limit) })
		})
	}
	t.Run("tasks that start tasks", func(t *testing.T) {
		both(t, 2, func(t *testing.T, opt stint.Option, _ func(int)) { growGroup(t, opt) })
		bubble(t, "Pool", func(t *testing.T) { growPool(t, 0) })
		bubble(t, "Pool", func(t *testing.T) { growPool(t, 1) })
	})
}

// nestPair makes calls of four tasks in the four tasks of a call, on one limit.
func nestPair(t *testing.T, outer, inner entryPoint, opt stint.Option, limit int) {
	var g gauge
	start := time.Now()
	err := outer.run(bg, 4, func(ctx context.Context, _ int) error {
		return inner.run(ctx, 4, holds(&g, time.Millisecond), opt)
	}, opt)
	equal(t, "error", err, nil)
	g.Is(t, 0, limit, 16)
	took(t, start, time.Duration(16/limit)*time.Millisecond)
}

// nestDo makes calls of Do in the tasks of a call, and calls in those of Do, on a limiter and on a pool that has it.
func nestDo(t *testing.T, e entryPoint, limit int) {
	l := stint.Limit(limit)
	p := stint.NewPool(l)
	defer p.Close()
	do := entryPoint{"Do", doing(l)}
	for _, opt := range []stint.Option{l, p} {
		nestPair(t, e, do, opt, limit)
		nestPair(t, do, e, opt, limit)
		nestPair(t, do, do, opt, limit)
	}
	synctest.Wait() // a worker of the pool returns its permit when it finds no more tasks
	equal(t, "permits out", l.Stats().Running, 0)
}

// walkTree makes calls in calls to a depth, each on the limit of its depth. At most so many leaves may run.
func walkTree(t *testing.T, e entryPoint, width, depth, most int, on func(depth int) stint.Option) {
	t.Helper()
	var g gauge
	leaves := 1
	var walk func(ctx context.Context, depth int) error
	walk = func(ctx context.Context, depth int) error {
		if depth == 0 {
			g.Hold(time.Millisecond)
			return nil
		}
		return e.run(ctx, width, func(ctx context.Context, _ int) error { return walk(ctx, depth-1) }, on(depth))
	}
	for range depth {
		leaves *= width
	}
	equal(t, "error", walk(bg, depth), nil)
	if n, m, all := g.Read(); n != 0 || m > most || all != leaves {
		t.Errorf("now %d leaves, at most %d, in all %d; want 0, %d, %d", n, m, all, most, leaves)
	}
}

// fullQueues has groups share the queue of a pool, which others fill meanwhile.
func fullQueues(t *testing.T, e entryPoint, limit int) {
	for queue := range 3 {
		p := stint.NewPool(stint.Limit(limit), stint.Queue(queue))
		for range 5 {
			go p.Go(func(context.Context) { time.Sleep(time.Millisecond) })
		}
		synctest.Wait()
		walkTree(t, e, 3, 4, limit, func(int) stint.Option { return p })
		p.Close()
	}
}

// grow returns a task that starts two tasks, which do the same, to a depth. A queue is full then, and
// every worker a submitter.
func grow(t *testing.T, depth int, start func(ctx context.Context, depth int) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for range min(2, 2*depth) {
			equal(t, "GoContext", start(ctx, depth-1), nil)
		}
		return nil
	}
}

func growGroup(t *testing.T, opt stint.Option) {
	g := stint.NewGroup(bg, opt, stint.Queue(1))
	var n atomic.Int64
	var start func(ctx context.Context, depth int) error
	start = func(ctx context.Context, depth int) error { n.Add(1); return g.GoContext(ctx, grow(t, depth, start)) }
	equal(t, "error", start(bg, 8), nil)
	equal(t, "error", g.Wait(), nil)
	equal(t, "tasks", n.Load(), 1<<9-1)
}

func growPool(t *testing.T, queue int) {
	p := stint.NewPool(stint.Limit(2), stint.Queue(queue))
	var n atomic.Int64
	var start func(ctx context.Context, depth int) error
	start = func(ctx context.Context, depth int) error {
		n.Add(1)
		task := grow(t, depth, start)
		return p.GoContext(ctx, func(ctx context.Context) { task(ctx) })
	}
	equal(t, "error", start(bg, 8), nil)
	equal(t, "Idle", p.Idle(bg), nil)
	p.Close()
	equal(t, "tasks", n.Load(), 1<<9-1)
}

// A call in a task runs on the task's permit, also while more tasks run than a lowered
// limit allows: it does not spin until fewer run.
func TestNestedUnderALoweredLimit(t *testing.T) {
	onBoth(t, 2, func(t *testing.T, e entryPoint, opt stint.Option, set func(int)) {
		g := stint.NewGroup(bg, opt)
		g.Go(sleep(time.Hour))
		g.Go(func(ctx context.Context) error {
			time.Sleep(time.Second)
			return e.run(ctx, 3, sleeps(time.Second), opt)
		})
		time.Sleep(time.Second / 2)
		set(1)
		equal(t, "error", g.Wait(), nil)
		equal(t, "time passed", sinceBubble(), time.Hour)
	})
}

// The permit that a waiting task lends is free for other calls as soon as the task's own
// calls do not need it.
func TestUnusedLoanIsReturned(t *testing.T) {
	synctest.Test(t, unusedLoanIsReturned)
}

func unusedLoanIsReturned(t *testing.T) {
	l := stint.Limit(3)
	others, outer, late := stint.NewGroup(bg, l), stint.NewGroup(bg, l), stint.NewGroup(bg, l)
	outer.Go(func(ctx context.Context) error {
		own := goroutine.ID()
		return stint.Range(ctx, 2, func(ctx context.Context, _ int) error {
			g := stint.NewGroup(ctx, l)
			if goroutine.ID() == own {
				time.Sleep(100 * time.Millisecond)
				g.Go(sleep(time.Hour)) // on the permit of the outer task
				return g.Wait()
			}
			g.Go(sleep(time.Hour)) // on the second permit
			time.Sleep(50 * time.Millisecond)
			others.GoContext(bg, sleep(time.Second)) // in the third
			time.Sleep(100 * time.Millisecond)
			g.Go(sleep(time.Second)) // waits for one
			return g.Wait()
		}, stint.Limit(2))
	})
	time.Sleep(5 * time.Second)
	start := time.Now()
	late.Go(func(context.Context) error { took(t, start, 0); return nil })
	late.Wait()
	outer.Wait()
	others.Wait()
	synctest.Wait()
	equal(t, "the limiter at the end", usage(l), [3]int{3})
}

// Calls that outlive their task, against the rules, do not break the limit permanently.
func TestCallsLeftBehind(t *testing.T) {
	pairs(t, entryPoints, func(t *testing.T, outer, inner entryPoint) {
		l := stint.Limit(1)
		var wg sync.WaitGroup
		leave := func(ctx context.Context, i int) error {
			if i == 0 {
				wg.Go(func() { inner.run(ctx, 1, sleeps(time.Second), l) })
				synctest.Wait()
			}
			return nil
		}
		outer.run(bg, 2, func(ctx context.Context, _ int) error { return outer.run(ctx, 2, leave, l) }, l)
		wg.Wait()
		synctest.Wait()
		equal(t, "the limiter at the end", usage(l), [3]int{1})
		var g gauge
		stint.Range(bg, 4, holds(&g, time.Second), l)
		g.Is(t, 0, 1, 4)
	})
}

// A call that outlives its task keeps the task's permit when the worker would return it, so
// loops that leave calls behind do not exceed the limit together. A pool's worker, which
// keeps its permit for its next task, runs at most one task beside such a call.
func TestCallsLeftBehindAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		var calls, tasks gauge
		var wg sync.WaitGroup
		leave := func(ctx context.Context) {
			wg.Go(func() {
				stint.Range(context.WithoutCancel(ctx), 1, func(context.Context, int) error { calls.Hold(time.Second); return nil }, l)
			})
			synctest.Wait()
		}
		for range 20 {
			wg.Go(func() {
				stint.Range(bg, 1, func(ctx context.Context, _ int) error { leave(ctx); return nil }, l)
			})
		}
		wg.Wait()
		calls.Is(t, 0, 1, 20)
		equal(t, "time passed", sinceBubble(), 20*time.Second)
		p := stint.NewPool(l)
		for range 20 {
			p.GoContext(bg, func(ctx context.Context) { leave(ctx); tasks.Hold(time.Second) })
		}
		p.Close()
		wg.Wait()
		calls.Is(t, 0, 1, 40)
		tasks.Is(t, 0, 1, 20)
		synctest.Wait()
		equal(t, "the limiter at the end", usage(l), [3]int{1})
	})
}

// A task makes two calls at once, from goroutines of its own. Both nest two limiters in
// the same order, the task's own and another. Neither waits for a permit that the other has
// lent: the first call holds the second limiter while a task of the second call waits for
// it on the permit of the outermost task.
func TestTwoCallsOfATaskNestTheSameTwo(t *testing.T) {
	pairs(t, entryPoints, func(t *testing.T, first, second entryPoint) {
		a, b := stint.Limit(1), stint.Limit(1)
		var inA, inB gauge
		inTheSecond := func(ctx context.Context, _ int) error {
			inA.Hold(0)
			return second.run(ctx, 1, holds(&inB, time.Second), b)
		}
		inTheFirst := func(ctx context.Context, _ int) error {
			inB.Hold(0)
			return apart(ctx, first, 2*time.Second, nil)
		}
		err := stint.Range(bg, 1, func(ctx context.Context, _ int) error {
			var calls sync.WaitGroup
			calls.Go(func() { first.run(ctx, 1, inTheFirst, b) }) // b, and in that tasks which it waits for
			calls.Go(func() {                                     // a in a, and in that b
				apart(ctx, second, time.Second, func(ctx context.Context) error { return second.run(ctx, 1, inTheSecond, a) })
			})
			calls.Wait()
			return nil
		}, a)
		equal(t, "error", err, nil)
		equal(t, "time passed", sinceBubble(), 3*time.Second)
		inA.Is(t, 0, 1, 1)
		inB.Is(t, 0, 1, 2)
		synctest.Wait()
		equal(t, "a at the end", usage(a), [3]int{1})
		equal(t, "b at the end", usage(b), [3]int{1})
	})
}

// apart makes a call of two tasks by d, with a limit of its own: one of them ends at
// once, and one, which is not on the caller's goroutine, sleeps and then calls f.
func apart(ctx context.Context, e entryPoint, sleep time.Duration, f func(context.Context) error) error {
	var both sync.WaitGroup
	both.Add(2)
	own := goroutine.ID()
	var other atomic.Bool
	return e.run(ctx, 2, func(ctx context.Context, _ int) error {
		both.Done()
		both.Wait()
		if goroutine.ID() == own || !other.CompareAndSwap(false, true) {
			return nil
		}
		time.Sleep(sleep)
		if f == nil {
			return nil
		}
		return f(ctx)
	}, stint.Limit(2))
}

// The same without goroutines of the task: the sequence of a MapSeq makes calls with the
// task's context, on the goroutine that pulls it.
func TestSequenceNestsAsItsTasksDo(t *testing.T) {
	synctest.Test(t, sequenceNestsAsItsTasksDo)
}

func sequenceNestsAsItsTasksDo(t *testing.T) {
	a, b := stint.Limit(1), stint.Limit(1)
	each := entryPoints[0]
	var inA, inB gauge
	pulled := func(ctx context.Context, _ int) error {
		inB.Hold(0)
		return apart(ctx, each, time.Second, nil)
	}
	nested := func(ctx context.Context, _ int) error {
		inA.Hold(time.Second / 2)
		return each.run(ctx, 1, holds(&inB, 0), b)
	}
	err := each.run(bg, 1, func(ctx context.Context, _ int) error {
		seq := func(yield func(int) bool) {
			for i, more := 0, true; i < 3 && more; i++ {
				each.run(ctx, 1, pulled, b)
				more = yield(i)
			}
		}
		task := func(ctx context.Context, i int) (int, error) { return i, each.run(ctx, 1, nested, a) }
		return yielded(stint.MapSeq(ctx, seq, task, stint.Limit(3)))
	}, a)
	equal(t, "error", err, nil)
	inA.Is(t, 0, 1, 3)
	inB.Is(t, 0, 1, 6)
}

// A call that returns does not wait for tasks of another call that run on the lent permit:
// they may wait for what the task does next.
func TestCallsOfATaskAndAChannel(t *testing.T) {
	each(t, func(t *testing.T, e entryPoint) {
		a, c := stint.Limit(1), make(chan int)
		receives := func(context.Context, int) error { <-c; return nil }
		err := e.run(bg, 1, func(ctx context.Context, _ int) error {
			var calls sync.WaitGroup
			calls.Go(func() {
				apart(ctx, e, 2*time.Second, nil)
				c <- 1
			})
			calls.Go(func() {
				apart(ctx, e, time.Second, func(ctx context.Context) error { return e.run(ctx, 1, receives, a) })
			})
			calls.Wait()
			return nil
		}, a)
		equal(t, "error", err, nil)
		equal(t, "time passed", sinceBubble(), 2*time.Second)
	})
}

// A task waits in one call while tasks of another of its calls use its permit. The task
// continues only after the running task has returned the permit.
func TestTaskGoesOnAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := stint.Limit(1)
		var in gauge
		err := stint.Range(bg, 1, func(ctx context.Context, _ int) error {
			g := stint.NewGroup(ctx, stint.Limit(1))
			g.Go(func(ctx context.Context) error { // started, and not waited for yet
				return stint.Range(ctx, 1, func(context.Context, int) error { in.Hold(time.Minute); return nil }, a)
			})
			apart(ctx, entryPoints[0], time.Second, nil) // waited for
			in.Hold(time.Second)
			return g.Wait()
		}, a)
		equal(t, "error", err, nil)
		equal(t, "time passed", sinceBubble(), time.Minute+time.Second)
		in.Is(t, 0, 1, 2)
	})
}

// Calls of a task may depend on each other: whichever call it waits in, the tasks of all
// its calls may use its permit.
func TestCallsThatDependOnEachOther(t *testing.T) {
	for name, f := range dependent {
		bubble(t, name, func(t *testing.T) {
			a := stint.Limit(1)
			nest := func(ctx context.Context) error {
				time.Sleep(time.Second)
				return stint.Range(ctx, 3, sleeps(time.Second), a)
			}
			equal(t, "error", stint.Range(bg, 1, func(ctx context.Context, _ int) error { return f(t, ctx, nest) }, a), nil)
			synctest.Wait()
			equal(t, "the limiter at the end", usage(a), [3]int{1})
		})
	}
}

// produce starts a task that nests calls and sends numbers.
func produce(ctx context.Context, nest func(context.Context) error) (*stint.Group, chan int) {
	c := make(chan int)
	g := stint.NewGroup(ctx)
	g.Go(func(ctx context.Context) error {
		defer close(c)
		for i := range 3 {
			if err := nest(ctx); err != nil {
				return err
			}
			c <- i
		}
		return nil
	})
	return g, c
}

// received yields the numbers of c.
func received(c chan int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for v := range c {
			if !yield(v) {
				return
			}
		}
	}
}

// dependent are tasks that wait in one of their calls for what another of them does, which nests calls
// on the limiter of the task.
var dependent = map[string]func(t *testing.T, ctx context.Context, nest func(context.Context) error) error{
	"a consumer is waited for before its producer": func(t *testing.T, ctx context.Context, nest func(context.Context) error) error {
		producer, c := produce(ctx, nest)
		consumer := stint.NewGroup(ctx)
		consumer.Go(func(context.Context) error { received(c)(func(int) bool { return true }); return nil })
		return errors.Join(consumer.Wait(), producer.Wait())
	},
	"a sequence of what a group produces": func(t *testing.T, ctx context.Context, nest func(context.Context) error) error {
		producer, c := produce(ctx, nest)
		err := yielded(stint.MapSeq(ctx, received(c), valued(nothing), stint.Limit(2)))
		return errors.Join(err, producer.Wait())
	},
	"groups on one limiter, the last first": func(t *testing.T, ctx context.Context, nest func(context.Context) error) error {
		b := stint.Limit(1)
		first, second := stint.NewGroup(ctx, b), stint.NewGroup(ctx, b)
		first.Go(nest)
		second.Go(func(context.Context) error { return nil })
		return errors.Join(second.Wait(), first.Wait())
	},
	"Pool.Idle": func(t *testing.T, ctx context.Context, nest func(context.Context) error) error {
		p := stint.NewPool(stint.Limit(2))
		defer p.Close()
		g := stint.NewGroup(ctx, p)
		g.Go(nest)
		return errors.Join(p.Idle(ctx), g.Wait())
	},
	"Pool.Shutdown": func(t *testing.T, ctx context.Context, nest func(context.Context) error) error {
		p := stint.NewPool(stint.Limit(2))
		g := stint.NewGroup(ctx, p)
		g.Go(nest)
		_, err := p.Shutdown(ctx)
		return errors.Join(err, g.Wait())
	},
	"Pool.GoContext": func(t *testing.T, ctx context.Context, nest func(context.Context) error) error {
		p := stint.NewPool(stint.Limit(1), stint.Queue(1))
		defer p.Close()
		g := stint.NewGroup(ctx, p)
		g.Go(nest)
		for range 3 {
			equal(t, "GoContext", p.GoContext(ctx, func(context.Context) {}), nil)
		}
		return g.Wait()
	},
	"Group.GoContext": func(t *testing.T, ctx context.Context, nest func(context.Context) error) error {
		g := stint.NewGroup(ctx, stint.Limit(1), stint.Queue(1))
		for range 4 {
			equal(t, "GoContext", g.GoContext(ctx, nest), nil)
		}
		return g.Wait()
	},
}

// A loop does not wait for a permit when it has nothing left to do.
func TestEndedLoopWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		var other sync.WaitGroup
		other.Go(func() {
			time.Sleep(time.Second / 2)
			stint.Range(bg, 1, func(context.Context, int) error { time.Sleep(time.Hour); return nil }, l)
		})
		stint.Range(bg, 1, func(context.Context, int) error { time.Sleep(time.Second); return nil }, l)
		equal(t, "time passed", sinceBubble(), time.Second)
		other.Wait()
	})
}

// A task that waited continues when the item that runs on its permit has ended: a call
// returns a loan between two items.
func TestLoanIsReturnedBetweenItems(t *testing.T) {
	onBoth(t, 1, func(t *testing.T, e entryPoint, opt stint.Option, _ func(int)) {
		task := func(ctx context.Context, i int) (int, error) {
			if i == 0 {
				time.Sleep(500 * time.Millisecond)
				return i, nil
			}
			return i, e.run(ctx, 4, sleeps(time.Second), opt)
		}
		g := stint.NewGroup(bg, opt)
		var at []time.Duration
		g.Go(func(ctx context.Context) error {
			for _, err := range stint.MapSeq(ctx, count(2), task, stint.Limit(2)) {
				equal(t, "error", err, nil)
				at = append(at, sinceBubble())
				time.Sleep(10 * time.Second) // on its permit again
			}
			return nil
		})
		equal(t, "error", g.Wait(), nil)
		// One item of the four until the first result is taken, three afterwards. Of two permits one may be
		// lent again while the other one comes back.
		want := []time.Duration{time.Second, 14 * time.Second}
		if strings.HasSuffix(t.Name(), "on_a_Pool") && len(at) > 0 && at[0] <= 4*time.Second {
			want[0] = at[0]
		}
		if !slices.Equal(at, want) {
			t.Errorf("the task went on at %v, want %v", at, want)
		}
	})
}

// sounding is a context that notes how deep the stack is at which it is asked.
type sounding struct {
	context.Context
	mu      *sync.Mutex
	deepest *int
}

func (s sounding) Value(key any) any {
	var pcs [4096]uintptr
	n := runtime.Callers(0, pcs[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	*s.deepest = max(*s.deepest, n)
	return s.Context.Value(key)
}

// No goroutine of nested groups calls Value through the contexts of all groups around it:
// its stack would grow with the depth, and all stacks with the square of the depth.
func TestStacksDoNotGrowWithDepth(t *testing.T) {
	for name, opts := range map[string][]stint.Option{"one limiter": {stint.Limit(1)}, "named": {stint.Name("n")}, "none": nil} {
		var nest func(ctx context.Context, depth int) error
		nest = func(ctx context.Context, depth int) error {
			if depth == 0 {
				return nil
			}
			g := stint.NewGroup(ctx, opts...)
			g.Go(func(ctx context.Context) error { return nest(ctx, depth-1) })
			return g.Wait()
		}
		var at [2]int
		for i, depth := range []int{20, 200} {
			equal(t, name+": error", nest(sounding{bg, new(sync.Mutex), &at[i]}, depth), nil)
		}
		if at[1] > at[0] {
			t.Errorf("%s: the stacks are %d frames deep at 20 levels, %d at 200", name, at[0], at[1])
		}
	}
}
