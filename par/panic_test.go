package par

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/internal/race"
)

func bang(v any) { panic(v) }

// ending returns how f ends on a goroutine of its own: "return", "Goexit", or "panic of" a value.
func ending(f func()) (how string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		how = "Goexit"
		defer func() {
			switch p, ok := recover().(*stint.PanicError); {
			case !ok:
			case len(p.Stack) == 0:
				how = "panic without a stack"
			case errors.As(p, new(*runtime.PanicNilError)):
				how = "panic of nil"
			default:
				how = fmt.Sprint("panic of ", p.Value)
			}
		}()
		f()
		how = "return"
	}()
	<-done
	return how
}

// A panic and a Goexit reach the caller when all other calls have returned, at every place
// and number of items; so they do in loops that are split for the race detector.
func TestPanicAndGoexitReachTheCaller(t *testing.T) {
	boom := errors.New("boom")
	ends := map[string]func(){"panic of boom": func() { bang(boom) }, "Goexit": runtime.Goexit}
	check := func(t *testing.T, d entryPoint, n, at int) {
		for want, end := range ends {
			before := runtime.NumGoroutine()
			var running, started atomic.Int32
			how := ending(func() {
				d.loop(n, func(i int) {
					running.Add(1)
					defer running.Add(-1)
					started.Add(1)
					if i == at {
						end()
					}
					runtime.Gosched()
				})
			})
			if how != want || running.Load() != 0 || int(started.Load()) > n {
				t.Errorf("n = %d, at %d: %v, want %v; %d calls run, %d started", n, at, how, want, running.Load(), started.Load())
			}
			goroutinesEnd(t, before)
		}
	}
	defer func() { splits = false }()
	each(t, func(t *testing.T, d entryPoint) {
		for _, splits = range []bool{false, race.Enabled} {
			for _, n := range []int{1, 2, 17, 200, 5000} {
				check(t, d, n, 0)
				check(t, d, n, n/2)
				check(t, d, n, n-1)
			}
		}
	})
}

// The first panic is raised, with the stack of its call, and its Also has the others.
func TestSeveralPanics(t *testing.T) {
	procs(t, 2)
	var both sync.WaitGroup
	both.Add(2)
	defer func() {
		p := recover().(*stint.PanicError)
		other := p.Also()
		if other == nil || p.Value == nil || !strings.Contains(string(p.Stack), "bang") || !strings.Contains(p.Error(), "and in the same call") {
			t.Errorf("got %v, and %v", p.Value, other)
		}
	}()
	Each([]int{1, 2}, func(v *int) { // few, so both at once
		both.Done()
		both.Wait()
		bang(*v)
	})
}

// A panic is raised also when another call has ended its goroutine.
func TestPanicBesideGoexit(t *testing.T) {
	procs(t, 2)
	beside := func() {
		var both sync.WaitGroup
		both.Add(2)
		Each([]int{0, 1}, func(v *int) {
			both.Done()
			both.Wait()
			if *v == 0 {
				runtime.Goexit()
			}
			panic("x")
		})
	}
	for name, f := range map[string]func(){
		"in a loop":          beside,
		"in a loop in loops": func() { Each([]int{0}, func(*int) { Each([]int{0}, func(*int) { beside() }) }) },
	} {
		if how := ending(f); how != "panic of x" {
			t.Errorf("%s: %v", name, how)
		}
	}
}

// A user is a call of this package with a function f in it, which is called once or more.
type user struct {
	name string
	call func(f func())
}

// users has every function that can be given, in each way in which it is called.
func users() []user {
	us := []user{
		{"zero of Reduce", func(f func()) {
			Reduce(numbers(0), func() int { f(); return 0 }, func(a, _ int) int { return a }, func(a, _ int) int { return a })
		}},
		{"merge of Reduce", func(f func()) {
			Reduce(numbers(2), func() int { return 0 }, func(a, _ int) int { return a }, func(a, _ int) int { f(); return a })
		}},
		{"new of RangeWith", func(f func()) { RangeWith(4, func() int { f(); return 0 }, func(_, _, _ int) {}) }},
	}
	for _, d := range entryPoints {
		for _, n := range []int{1, 2, 300} {
			us = append(us, user{fmt.Sprint(d.name, " of ", n), func(f func()) { d.loop(n, func(int) { f() }) }})
		}
	}
	for _, n := range []int{2, 100, 1000, 2 * grain} {
		us = append(us, user{fmt.Sprint("SortFunc of ", n), func(f func()) {
			SortFunc(numbers(n), func(a, b int) int { f(); return b - a })
		}})
		for _, shape := range []string{"random", "appended"} {
			us = append(us, user{fmt.Sprint("SortStableFunc of ", n, " ", shape), func(f func()) {
				SortStableFunc(keysOf(shape, n), func(a, b int) int { f(); return a - b })
			}})
		}
	}
	return us
}

// A panic leaves nested calls one by one, and is not wrapped again: where it is raised again,
// its earlier stack is gone. Otherwise each panic would search the stacks of all before it for
// the next deferred function.
func TestPanicsDoNotPileUp(t *testing.T) {
	const deep = 10
	for _, p := range []int{1, 2, 8} {
		procs(t, p)
		for _, u := range users() {
			var worst, levels atomic.Int32
			var nest func(d int)
			nest = func(d int) {
				defer func() {
					levels.Add(1)
					worst.Store(max(worst.Load(), panics()))
				}()
				if d == 0 {
					panic("bottom")
				}
				var once sync.Once
				u.call(func() { once.Do(func() { nest(d - 1) }) })
			}
			if how := ending(func() { nest(deep) }); how != "panic of bottom" || levels.Load() != deep+1 || worst.Load() != 1 {
				t.Errorf("%s, GOMAXPROCS %d: %v; %d panics on one stack, in %d calls", u.name, p, how, worst.Load(), levels.Load())
			}
		}
	}
}

// panics returns how many panics are on the stack.
func panics() (n int32) {
	pcs := make([]uintptr, 10_000)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		f, more := frames.Next()
		if f.Function == "runtime.gopanic" {
			n++
		}
		if !more {
			return n
		}
	}
}

// Where recover returns nil for panic(nil), it is told from a Goexit, in whichever
// function and on whichever goroutine.
func TestPanicNil(t *testing.T) {
	t.Setenv("GODEBUG", os.Getenv("GODEBUG")+",panicnil=1")
	for _, p := range []int{1, 2, 8} {
		procs(t, p)
		for _, u := range users() {
			if how := ending(func() { u.call(func() { panic(nil) }) }); how != "panic of nil" {
				t.Errorf("%s, GOMAXPROCS %d: panic(nil) is a %v", u.name, p, how)
			}
			if how := ending(func() { u.call(runtime.Goexit) }); how != "Goexit" {
				t.Errorf("%s, GOMAXPROCS %d: Goexit is a %v", u.name, p, how)
			}
		}
	}
	procs(t, 2)
	for _, onCaller := range []bool{false, true} {
		how := ending(func() {
			caller := goroutine.ID()
			var both sync.WaitGroup
			both.Add(2)
			Each(numbers(2), func(*int) {
				both.Done()
				both.Wait()
				if (goroutine.ID() == caller) == onCaller {
					panic(nil)
				}
			})
		})
		if how != "panic of nil" {
			t.Errorf("on the caller's goroutine: %v: a %v", onCaller, how)
		}
	}
}
