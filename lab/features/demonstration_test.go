package features

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// demonstrations are by feature. They run in a bubble, where time is virtual and it is known when everything waits, apart
// from those of realTime.
var demonstrations = map[string]demonstration{
	"Worker reuse": workerReuse, "Context": contexts, "Waiting for all": waitingForAll,
	"Waiting for one": waitingForOne, "Errors": taskErrors, "Resizing": resizing,
	"Limit": limit, "Shared limit": sharedLimit, "Two limits": twoLimits, "Nesting": nesting,
	"Tasks from tasks": tasksFromTasks, "Adaptive limit": adaptiveLimit, "Chunks": chunks, "Fixed function": fixedFunction,
	"First error cancels": firstErrorCancels, "All errors": allErrors, "Panics": taskPanics, "Goexit": goexit,
	"Bounded queue": boundedQueue, "Giving up": givingUp, "Try": try, "Pausing": pausing, "Dropping the queue": droppingTheQueue,
	"Typed results": orderedResults, "Results in order": orderedResults, "Ordered stream": orderedStream, "Batches": batches,
	"Statistics": statistics, "Bubbles": bubbles, "Zero value": zeroValue,
}

// realTime are the features whose demonstrations measure time or allocations, or start processes or bubbles of their own, or use
// what a package keeps between bubbles.
var realTime = []string{
	"Chunks", "Fixed function", "Panics", "Typed results", "Results in order", "Ordered stream", "Bubbles", "Zero value",
}

// workerReuse counts the goroutines of 10 tasks under limit 1: submitted together, and each after the one before has ended.
func workerReuse(_ *testing.T, l *library) Answer {
	var together, apart gauge
	together.run(l.open(ever, 1), 10, 0)
	apart.run(l.open(ever, 1), 10, 1100*time.Millisecond)
	return grade(len(together.ids) == 1, len(apart.ids) == 1)
}

// contexts cancels the caller's context while a task runs.
func contexts(_ *testing.T, l *library) Answer {
	ctx, cancel := context.WithCancelCause(ever)
	g, hold, cancelled := l.open(ctx, 2), make(chan struct{}), false
	g.Go(ctx, func(own context.Context) error {
		<-hold
		cancelled = context.Cause(own) == errTask
		return nil
	})
	synctest.Wait()
	cancel(errTask)
	close(hold)
	synctest.Wait()
	g.Wait()
	return grade(cancelled, true)
}

// waitingForAll lets the first of 10 tasks fail while the others run. Afterwards others go on.
func waitingForAll(_ *testing.T, l *library) Answer {
	var tasks gauge
	g, again := l.open(ever, 10), false
	g.Go(ever, func(context.Context) error { time.Sleep(time.Second / 2); return errTask })
	tasks.run(g, 9, 0)
	_, left := tasks.counts()
	time.Sleep(time.Minute)
	panics(func() {
		next := g.fork(ever)
		next.Go(ever, plain(func() { again = true }))
		next.Wait()
	})
	return grade(true, left == 0 && again)
}

// waitingForOne waits for the second of two tasks while the first one runs.
func waitingForOne(_ *testing.T, l *library) Answer {
	if l.single == nil {
		return No
	}
	submit := l.single(2)
	hold := make(chan struct{})
	a := submit(func() string { <-hold; return "" })
	b := submit(func() string { return "value" })
	alone := b() == "value"
	close(hold)
	a()
	var tasks gauge
	var waits sync.WaitGroup
	for range 10 {
		waits.Go(func() { submit(func() string { tasks.task(); return "" })() })
	}
	waits.Wait()
	return grade(alone && tasks.most == 2, true) // or each has a limit of its own
}

func taskErrors(_ *testing.T, l *library) Answer {
	g := l.open(ever, 1)
	g.Go(ever, func(context.Context) error { return errTask })
	return grade(errors.Is(g.Wait(), errTask), true)
}

// resizing changes a limit while a task runs, and counts how many more run concurrently.
func resizing(_ *testing.T, l *library) Answer {
	resized := func(from, to int) int {
		var tasks gauge
		g := l.open(ever, from)
		for range from {
			g.Go(ever, plain(func() { time.Sleep(time.Second / 2) }))
		}
		g.Go(ever, plain(func() { time.Sleep(2 * time.Second) }))
		synctest.Wait()                                              // until that runs, or is queued
		if _, refused := panics(func() { g.Resize(to) }); !refused { // or there is none
			tasks.submit(g, 20, 0)
		}
		g.Wait()
		return tasks.most
	}
	return grade(resized(1, 3) == 3, resized(10, 1) == 1)
}

func limit(_ *testing.T, l *library) Answer {
	var tasks gauge
	tasks.run(l.open(ever, 3), 20, 0)
	return grade(tasks.begun == 20, tasks.most == 3)
}

