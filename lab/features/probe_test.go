package features_test

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"os/exec"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The demonstrations use these functions. Most run in a bubble, where time is
// virtual and it is known when everything waits.

// errTask and errStop are the errors of a task and of a caller that gives up.
var (
	errTask = errors.New("task failed")
	errStop = errors.New("stop")
)

// explode panics; the panic's stack shows its name.
func explode() { panic("boom") }

// want reports a difference.
func want[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// atOnce returns the largest number of concurrent tasks. A task takes a second.
func atOnce(t *testing.T, run func(task func())) int {
	var mu sync.Mutex
	var now, most int
	count := func(d int) {
		mu.Lock()
		defer mu.Unlock()
		now += d
		most = max(most, now)
	}
	synctest.Test(t, func(*testing.T) {
		run(func() {
			count(1)
			time.Sleep(time.Second)
			count(-1)
		})
	})
	return most
}

// goroutines returns how many goroutines ran the tasks. A task takes a second.
func goroutines(t *testing.T, run func(task func())) int {
	var ids sync.Map
	synctest.Test(t, func(*testing.T) {
		run(func() {
			ids.Store(strings.Fields(string(debug.Stack()))[1], true)
			time.Sleep(time.Second)
		})
	})
	n := 0
	for range ids.Range {
		n++
	}
	return n
}

// begun returns how many tasks started. The first of them fails.
func begun(t *testing.T, run func(task func() error)) int {
	var n atomic.Int32
	synctest.Test(t, func(*testing.T) {
		run(func() error {
			if n.Add(1) == 1 {
				return errTask
			}
			return nil
		})
	})
	return int(n.Load())
}

// left returns how many tasks still ran when run returned. The first of them
// fails after a second, the others take two.
func left(t *testing.T, run func(task func() error)) int {
	var begun, running atomic.Int32
	var n int32
	synctest.Test(t, func(*testing.T) {
		run(func() error {
			running.Add(1)
			defer running.Add(-1)
			first := begun.Add(1) == 1
			time.Sleep(time.Second)
			if first {
				return errTask
			}
			time.Sleep(time.Second)
			return nil
		})
		n = running.Load()
		time.Sleep(time.Minute) // the bubble must not end before them
	})
	return int(n)
}

// stopped returns how many tasks started, and how many still ran when run
// returned. A task takes a second.
func stopped(t *testing.T, run func(task func())) (begun, running int) {
	var began, now atomic.Int32
	synctest.Test(t, func(*testing.T) {
		run(func() {
			began.Add(1)
			now.Add(1)
			defer now.Add(-1)
			time.Sleep(time.Second)
		})
		running = int(now.Load())
		time.Sleep(time.Minute) // tasks that were not dropped start
	})
	return int(began.Load()), running
}

// accepted returns how often took was called before any task finished.
func accepted(t *testing.T, run func(task, took func())) int {
	var calls atomic.Int32
	var n int32
	synctest.Test(t, func(*testing.T) {
		hold, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			run(func() { <-hold }, func() { calls.Add(1) })
		}()
		synctest.Wait()
		n = calls.Load()
		close(hold)
		<-done
	})
	return int(n)
}

// backwards returns a function for indexes below n that returns for larger
// indexes first.
func backwards(n int) func(i int) int {
	ended := make([]chan struct{}, n+1)
	for i := range ended {
		ended[i] = make(chan struct{})
	}
	close(ended[n])
	return func(i int) int {
		<-ended[i+1]
		defer close(ended[i])
		return i
	}
}

