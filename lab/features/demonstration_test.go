package features

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// demonstrations are by feature. Most run in a bubble, where time is virtual and it is known when everything waits.
var demonstrations = map[string]demonstration{
	"Worker reuse": workerReuse, "Context": contexts, "Waiting for all": waitingForAll,
	"Waiting for one": waitingForOne, "Errors": taskErrors, "Resizing": resizing,
	"Limit": limit, "Shared limit": sharedLimit, "Two limits": twoLimits, "Nesting": nesting,
	"Tasks from tasks": tasksFromTasks, "Adaptive limit": adaptiveLimit, "Chunks": chunks, "Fixed function": fixedFunction,
	"First error cancels": firstErrorCancels, "All errors": allErrors, "Panics": taskPanics, "Goexit": goexit,
	"Bounded queue": boundedQueue, "Giving up": givingUp, "Try": try, "Pausing": pausing, "Dropping the queue": droppingTheQueue,
	"Typed results": typedResults, "Results in order": resultsInOrder, "Ordered stream": orderedStream, "Batches": batches,
	"Statistics": statistics, "Bubbles": bubbles, "Zero value": zeroValue,
}

// workerReuse counts the goroutines of 10 tasks under limit 1: submitted together, and each after the one before has ended.
func workerReuse(t *testing.T, l *library) Answer {
	together := gauged(t, func(tasks *gauge) { tasks.run(l.open(ever, 1), 10, 0) })
	apart := gauged(t, func(tasks *gauge) { tasks.run(l.open(ever, 1), 10, 1100*time.Millisecond) })
	return grade(len(together.ids) == 1, len(apart.ids) == 1)
}

// contexts cancels the caller's context while a task runs. All of the feature is that the task is given a context; a part,
// that it can capture one.
func contexts(t *testing.T, l *library) Answer {
	var cancelled atomic.Bool
	bubble(t, func() {
		ctx, cancel := context.WithCancelCause(ever)
		g := l.open(ctx, 2)
		g.Go(ctx, func(own context.Context) error {
			if own == none {
				return nil
			}
			<-own.Done()
			cancelled.Store(context.Cause(own) == errStop)
			return nil
		})
		synctest.Wait()
		cancel(errStop)
		g.Wait()
	})
	return grade(cancelled.Load(), strings.Contains(signature(l.submit), "func(context.Context)"))
}

// waitingForAll lets the first of 10 tasks fail while the others run. Afterwards others go on.
func waitingForAll(t *testing.T, l *library) Answer {
	left, again := 0, false
	bubble(t, func() {
		tasks, g := new(gauge), l.open(ever, 10)
		g.Go(ever, func(context.Context) error { time.Sleep(time.Second / 2); return errTask })
		for range 9 {
			g.Go(ever, plain(tasks.task))
		}
		g.Wait()
		_, left = tasks.counts()
		time.Sleep(time.Minute)
		panics(func() {
			next := g.fork(ever)
			next.Go(ever, plain(func() { again = true }))
			next.Wait()
		})
	})
	return grade(true, left == 0 && again)
}

// waitingForOne waits for the second of two tasks while the first one runs. All of the feature is that submitting a task
// returns something with a method Wait.
func waitingForOne(t *testing.T, l *library) Answer {
	if l.single == nil {
		return No
	}
	alone := false
	bubble(t, func() {
		submit, end := l.single(2)
		defer end()
		hold := make(chan struct{})
		a := submit(func() string { <-hold; return "" })
		b := submit(func() string { return "value" })
		alone = b() == "value"
		close(hold)
		a()
	})
	seen := gauged(t, func(tasks *gauge) {
		submit, end := l.single(2)
		defer end()
		var waits sync.WaitGroup
		for range 10 {
			waits.Go(func() { submit(func() string { tasks.task(); return "" })() })
		}
		waits.Wait()
	})
	submit, waits := reflect.TypeOf(l.value), false
	if submit.NumOut() > 0 {
		_, waits = submit.Out(0).MethodByName("Wait")
	}
	return grade(alone && seen.most == 2, waits) // or each has a limit of its own
}

func taskErrors(t *testing.T, l *library) Answer {
	var err error
	bubble(t, func() {
		g := l.open(ever, 1)
		g.Go(ever, func(context.Context) error { return errTask })
		err = g.Wait()
	})
	return grade(errors.Is(err, errTask), true)
}