// sharedLimit has two callers under one limit. All of the feature is that a caller holds no part of the limit after its
// tasks have ended, and waits for its own tasks.
func sharedLimit(_ *testing.T, l *library) Answer {
	var tasks gauge
	a := l.open(ever, 3)
	if b := a.fork(ever); a == b {
		tasks.run(a, 20, 0)
	} else {
		other := start(func() { tasks.run(b, 10, 0) })
		tasks.run(a, 10, 0)
		<-other
	}

	a, hold := l.open(ever, 1), make(chan struct{})
	b := a.fork(ever)
	a.Go(ever, plain(func() {}))
	synctest.Wait() // until it has ended; nobody waits for it
	submitted := start(func() { b.Go(ever, plain(func() { <-hold })) })
	idle := isClosed(submitted)
	done := start(func() { a.Wait() })
	waited := isClosed(done)
	close(hold)
	<-submitted
	<-done
	b.Wait()
	return grade(tasks.most == 3 && tasks.begun == 20, waited && idle)
}

// twoLimits runs tasks under limits of 1 and 3, of which the larger should hold for all.
func twoLimits(_ *testing.T, l *library) Answer {
	most := func(n int) int {
		var tasks gauge
		var small, large *group
		if _, refused := panics(func() { small, large = l.two(1, 3) }); refused {
			return 0
		}
		other := start(func() { tasks.run(large, n, 0) })
		tasks.run(small, 10, 0)
		<-other
		call(large.Kill)
		return tasks.most
	}
	return grade(most(0) == 1 && most(10) == 3, true)
}

// nesting waits in tasks for tasks under the same limit. A part of the feature is that a task can itself run what Try
// refuses.
func nesting(_ *testing.T, l *library) Answer {
	direct := func(limit int) bool {
		var tasks gauge
		g := l.open(ever, limit)
		completed := returns(func() {
			for range 4 {
				g.Go(ever, func(ctx context.Context) error {
					tasks.run(g.fork(ctx), 4, 0)
					return nil
				})
			}
			g.Wait()
		})
		call(g.Kill)
		return completed && tasks.most == limit && tasks.begun == 4*4
	}
	tried := func() bool {
		var tasks gauge
		g, outer := l.queue(ever, 1, 0), make(chan struct{})
		if g.Try == nil {
			return false
		}
		g.Go(ever, plain(func() {
			defer close(outer)
			for range 2 {
				if !g.Try(plain(tasks.task)) {
					tasks.task()
				}
			}
		}))
		<-outer // which also submits
		g.Wait()
		return tasks.most == 1 && tasks.begun == 2
	}
	all := direct(1) && direct(2)
	return grade(all || tried(), all)
}

// tasksFromTasks starts a task in a task that has the whole limit, or half of it.
func tasksFromTasks(_ *testing.T, l *library) Answer {
	family := func(limit int) (child bool) {
		g := l.open(ever, limit)
		g.Go(ever, func(ctx context.Context) error {
			g.Go(ctx, plain(func() { child = true }))
			return nil
		})
		if synctest.Wait(); child {
			g.Wait()
		} else {
			call(g.Kill)
		}
		return child
	}
	return grade(family(2), family(1))
}

// adaptiveLimit counts how many of 10,000 waiting tasks run concurrently if no limit is set. As many as there are processors
// suits tasks that compute.
func adaptiveLimit(_ *testing.T, l *library) Answer {
	const n, processors = 10_000, 3
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	var tasks gauge
	l.each(0, n, func(int) { tasks.task() })
	return grade(1 < tasks.most && tasks.most < n, tasks.most > 36 && tasks.most <= 256) // 36 start before anything is known
}

// chunks counts the calls and the goroutines of a loop over a million items. A part of the feature is that an item costs
// less than a task: some goroutines take many.
func chunks(t *testing.T, l *library) Answer {
	if l.loop == nil {
		return No
	}
	const n = 1_000_000
	var calls, items atomic.Int32
	l.loop(n, func(lo, hi int) {
		calls.Add(1)
		items.Add(int32(hi - lo))
	})
	var tasks gauge
	bubble(t, func() Answer { l.loop(1000, func(int, int) { tasks.task() }); return Yes })
	return grade(items.Load() == n && len(tasks.ids) <= 100, calls.Load() <= n/100)
}

// fixedFunction counts the allocations of tasks, which are so many that nothing else counts. Without a fixed function, a
// task is a closure.
func fixedFunction(_ *testing.T, l *library) Answer {
	const n = 10_000
	var sum atomic.Int64
	allocations := testing.AllocsPerRun(5, func() { l.each(2, n, func(i int) { sum.Add(int64(i)) }) })
	return grade(allocations < n, true)
}

