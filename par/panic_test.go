package par

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
)

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

// A panic leaves nested calls one by one: where it is raised again, its earlier stack is
// gone. Otherwise each panic would search the stacks of all before it for the next
// deferred function.
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
			func() {
				defer func() {
					if p, ok := recover().(*stint.PanicError); !ok || p.Value != "bottom" {
						t.Errorf("%s: panics with %v", u.name, p)
					}
				}()
				nest(deep)
			}()
			if levels.Load() != deep+1 || worst.Load() != 1 {
				t.Errorf("%s, GOMAXPROCS %d: %d panics on one stack, in %d calls", u.name, p, worst.Load(), levels.Load())
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
	func() {
		defer func() {
			if v := recover(); v != nil {
				t.Fatalf("GODEBUG has no effect: %v", v)
			}
		}()
		panic(nil)
	}()
	for _, p := range []int{1, 2, 8} {
		procs(t, p)
		for _, u := range users() {
			if how := ending(func() { u.call(func() { panic(nil) }) }); how != "panic of nil" {
				t.Errorf("%s, GOMAXPROCS %d: panic(nil) is a %s", u.name, p, how)
			}
			if how := ending(func() { u.call(runtime.Goexit) }); how != "Goexit" {
				t.Errorf("%s, GOMAXPROCS %d: Goexit is a %s", u.name, p, how)
			}
		}
	}
	for _, onCaller := range []bool{false, true} {
		procs(t, 2)
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
			t.Errorf("on the caller's goroutine: %v: a %s", onCaller, how)
		}
	}
}

// ending returns how f ends on a goroutine of its own.
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
			default:
				how = "panic of " + fmt.Sprint(p.Value)
				if _, ok := p.Value.(*runtime.PanicNilError); ok {
					how = "panic of nil"
				}
			}
		}()
		f()
		how = "return"
	}()
	<-done
	return how
}