// resizing changes a limit while a task runs, and counts how many more run concurrently.
func resizing(t *testing.T, l *library) Answer {
	resized := func(from, to int) int {
		return gauged(t, func(tasks *gauge) {
			g := l.open(ever, from)
			for range from {
				g.Go(ever, plain(func() { time.Sleep(time.Second / 2) }))
			}
			g.Go(ever, plain(func() { time.Sleep(2 * time.Second) }))
			synctest.Wait() // until that runs, and the others have ended
			n := 20
			if _, refused := panics(func() { g.Resize(to) }); refused { // also if there is none
				n = 0
			}
			tasks.run(g, n, 0)
		}).most
	}
	return grade(resized(1, 3) == 3, resized(10, 1) == 1)
}

func limit(t *testing.T, l *library) Answer {
	seen := gauged(t, func(tasks *gauge) { tasks.run(l.open(ever, 3), 20, 0) })
	return grade(seen.begun == 20, seen.most == 3)
}

// sharedLimit has two callers under one limit. All of the feature is that a caller waits for its own tasks, and holds no
// part of the limit after they have ended.
func sharedLimit(t *testing.T, l *library) Answer {
	seen := gauged(t, func(tasks *gauge) {
		a := l.open(ever, 3)
		b := a.fork(ever)
		if a == b {
			tasks.run(a, 20, 0)
			return
		}
		other := start(func() { tasks.run(b, 10, 0) })
		tasks.run(a, 10, 0)
		<-other
	})
	var waited, idle bool
	bubble(t, func() {
		a, hold := l.open(ever, 2), make(chan struct{})
		b := a.fork(ever)
		a.Go(ever, plain(func() { <-hold }))
		b.Go(ever, plain(func() {}))
		done := start(func() { b.Wait() })
		waited = isClosed(done)
		close(hold)
		a.Wait()
		<-done
	})
	bubble(t, func() {
		a := l.open(ever, 1)
		b := a.fork(ever)
		a.Go(ever, plain(func() {}))
		synctest.Wait() // until it has ended; nobody waits for it
		done := start(func() { b.Go(ever, plain(func() {})) })
		idle = isClosed(done)
		a.Wait()
		<-done
		b.Wait()
	})
	return grade(seen.most == 3 && seen.begun == 20, waited && idle)
}

// twoLimits runs tasks under limits of 1 and 3, of which the larger should hold for all.
func twoLimits(t *testing.T, l *library) Answer {
	most := func(n int) int {
		return gauged(t, func(tasks *gauge) {
			var small, large *group
			if _, refused := panics(func() { small, large = l.two(1, 3) }); refused {
				return
			}
			other := start(func() { tasks.run(large, n, 0) })
			tasks.run(small, 10, 0)
			<-other
		}).most
	}
	return grade(most(0) == 1 && most(10) == 3, true)
}

// nesting waits in tasks for tasks under the same limit. A part of the feature is that a task can itself run what Try
// refuses.
func nesting(t *testing.T, l *library) Answer {
	direct := func(limit int) bool {
		completed := false
		seen := gauged(t, func(tasks *gauge) {
			g := l.open(ever, limit)
			completed = returns(func() {
				for range 4 {
					g.Go(ever, func(ctx context.Context) error {
						tasks.run(g.fork(given(ctx)), 4, 0)
						return nil
					})
				}
				g.Wait()
			})
			g.kill()
		})
		return completed && seen.most == limit && seen.begun == 4*4
	}
	tried := func() bool {
		seen := gauged(t, func(tasks *gauge) {
			g, outer := l.tight(ever, 1), make(chan struct{})
			if g.Try == nil {
				return
			}
			g.Go(ever, plain(func() {
				defer close(outer)
				var inner sync.WaitGroup
				inner.Add(2)
				for range 2 {
					if f := func() { defer inner.Done(); tasks.task() }; !g.Try(plain(f)) {
						f()
					}
				}
				inner.Wait()
			}))
			<-outer
			g.Wait()
		})
		return seen.most == 1 && seen.begun == 2
	}
	all := direct(1) && direct(2)
	return grade(all || tried(), all)
}

// tasksFromTasks starts a task in a task that has the whole limit, or half of it.
func tasksFromTasks(t *testing.T, l *library) Answer {
	family := func(limit int) bool {
		var child atomic.Bool
		bubble(t, func() {
			g := l.open(ever, limit)
			g.Go(ever, func(ctx context.Context) error {
				g.Go(given(ctx), plain(func() { child.Store(true) }))
				return nil
			})
			synctest.Wait()
			if !child.Load() {
				g.kill()
				return
			}
			g.Wait()
		})
		return child.Load()
	}
	return grade(family(2), family(1))
}