// firstErrorCancels lets the first of 10 tasks fail under limit 1.
func firstErrorCancels(_ *testing.T, l *library) Answer {
	g, last := l.open(ever, 1), ever
	var began atomic.Int32
	for range 10 {
		g.Go(ever, func(ctx context.Context) error {
			last = ctx
			if began.Add(1) == 1 {
				return errTask
			}
			return nil
		})
	}
	g.Wait()
	cancelled := last.Err() != nil
	return grade(began.Load() == 1 || cancelled, began.Load() == 1 && cancelled)
}

// allErrors lets two tasks fail. A part of the feature is that each of them can be waited for.
func allErrors(_ *testing.T, l *library) Answer {
	g, second := l.tolerant(ever, 2), errors.New("second")
	g.Go(ever, func(context.Context) error { return errTask })
	g.Go(ever, func(context.Context) error { time.Sleep(time.Second); return second })
	err := g.Wait()
	return grade(errors.Is(err, errTask) && errors.Is(err, second), true)
}

// taskPanics waits for a task that panics, in a process of its own.
func taskPanics(t *testing.T, l *library) Answer {
	answer, crashed := child(t, "panic: boom", func() Answer {
		g := l.open(ever, 1)
		g.Go(ever, plain(explode))
		var err error
		text, panicked := panics(func() { err = g.Wait() })
		if !panicked {
			text = fmt.Sprint(err)
		}
		return grade(strings.Contains(text, "boom"), strings.Contains(text, "features.explode"))
	})
	if crashed {
		return No
	}
	return answer
}

// goexit ends the goroutine of the first of two tasks under limit 1.
func goexit(_ *testing.T, l *library) Answer {
	var err error
	g, ran, returned := l.tolerant(ever, 1), make(chan struct{}), false
	g.Go(ever, plain(runtime.Goexit))
	synctest.Wait()
	go g.Go(ever, plain(func() { close(ran) }))
	next := isClosed(ran)
	if next {
		returned = returns(func() { err = g.Wait() })
	}
	call(g.Kill)
	return grade(next, returned && err != nil)
}

// boundedQueue counts the tasks that are accepted while one runs. Without a queue, none is.
func boundedQueue(_ *testing.T, l *library) Answer {
	const n = 10_000
	var accepted atomic.Int32
	g, hold := l.queue(ever, 1, 2), make(chan struct{})
	done := start(func() {
		for range n {
			g.Go(ever, plain(func() { <-hold }))
			accepted.Add(1)
		}
	})
	synctest.Wait()
	most := accepted.Load()
	close(hold)
	<-done
	g.Wait()
	return grade(most < n, most == 1+2)
}

// givingUp ends a context while Go waits: that of the call, or that of the pool or group, which is a part of the feature.
func givingUp(_ *testing.T, l *library) Answer {
	gives := func(ofCall bool) bool {
		ctx, cancel := context.WithCancel(ever)
		call, all := ctx, ever
		if !ofCall {
			call, all = ever, ctx
		}
		g, hold, waits := l.queue(all, 1, 1), make(chan struct{}), false
		var done chan struct{}
		for i := 0; i < 10 && !waits; i++ {
			done = start(func() { g.Go(call, plain(func() { <-hold })) })
			waits = !isClosed(done)
		}
		cancel()
		gave := isClosed(done) && (waits || !ofCall) // if it never waits, there is nothing to give up
		close(hold)
		<-done
		g.Wait()
		return gave
	}
	ofCall := gives(true)
	return grade(ofCall || gives(false), ofCall)
}

// try starts a task, and another one that would have to wait.
func try(_ *testing.T, l *library) Answer {
	first, second := false, true
	g, hold := l.queue(ever, 1, 0), make(chan struct{})
	if g.Try != nil {
		synctest.Wait()
		first = g.Try(plain(func() { <-hold }))
		synctest.Wait()
		second = g.Try(plain(func() {}))
	}
	close(hold)
	g.Wait()
	return grade(first && !second, true)
}

// pausing pauses for an hour while a task runs: by a limit of 0, if there is nothing else.
func pausing(_ *testing.T, l *library) Answer {
	g := l.queue(ever, 1, 3)
	pause := g.Pause
	if pause == nil && g.Resize != nil {
		pause = func() func() { g.Resize(0); return func() { g.Resize(1) } }
	}
	g.Go(ever, plain(func() { time.Sleep(time.Second) }))
	synctest.Wait() // until it runs
	var resume func()
	if _, refused := panics(func() { resume = pause() }); refused { // also if there is none
		g.Wait()
		return No
	}
	var tasks gauge
	submitted := start(func() { tasks.submit(g, 3, 0) })
	accepted := isClosed(submitted)
	time.Sleep(time.Hour)
	before, _ := tasks.counts()
	resume()
	<-submitted
	g.Wait()
	after, _ := tasks.counts()
	return grade(before == 0 && after == 3, accepted)
}