// ordered fails unless emit is called with the results of f for all of a
// thousand items, in order, and fewer than a hundred items are read while f
// blocks on the first.
func ordered(t *testing.T, run func(items iter.Seq[int], f func(int) int, emit func(int))) {
	const n = 1000
	var taken atomic.Int32
	var got []int
	synctest.Test(t, func(t *testing.T) {
		hold, done := make(chan struct{}), make(chan struct{})
		items := func(yield func(int) bool) {
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
		go func() {
			defer close(done)
			run(items, f, func(i int) { got = append(got, i) })
		}()
		synctest.Wait()
		if ahead := taken.Load(); ahead >= 100 {
			t.Errorf("%d items were taken ahead", ahead)
		}
		close(hold)
		<-done
	})
	want(t, "results", len(got), n)
	want(t, "in order", slices.IsSorted(got), true)
}

// batched fails unless emit is called with three items as soon as they arrive,
// and with the fourth after a minute without another.
func batched(t *testing.T, run func(items <-chan int, size int, linger time.Duration, emit func([]int))) {
	type batch struct {
		Items []int
		After time.Duration
	}
	synctest.Test(t, func(t *testing.T) {
		items, done := make(chan int), make(chan struct{})
		var got []batch
		start := time.Now()
		go func() {
			defer close(done)
			run(items, 3, time.Minute, func(b []int) {
				got = append(got, batch{slices.Clone(b), time.Since(start).Round(time.Second)})
			})
		}()
		for i := range 4 {
			items <- i
		}
		time.Sleep(time.Hour)
		close(items)
		<-done
		want(t, "batches", got, []batch{{[]int{0, 1, 2}, 0}, {[]int{3}, time.Minute}})
	})
}

// allocations returns the allocations per task of run.
func allocations(run func(n int)) int {
	const n = 10_000 // enough that what is in flight at first does not count
	least := math.Inf(1)
	for range 5 { // others also allocate
		least = min(least, testing.AllocsPerRun(1, func() { run(n) }))
	}
	return int(least / n)
}

// bubbles runs run in one bubble after the other. A task takes an hour, and so
// must run.
func bubbles(t *testing.T, run func(task func())) {
	for range 10 {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			run(func() { time.Sleep(time.Hour) })
			want(t, "time", time.Since(start), time.Hour)
		})
	}
}

// deadlocks fails unless everything that f has started blocks for ever.
func deadlocks(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if v := fmt.Sprint(recover()); !strings.HasPrefix(v, "deadlock:") {
			t.Errorf("ended with %s, want a deadlock", v)
		}
	}()
	synctest.Test(t, func(*testing.T) { f() })
}

// panics returns the value that f panics with, or nil.
func panics(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// contains reports an error unless text contains part.
func contains(t testing.TB, text any, part string) {
	t.Helper()
	if s := fmt.Sprint(text); !strings.Contains(s, part) {
		t.Errorf("got %s, want %q in it", s, part)
	}
}

// closed reports whether c is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// methods fails unless these are the exported methods of T. A new method may be
// the missing feature.
func methods[T any](t *testing.T, names ...string) {
	t.Helper()
	var got []string
	for m := range reflect.TypeFor[T]().Methods() {
		got = append(got, m.Name)
	}
	slices.Sort(names)
	want(t, "methods", got, names)
}

// signature returns the type of a function. A method's starts with its
// receiver.
func signature(f any) string { return reflect.TypeOf(f).String() }

// childVar is set in the environment of a child.
const childVar = "LAB_FEATURES_CHILD"

// child runs the calling test in its own process and returns its output.
func child(t *testing.T) (output string, failed bool) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.count=1", "-test.timeout=1m")
	c.Env = append(os.Environ(), childVar+"=1", "GORACE=atexit_sleep_ms=0")
	out, err := c.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), err != nil
}

// crashes runs f in its own process, and fails unless that crashes with text in
// its output.
func crashes(t *testing.T, text string, f func()) {
	t.Helper()
	if os.Getenv(childVar) != "" {
		f()
		time.Sleep(time.Second) // f may return before the process ends
		return
	}
	output, failed := child(t)
	if !failed || !strings.Contains(output, text) {
		t.Errorf("want a crash with %q; got:\n%s", text, output)
	}
}

// alone runs f in its own process: packages that keep channels between bubbles
// would disturb other tests.
func alone(t *testing.T, f func()) {
	t.Helper()
	if os.Getenv(childVar) != "" {
		f()
		return
	}
	if output, failed := child(t); failed {
		t.Errorf("in a process of its own:\n%s", output)
	}
}