// adaptiveLimit counts how many of 10,000 waiting tasks run concurrently if no limit is set. As many as there are processors
// suits tasks that compute.
func adaptiveLimit(t *testing.T, l *library) Answer {
	const n, processors = 10_000, 3
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	seen := gauged(t, func(tasks *gauge) { l.free(n, tasks.task) })
	return grade(1 < seen.most && seen.most < n, seen.most > 36 && seen.most <= 256) // 36 start before anything is known
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
	seen := gauged(t, func(tasks *gauge) { l.loop(1000, func(int, int) { tasks.task() }) })
	return grade(items.Load() == n && len(seen.ids) <= 100, calls.Load() <= n/100)
}

// fixedFunction counts allocations of a task. Without a fixed function, a task is a closure.
func fixedFunction(t *testing.T, l *library) Answer {
	var sum atomic.Int64
	return grade(allocations(func(n int) { l.fixed(n, func(i int) { sum.Add(int64(i)) }) }) == 0, true)
}

// firstErrorCancels lets the first of 10 tasks fail under limit 1.
func firstErrorCancels(t *testing.T, l *library) Answer {
	var began atomic.Int32
	var cancelled bool
	bubble(t, func() {
		g := l.open(ever, 1)
		var last context.Context
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
		cancelled = last != none && last.Err() != nil
	})
	return grade(began.Load() == 1 || cancelled, began.Load() == 1 && cancelled)
}

