package errgroup_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/errgroup"
)

// limits are the limits of the tests in this file: tasks reach workers in different ways.
var limits = []int{-1, 1, 2, 100}

// waited returns what Wait panicked with or returned.
func waited(g *errgroup.Group) (p *stint.PanicError, err error) {
	defer func() {
		if v := recover(); v != nil {
			p = v.(*stint.PanicError)
		}
	}()
	return nil, g.Wait()
}

// Also has the errors of other tasks, except those of tasks that a panic has cancelled. In a
// group that does not cancel, context.Canceled is an error like any other.
func TestAlsoIsWhatElseWentWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, ctx := errgroup.WithContext(context.Background())
		for i, late := range []func() error{
			func() error { return context.Cause(ctx) },
			func() error { return ctx.Err() },
			func() error { return fmt.Errorf("wrapped: %w", context.Cause(ctx)) },
			func() error { return errOne },
			func() error { return context.Cause(ctx) },
		} {
			g.Go(func() error {
				<-ctx.Done()
				time.Sleep(time.Duration(i) * time.Second)
				return late()
			})
		}
		g.Go(func() error { panic("boom") })
		p, _ := waited(g)
		also, ok := p.Also().(interface{ Unwrap() []error })
		if !ok || len(also.Unwrap()) != 1 || also.Unwrap()[0] != errOne {
			t.Errorf("besides: %v, want the task's own error alone", p.Also())
		}
		if n := strings.Count(p.Error(), "panicked: boom"); n != 1 {
			t.Errorf("the text has the panic %d times", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var g errgroup.Group
		g.Go(func() error { panic("boom") })
		synctest.Wait()
		g.Go(func() error { return context.Canceled })
		if p, _ := waited(&g); !errors.Is(p.Also(), context.Canceled) {
			t.Errorf("besides: %v", p.Also())
		}
	})
}

// A panic(nil) is a panic even if GODEBUG makes recover return nil for it.
func TestPanicOfNil(t *testing.T) {
	t.Setenv("GODEBUG", "panicnil=1")
	for _, limit := range limits {
		var g errgroup.Group
		g.SetLimit(limit)
		g.Go(func() error { panic(nil) })
		p, err := waited(&g)
		if p == nil {
			t.Fatalf("limit %d: Wait returned %v", limit, err)
		}
		if _, ok := p.Value.(*runtime.PanicNilError); !ok {
			t.Errorf("limit %d: the value is a %T", limit, p.Value)
		}
	}
}

func TestPanicReachesWait(t *testing.T) {
	for _, limit := range limits {
		g, ctx := errgroup.WithContext(context.Background())
		g.SetLimit(limit)
		var ran atomic.Int32
		for i := range 10 {
			g.Go(func() error {
				ran.Add(1)
				if i == 4 {
					panic(errOne)
				}
				return nil
			})
		}
		<-ctx.Done()
		for range 2 {
			p, _ := waited(g)
			if p == nil || p.Value != error(errOne) || !errors.Is(p, errOne) {
				t.Fatalf("limit %d: Wait panicked with %v", limit, p)
			}
			if !strings.Contains(string(p.Stack), "TestPanicReachesWait") {
				t.Errorf("limit %d: the stack does not name the task:\n%s", limit, p.Stack)
			}
			if p.Also() != nil || !strings.HasPrefix(p.Error(), "errgroup: task panicked: one\n") {
				t.Errorf("limit %d: %v", limit, p)
			}
			if context.Cause(ctx) != error(p) {
				t.Errorf("limit %d: the cause is %v", limit, context.Cause(ctx))
			}
		}
		if n := ran.Load(); n != 10 {
			t.Errorf("limit %d: %d of 10 tasks ran", limit, n)
		}
	}
}

func TestPanicBesideErrorsAndPanics(t *testing.T) {
	for _, limit := range limits {
		var g errgroup.Group
		g.SetLimit(limit)
		g.Go(func() error { return errOne })
		waited(&g)
		g.Go(func() error { panic("first") })
		waited(&g)
		for i := range 10 {
			g.Go(func() error { panic(i) })
		}
		g.Go(func() error { return errTwo })
		p, _ := waited(&g)
		if p == nil || p.Value != "first" || !errors.Is(p.Also(), errOne) || errors.Is(p.Also(), errTwo) {
			t.Fatalf("limit %d: Wait panicked with %v", limit, p)
		}
		if want := "tasks that panicked besides: 10"; !strings.Contains(p.Error(), want) {
			t.Errorf("limit %d: %v\nhas no %q", limit, p, want)
		}
	}
}