// droppingTheQueue drops 9 tasks while one runs.
func droppingTheQueue(_ *testing.T, l *library) Answer {
	var tasks gauge
	ctx, cancel := context.WithCancel(ever)
	g := l.open(ctx, 1)
	submitted := start(func() { tasks.submit(g, 10, 0) })
	synctest.Wait()
	cancel()
	call(g.Drop)
	<-submitted
	g.Wait()
	_, left := tasks.counts()
	time.Sleep(time.Minute) // tasks that were not dropped start
	begun, _ := tasks.counts()
	return grade(begun == 1, left == 0)
}

// orderedResults has five tasks, of which each waits for the next to end, and which return texts.
func orderedResults(_ *testing.T, l *library) Answer {
	if l.mapped == nil {
		return No
	}
	ended := []chan bool{make(chan bool), make(chan bool), make(chan bool), make(chan bool), make(chan bool), make(chan bool)}
	close(ended[5])
	got := l.mapped([]int{0, 1, 2, 3, 4}, func(i int) string {
		defer close(ended[i])
		<-ended[i+1]
		return fmt.Sprint(i)
	})
	return grade(slices.Equal(got, []string{"0", "1", "2", "3", "4"}), true)
}

// orderedStream counts the items that are read while the first of a thousand is held up.
func orderedStream(t *testing.T, l *library) Answer {
	if l.stream == nil {
		return No
	}
	const n = 1000
	var taken atomic.Int32
	var got []int
	stream := func() Answer {
		hold := make(chan struct{})
		var items iter.Seq[int] = func(yield func(int) bool) {
			for i := 0; i < n && yield(i); i++ {
				taken.Add(1)
			}
		}
		f := func(i int) int {
			if i == 0 {
				<-hold
			}
			return i
		}
		done := start(func() { l.stream(items, f, func(i int) { got = append(got, i) }) })
		synctest.Wait()
		ahead := taken.Load()
		close(hold)
		<-done
		return grade(len(got) == n && slices.IsSorted(got), ahead < 100)
	}
	answer, _ := child(t, "", func() Answer { answer, _ := bubble(t, stream); return answer })
	return answer
}

// batches sends four items, for batches of three: the first ones come at once, the last one after a minute.
func batches(_ *testing.T, l *library) Answer {
	if l.batches == nil {
		return No
	}
	var got []string
	items, began := make(chan int), time.Now()
	done := start(func() {
		l.batches(items, 3, time.Minute, func(b []int) {
			got = append(got, fmt.Sprint(b, time.Since(began).Round(time.Second)))
		})
	})
	for i := range 4 {
		items <- i
	}
	time.Sleep(time.Hour)
	close(items)
	<-done
	return grade(slices.Equal(got, []string{"[0 1 2] 0s", "[3] 1m0s"}), true)
}

// statistics has one task that runs and two that wait, and then none.
func statistics(_ *testing.T, l *library) Answer {
	running, waiting, rest := -1, -1, -1
	g, hold := l.queue(ever, 1, 10), make(chan struct{})
	for range 3 {
		go g.Go(ever, plain(func() { <-hold }))
	}
	synctest.Wait()
	_, none := panics(func() { running, waiting = g.Stats() })
	close(hold)
	synctest.Wait()
	if !none {
		rest, _ = g.Stats()
	}
	g.Wait()
	return grade(waiting == 2, running == 1 && rest == 0)
}

// bubbles runs two tasks of an hour in one bubble after the other. A part of the feature is that some functions work in the
// first bubble only.
func bubbles(t *testing.T, l *library) Answer {
	works := func(run func(f func())) bool {
		for range 10 {
			answer, ended := bubble(t, func() Answer {
				began := time.Now()
				run(func() { time.Sleep(time.Hour) })
				return grade(time.Since(began) == time.Hour, true)
			})
			if !ended || answer != Yes {
				return false
			}
		}
		return true
	}
	groups := works(func(f func()) {
		g := l.open(ever, 2)
		g.Go(ever, plain(f))
		g.Go(ever, plain(f))
		g.Wait()
	})
	crashed := false
	if l.outside != nil {
		_, crashed = child(t, "from outside bubble", func() Answer { return grade(works(l.outside), true) })
	}
	return grade(groups, !crashed)
}

// zeroValue submits a task without a constructor. A part of the feature is that another zero value panics.
func zeroValue(_ *testing.T, l *library) Answer {
	ran, hollow := false, false
	l.zero(func() { ran = true })
	if l.hollow != nil {
		_, hollow = panics(l.hollow)
	}
	return grade(ran, !hollow)
}