// allErrors lets two tasks fail. A part of the feature is that each of them can be waited for.
func allErrors(t *testing.T, l *library) Answer {
	var err error
	second := errors.New("second")
	bubble(t, func() {
		g := l.tolerant(ever, 2)
		g.Go(ever, func(context.Context) error { return errTask })
		g.Go(ever, func(context.Context) error { time.Sleep(time.Second); return second })
		err = g.Wait()
	})
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
func goexit(t *testing.T, l *library) Answer {
	var next, returned bool
	var err error
	bubble(t, func() {
		g := l.tolerant(ever, 1)
		g.Go(ever, plain(runtime.Goexit))
		synctest.Wait()
		ran := make(chan struct{})
		go g.Go(ever, plain(func() { close(ran) }))
		if next = isClosed(ran); next {
			returned = returns(func() { err = g.Wait() })
		}
		g.kill()
	})
	return grade(next, returned && err != nil)
}

// boundedQueue counts the tasks that are accepted while one runs. Without a queue, none is.
func boundedQueue(t *testing.T, l *library) Answer {
	const n = 10_000
	var accepted atomic.Int32
	most := int32(0)
	bubble(t, func() {
		g, hold := l.queue(ever, 1, 2), make(chan struct{})
		done := start(func() {
			for range n {
				g.Go(ever, plain(func() { <-hold }))
				accepted.Add(1)
			}
		})
		synctest.Wait()
		most = accepted.Load()
		close(hold)
		<-done
		g.Wait()
	})
	return grade(most < n, most == 1+2)
}

// givingUp ends a context while Go waits: that of the call, or that of the pool or group, which is a part of the feature.
func givingUp(t *testing.T, l *library) Answer {
	gives := func(ofCall bool) (gave bool) {
		bubble(t, func() {
			call, cancelCall := context.WithCancel(ever)
			all, cancelAll := context.WithCancel(ever)
			defer cancelAll()
			defer cancelCall()
			g, hold := l.queue(all, 1, 1), make(chan struct{})
			var waits chan struct{}
			for range 10 {
				waits = start(func() { g.Go(call, plain(func() { <-hold })) })
				if !isClosed(waits) {
					break
				}
			}
			if gave = !ofCall || !isClosed(waits); ofCall { // if it never waits, there is nothing to give up
				cancelCall()
			} else {
				cancelAll()
			}
			gave = isClosed(waits) && gave
			close(hold)
			<-waits
			g.Wait()
		})
		return gave
	}
	ofCall := gives(true)
	return grade(ofCall || gives(false), ofCall)
}

// try starts a task, and another one that would have to wait.
func try(t *testing.T, l *library) Answer {
	first, second := false, true
	bubble(t, func() {
		g, hold := l.tight(ever, 1), make(chan struct{})
		if g.Try != nil {
			synctest.Wait()
			first = g.Try(plain(func() { <-hold }))
			synctest.Wait()
			second = g.Try(plain(func() {}))
		}
		close(hold)
		g.Wait()
	})
	return grade(first && !second, true)
}

// pausing pauses for an hour while a task runs: by a limit of 0, if there is nothing else.
func pausing(t *testing.T, l *library) Answer {
	var paused, accepted, resumed bool
	bubble(t, func() {
		g := l.open(ever, 1)
		pause := g.Pause
		if pause == nil && g.Resize != nil {
			pause = func() func() { g.Resize(0); return func() { g.Resize(1) } }
		}
		g.Go(ever, plain(func() { time.Sleep(time.Second) }))
		var resume func()
		if _, refused := panics(func() { resume = pause() }); refused { // also if there is none
			g.Wait()
			return
		}
		tasks := new(gauge)
		submitted := start(func() { tasks.submit(g, 3, 0) })
		accepted = isClosed(submitted)
		time.Sleep(time.Hour)
		before, _ := tasks.counts()
		resume()
		<-submitted
		g.Wait()
		after, _ := tasks.counts()
		paused, resumed = before == 0, after == 3
	})
	return grade(paused && resumed, accepted)
}

// droppingTheQueue drops 9 tasks while one runs.
func droppingTheQueue(t *testing.T, l *library) Answer {
	left := 0
	seen := gauged(t, func(tasks *gauge) {
		ctx, cancel := context.WithCancel(ever)
		defer cancel()
		g := l.open(ctx, 1)
		submitted := start(func() { tasks.submit(g, 10, 0) })
		synctest.Wait()
		cancel()
		if g.Drop != nil {
			g.Drop()
		}
		<-submitted
		g.Wait()
		_, left = tasks.counts()
		time.Sleep(time.Minute) // tasks that were not dropped start
	})
	return grade(seen.begun == 1, left == 0)
}

func typedResults(_ *testing.T, l *library) Answer {
	return grade(results(l, func(int) {}, func(int) {}), true)
}

// resultsInOrder has five tasks, of which each waits for the next to end.
func resultsInOrder(_ *testing.T, l *library) Answer {
	ended := []chan bool{make(chan bool), make(chan bool), make(chan bool), make(chan bool), make(chan bool), make(chan bool)}
	close(ended[5])
	return grade(results(l, func(i int) { <-ended[i+1] }, func(i int) { close(ended[i]) }), true)
}

// results reports whether five tasks return their results, in order if they end in another one.
func results(l *library, begin, end func(int)) bool {
	if l.mapped == nil {
		return false
	}
	got := l.mapped(5, func(i int) string {
		begin(i)
		defer end(i)
		return fmt.Sprint(i)
	})
	return slices.Equal(got, []string{"0", "1", "2", "3", "4"})
}

// orderedStream counts the items that are read while the first of a thousand is held up.
func orderedStream(t *testing.T, l *library) Answer {
	if l.stream == nil {
		return No
	}
	answer, _ := child(t, "", func() Answer {
		const n = 1000
		var taken atomic.Int32
		var got []int
		ahead := n
		bubble(t, func() {
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
			ahead = int(taken.Load())
			close(hold)
			<-done
		})
		return grade(len(got) == n && slices.IsSorted(got), ahead < 100)
	})
	return answer
}

// batches sends four items, for batches of three: the first ones come at once, the last one after a minute.
func batches(t *testing.T, l *library) Answer {
	if l.batches == nil {
		return No
	}
	var got []string
	bubble(t, func() {
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
	})
	return grade(slices.Equal(got, []string{"[0 1 2] 0s", "[3] 1m0s"}), true)
}

// statistics has one task that runs and two that wait, and then none.
func statistics(t *testing.T, l *library) Answer {
	running, waiting, rest := -1, -1, -1
	bubble(t, func() {
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
	})
	return grade(waiting == 2, running == 1 && rest == 0)
}

// bubbles runs two tasks of an hour in one bubble after the other. A part of the feature is that some functions work in the
// first bubble only.
func bubbles(t *testing.T, l *library) Answer {
	works := func(run func(f func())) bool {
		for range 10 {
			took := time.Duration(0)
			ended := bubble(t, func() {
				began := time.Now()
				run(func() { time.Sleep(time.Hour) })
				took = time.Since(began)
			})
			if !ended || took != time.Hour {
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
func zeroValue(t *testing.T, l *library) Answer {
	ran, hollow := false, false
	l.zero(func() { ran = true })
	if l.hollow != nil {
		_, hollow = panics(l.hollow)
	}
	return grade(ran, !hollow)
}
