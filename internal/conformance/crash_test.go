package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stint-go/stint"
)

// childVar is set in the environment of a child.
const childVar = "STINT_TEST_CHILD"

// isChild reports whether this process is one that child started.
func isChild() bool { return os.Getenv(childVar) != "" }

// child runs the calling test in a process of its own, where isChild is true,
// and returns what it prints and whether it fails.
func child(t *testing.T) (output string, failed bool) {
	t.Helper()
	pattern := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	c := exec.Command(os.Args[0], "-test.run", pattern, "-test.count=1")
	c.Env = append(os.Environ(), childVar+"=1", "GORACE=atexit_sleep_ms=0", "GOTRACEBACK=single")
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), err != nil
}

// crashes runs f in a child. It must crash with a panic of explode("boom"), and
// before f has returned.
func crashes(t *testing.T, f func()) {
	t.Helper()
	if isChild() {
		f()
		fmt.Println("went on")
		return
	}
	output, failed := child(t)
	if !failed || !strings.Contains(output, "panic: boom") || !strings.Contains(output, "conformance_test.explode(") || strings.Contains(output, "went on") {
		t.Errorf("want a crash with the panic and the stack of the task, before anything returns; got:\n%s", output)
	}
}

// 8: a panic of a task that nobody waits for is not swallowed. Fails: pond v2.7.1
// (Go). 6: the crash shows the value and the stack of the task. Fails: mr.
func TestPanicOfAPoolCrashes(t *testing.T) {
	boom := func(context.Context) { explode("boom") }
	p := stint.NewPool(stint.Limit(1))
	for name, start := range map[string]func(){
		"Go":        func() { p.Go(boom) },
		"TryGo":     func() { _ = p.TryGo(boom) },
		"GoContext": func() { p.GoContext(bg, boom) },
		"second":    func() { p.Go(func(context.Context) {}); p.Go(boom) },
	} {
		t.Run(name, func(t *testing.T) { crashes(t, func() { start(); p.Close() }) })
	}
	t.Run("nested", func(t *testing.T) {
		if isChild() {
			p.Go(func(ctx context.Context) {
				stint.Range(ctx, 1, func(context.Context, int) error { explode("boom"); return nil })
			})
			p.Close()
			return
		}
		output, failed := child(t)
		if !failed || !strings.Contains(output, "stint: task panicked: boom") || !strings.Contains(output, "conformance_test.explode(") {
			t.Error(output)
		}
	})
}

// A panic(nil) is a panic even if GODEBUG makes recover return nil for it: it is raised
// again, goes to OnPanic's function, or crashes without one.
func TestPanicOfNil(t *testing.T) {
	t.Setenv("GODEBUG", "panicnil=1")
	everywhere(t, 2, func(t *testing.T, run run) {
		for _, keep := range [][]stint.Option{nil, {stint.KeepGoing()}} {
			v := recovered(func() {
				run(bg, 10, func(context.Context, int) error { panic(nil) }, keep...)
			})
			p, ok := v.(*stint.PanicError)
			if !ok {
				t.Fatalf("recovered %v, want a *stint.PanicError", v)
			}
			if _, ok := p.Value.(*runtime.PanicNilError); !ok || len(p.Stack) == 0 {
				t.Errorf("the value is a %T with %d bytes of stack", p.Value, len(p.Stack))
			}
		}
	})
	var told []*stint.PanicError
	p := stint.NewPool(stint.Limit(1), stint.OnPanic(func(e *stint.PanicError) { told = append(told, e) }))
	p.Go(func(context.Context) { panic(nil) })
	p.Go(func(context.Context) { runtime.Goexit() })
	p.Close()
	equal(t, "panics that the hook was told", len(told), 1)
	t.Run("crash", func(t *testing.T) {
		if isChild() {
			p := stint.NewPool()
			p.Go(func(context.Context) { panic(nil) })
			p.Close()
			fmt.Println("went on")
			return
		}
		if output, failed := child(t); !failed || !strings.Contains(output, "PanicNilError") && !strings.Contains(output, "nil argument") || strings.Contains(output, "went on") {
			t.Errorf("want a crash; got:\n%s", output)
		}
	})
}

// 9: a panic of the function given to OnPanic crashes.
// Fails: ants v2.12.1 (reading).
func TestPanicOfTheHookCrashes(t *testing.T) {
	crashes(t, func() {
		p := stint.NewPool(stint.OnPanic(func(e *stint.PanicError) { explode(e.Value) }))
		p.Go(func(context.Context) { panic("boom") })
		p.Close()
	})
}

// 10: nothing returns between the panic and the crash. Fails: errgroup v0.24.0.
func TestNothingReturnsBeforeTheCrash(t *testing.T) {
	for name, wait := range waitsForPool {
		t.Run(name, func(t *testing.T) { crashes(t, func() { panicAmongMany(wait) }) })
	}
}

func panicAmongMany(wait func(*stint.Pool)) {
	p := stint.NewPool(stint.Limit(2))
	for range 100 {
		p.Go(func(context.Context) {})
	}
	p.Go(func(context.Context) { explode("boom") })
	wait(p)
}

// waitsForPool are the methods that wait for the tasks of a pool.
var waitsForPool = map[string]func(*stint.Pool){
	"Close":    (*stint.Pool).Close,
	"Idle":     func(p *stint.Pool) { p.Idle(bg) },
	"Shutdown": func(p *stint.Pool) { p.Shutdown(bg) },
}

// A pool's own task that a submitter runs, because the queue is full, crashes too: the
// submitter does not recover its panic.
func TestPanicIsNotTheSubmitters(t *testing.T) {
	submit := func(ctx context.Context, p *stint.Pool) {
		defer func() { recover() }()
		p.GoContext(ctx, func(context.Context) { explode("boom") })
		p.GoContext(ctx, func(context.Context) {})
	}
	for name, run := range map[string]func(p *stint.Pool){
		"direct=true": func(p *stint.Pool) { p.Go(func(ctx context.Context) { submit(ctx, p) }); p.Idle(bg) },
		"direct=false": func(p *stint.Pool) {
			g := stint.NewGroup(bg, p)
			g.Go(func(ctx context.Context) error { submit(ctx, p); return nil })
			g.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) { crashes(t, func() { run(stint.NewPool(stint.Limit(1), stint.Queue(1))) }) })
	}
}