func TestNestedPanicIsRaisedAsItIs(t *testing.T) {
	var inner, outer errgroup.Group
	inner.Go(func() error { panic("deep") })
	outer.Go(inner.Wait)
	p, _ := waited(&outer)
	if q, _ := waited(&inner); p == nil || p != q {
		t.Errorf("outer panicked with %v, inner with %v", p, q)
	}
}

func TestGoexitIsAnError(t *testing.T) {
	for _, limit := range limits {
		g, ctx := errgroup.WithContext(context.Background())
		g.SetLimit(limit)
		var ran atomic.Int32
		for range 50 {
			g.Go(func() error {
				ran.Add(1)
				runtime.Goexit()
				return nil
			})
		}
		if err := g.Wait(); err != stint.ErrGoexit || context.Cause(ctx) != stint.ErrGoexit {
			t.Errorf("limit %d: Wait returned %v, the cause is %v", limit, err, context.Cause(ctx))
		}
		if n := ran.Load(); n != 50 {
			t.Errorf("limit %d: %d of 50 tasks ran", limit, n)
		}
	}
}

// A panic and a Goexit free their slots under the limit.
func TestSlotsComeBack(t *testing.T) {
	for _, limit := range limits {
		synctest.Test(t, func(t *testing.T) {
			var g errgroup.Group
			g.SetLimit(limit)
			for i := range 300 {
				g.Go(func() error {
					switch i % 3 {
					case 0:
						panic(i)
					case 1:
						runtime.Goexit()
					}
					return errTwo
				})
			}
			waited(&g)
			release := make(chan struct{})
			for range max(limit, 1) {
				if !g.TryGo(func() error { <-release; return nil }) {
					t.Errorf("limit %d: a slot is lost", limit)
				}
			}
			if limit > 0 && g.TryGo(func() error { return nil }) {
				t.Errorf("limit %d: one slot too many", limit)
			}
			close(release)
			waited(&g)
		})
	}
}

// The context is cancelled without the lock of the group: code that this calls may use the
// group.
func TestTheEndOfTheContextMayUseTheGroup(t *testing.T) {
	for _, limit := range limits {
		told := false
		parent := &watched{Context: context.Background(), done: make(chan struct{})}
		g, _ := errgroup.WithContext(parent)
		g.SetLimit(limit)
		parent.stopped = func() {
			told = true
			if started := g.TryGo(func() error { return nil }); started != (limit != 1) {
				t.Errorf("limit %d: TryGo returned %v", limit, started)
			}
		}
		g.Go(func() error { return errOne })
		if err := g.Wait(); err != errOne || !told {
			t.Errorf("limit %d: Wait returned %v; told of the end: %v", limit, err, told)
		}
	}
}

// watched is a context that never ends, and is not of package context.
// It calls stopped when a context derived from it has ended.
type watched struct {
	context.Context
	done    chan struct{}
	stopped func()
}

func (w *watched) Done() <-chan struct{} { return w.done }

func (w *watched) AfterFunc(func()) (stop func() bool) {
	return func() bool { w.stopped(); return true }
}

// A Goexit ends the goroutine even if a deferred function panics.
func TestGoexitAndPanic(t *testing.T) {
	for _, limit := range limits {
		var g errgroup.Group
		g.SetLimit(limit)
		var ran atomic.Int32
		for range 10 {
			g.Go(func() error {
				ran.Add(1)
				defer func() { panic("on the way out") }()
				runtime.Goexit()
				return nil
			})
		}
		if p, _ := waited(&g); p == nil || p.Value != "on the way out" {
			t.Errorf("limit %d: Wait panicked with %v", limit, p)
		}
		if n := ran.Load(); n != 10 {
			t.Errorf("limit %d: %d of 10 tasks ran", limit, n)
		}
	}
}

// Cancelling the context may call code that does not return.
func TestTheEndOfTheContextMayNotReturn(t *testing.T) {
	fails, panics := func() error { return errOne }, func() error { panic("task") }
	for _, c := range []struct {
		task func() error
		end  func()
	}{
		{fails, runtime.Goexit},
		{fails, func() { panic("at the end") }},
		{panics, runtime.Goexit},
	} {
		parent := &watched{Context: context.Background(), done: make(chan struct{})}
		g, _ := errgroup.WithContext(parent)
		told := 0
		parent.stopped = func() {
			if told++; told == 1 { // in the task, and not in Wait
				c.end()
			}
		}
		g.Go(c.task)
		if p, err := waited(g); told == 0 || p == nil && err == nil {
			t.Errorf("told %d times; Wait panicked with %v, returned %v", told, p, err)
		}
	}
}
