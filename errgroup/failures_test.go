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

// limits are the limits of the tests in this file.
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

func TestPanicReachesWait(t *testing.T) {
	for _, limit := range limits {
		g, ctx := errgroup.WithContext(context.Background())
		g.SetLimit(limit)
		g.Go(func() error { panic(errOne) })
		<-ctx.Done()
		for range 2 {
			p, _ := waited(g)
			if p == nil || p.Value != error(errOne) || !errors.Is(p, errOne) || context.Cause(ctx) != error(p) {
				t.Fatalf("limit %d: Wait panicked with %v, the cause is %v", limit, p, context.Cause(ctx))
			}
			if text := p.Error(); p.Also() != nil || !strings.HasPrefix(text, "errgroup: task panicked: one\n") || !strings.Contains(text, "TestPanicReachesWait") {
				t.Errorf("limit %d: the text lacks the task: %s", limit, text)
			}
		}
	}
}

// Tasks run after a failure, and each frees its slot under the limit however it ends.
func TestSlotsComeBack(t *testing.T) {
	for _, limit := range limits {
		var g errgroup.Group
		g.SetLimit(limit)
		var ran atomic.Int32
		ends := []func() error{func() error { panic("boom") }, func() error { runtime.Goexit(); return nil }, func() error { return errTwo }}
		for i := range 300 {
			g.Go(func() error { ran.Add(1); return ends[i%3]() })
		}
		waited(&g)
		release := make(chan struct{})
		if n := started(&g, release); ran.Load() != 300 || n != limit && (limit > 0 || n != 1000) {
			t.Errorf("limit %d: %d of 300 tasks ran, then %d were started", limit, ran.Load(), n)
		}
		close(release)
		waited(&g)
	}
}

// Cancelling the context calls code of the caller, without the lock of the group. It may use
// the group, and need not return.
func TestTheEndOfTheContextIsCodeOfTheCaller(t *testing.T) {
	fails, panics := func() error { return errOne }, func() error { panic("task") }
	for name, c := range map[string]struct {
		task func() error
		end  func(*errgroup.Group)
	}{
		"uses the group":       {fails, func(g *errgroup.Group) { g.TryGo(func() error { return nil }) }},
		"Goexit":               {fails, func(*errgroup.Group) { runtime.Goexit() }},
		"panic":                {fails, func(*errgroup.Group) { panic("at the end") }},
		"Goexit after a panic": {panics, func(*errgroup.Group) { runtime.Goexit() }},
	} {
		parent := &watched{Context: context.Background(), done: make(chan struct{})}
		g, _ := errgroup.WithContext(parent)
		g.SetLimit(1)
		told := 0
		parent.stopped = func() {
			if told++; told == 1 { // in the task, and not in Wait
				c.end(g)
			}
		}
		g.Go(c.task)
		if p, err := waited(g); told == 0 || p == nil && err == nil {
			t.Errorf("%s: told %d times; Wait panicked with %v, returned %v", name, told, p, err)
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
