package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

func TestPanicsReachTheWaiter(t *testing.T) {
	t.Run("entry points", func(t *testing.T) { everywhere(t, 3, panicReaches) })
	t.Run("nested", func(t *testing.T) { pairs(t, entryPoints, samePanic) })
	t.Run("Wait again", func(t *testing.T) {
		g := stint.NewGroup(bg)
		g.Go(func(context.Context) error { explode("boom"); return nil })
		first := recovered(func() { g.Wait() })
		equal(t, "the same panic", recovered(func() { g.Wait() }), first)
	})
	bubble(t, "OnPanic", func(t *testing.T) {
		var caught []*stint.PanicError
		var p *stint.Pool
		p = stint.NewPool(stint.Limit(1), stint.OnPanic(func(e *stint.PanicError) {
			equal(t, "running inside OnPanic", p.Stats().Running, 1)
			caught = append(caught, e)
		}))
		p.Go(func(context.Context) { explode(errBoom) })
		ran := false
		p.Go(func(context.Context) { ran = true })
		p.Close()
		if len(caught) != 1 || !errors.Is(caught[0], errBoom) || !strings.Contains(caught[0].Error(), "conformance_test.explode") || !ran {
			t.Errorf("caught %v, the next task ran: %v", caught, ran)
		}
	})
	t.Run("Pool.Go", TestPanicOfAPoolCrashes)
}

// samePanic raises a panic through two calls: it stays the first one, whatever it goes through.
func samePanic(t *testing.T, outer, inner entryPoint) {
	l := stint.Limit(1)
	var first any
	p := raises(t, "boom", func() {
		outer.run(bg, 1, func(ctx context.Context, _ int) error {
			defer func() {
				first = recover()
				panic(first)
			}()
			return inner.run(ctx, 1, func(context.Context, int) error { explode("boom"); return nil }, l)
		}, l)
	})
	equal(t, "recovered within", first, any(p))
}

// panicReaches has a task panic while two others are slow to notice it.
func panicReaches(t *testing.T, run run) {
	var g gauge
	start := time.Now()
	p := raises(t, errBoom, func() {
		run(bg, 1000, func(ctx context.Context, i int) error {
			if i == 1 {
				time.Sleep(time.Second)
				explode(errBoom)
			}
			g.Enter()
			defer g.Leave()
			<-ctx.Done()
			time.Sleep(time.Second)
			return ctx.Err()
		})
	})
	g.Is(t, 0, 2, 2)
	took(t, start, 2*time.Second)
	equal(t, "errors.Is", errors.Is(p, errBoom), true)
	equal(t, "the function in the stack", strings.Contains(string(p.Stack), "conformance_test.explode"), true)
	equal(t, "the stack in the text", strings.Contains(p.Error(), string(p.Stack)), true)
	equal(t, "others", p.Also(), nil) // the cancelled ones are a consequence
}

// explode is a function whose name must be in the stack of its panic.
func explode(v any) { panic(v) }

// 7: of two panics and three errors nothing is lost. Fails: conc v0.3.0 (the
// second panic and all errors).
func TestPanicsAndErrorsAreAllKept(t *testing.T) {
	everywhere(t, 5, func(t *testing.T, run run) {
		if !isFirst(t) { // where e0 is a result, which a panic replaces
			allKept(t, run)
		}
		if !strings.Contains(t.Name(), "Seq/") && !strings.Contains(t.Name(), "Unordered") && !strings.Contains(t.Name(), "MapKey") {
			allKept(t, run, stint.KeepGoing()) // a sequence has yielded the errors when the panic comes
		}
	})
}

func allKept(t *testing.T, run run, opts ...stint.Option) {
	errs := []error{errors.New("e0"), errors.New("e1"), errors.New("e2"), errors.New("p3"), errors.New("p4")}
	p := raises(t, errs[3], func() {
		run(bg, 5, func(_ context.Context, i int) error {
			time.Sleep(time.Duration(i+1) * time.Second) // all begin, and what is cancelled goes on
			if i > 2 {
				panic(errs[i])
			}
			return errs[i]
		}, opts...)
	})
	for i, e := range errs {
		equal(t, e.Error()+" in the text", strings.Contains(p.Error(), e.Error()), true)
		equal(t, e.Error()+" in Also", errors.Is(p.Also(), e), i != 3)
	}
	var other *stint.PanicError
	if !errors.As(p.Also(), &other) || other.Value != any(errs[4]) {
		t.Errorf("the second panic is %v", other)
	}
}

// 1, 5, 11: an odd end costs no worker, waiting submitters continue at once, and statistics stay
// right. Fails: workerpool v1.3.0, gopool v0.1.4, tunny, pond v2.7.1 (a Goexit costs a worker), conc
// v0.3.0 (panics do, and it hangs), ants before the fix of #146.
func TestOddEndsKeepTheCounts(t *testing.T) {
	for name, c := range map[string]struct {
		end  func()
		want any // the text of the panic's value
	}{
		"panic":               {func() { panic("early") }, "early"},
		"Goexit":              {runtime.Goexit, nil},
		"panic(nil)":          {func() { panic(nil) }, new(runtime.PanicNilError).Error()},
		"panic during Goexit": {func() { defer panic("late"); runtime.Goexit() }, "late"},
		"panic during panic":  {func() { defer panic("late"); panic("early") }, "late"},
		"Goexit during panic": {func() { defer runtime.Goexit(); panic("early") }, nil},
		"recovered":           {func() { defer func() { recover() }(); panic("early") }, nil},
	} {
		text := func(v any) any {
			if p, ok := v.(*stint.PanicError); ok {
				return fmt.Sprint(p.Value)
			}
			return nil
		}
		bubble(t, name, func(t *testing.T) {
			var got any
			p := stint.NewPool(stint.Limit(1), stint.Queue(0), stint.OnPanic(func(e *stint.PanicError) { got = text(e) }))
			for range 50 {
				p.Go(func(context.Context) { c.end() })
			}
			p.Idle(bg)
			equal(t, "value in the pool", got, c.want)
			equal(t, "completed", p.Stats().Completed, 50)
			for _, e := range entryPoints {
				v := recovered(func() { e.run(bg, 3, func(context.Context, int) error { c.end(); return nil }, p) })
				equal(t, "value through "+e.name, text(v), c.want)
			}
			s := p.Stats()
			equal(t, "running, queued, workers", [3]int{s.Running, s.Queued, s.Workers}, [3]int{0, 0, 1})
			equal(t, "time passed", sinceBubble(), 0)
			p.Close()
		})
	}
}

// A panic during a Goexit of the caller's goroutine is not lost: without the library it
// would have crashed.
func TestPanicDuringGoexitOfTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := leaving(func() {
			stint.Range(bg, 1, func(context.Context, int) error {
				defer panic("boom")
				runtime.Goexit()
				return nil
			})
		})
		if p, ok := v.(*stint.PanicError); !ok || p.Value != "boom" {
			t.Errorf("recovered %v", v)
		}
	})
}

// A panic with a nil *PanicError is not lost.
func TestPanicWithNilPanicError(t *testing.T) {
	everywhere(t, 1, func(t *testing.T, run run) {
		v := recovered(func() { run(bg, 1, func(context.Context, int) error { panic((*stint.PanicError)(nil)) }) })
		equal(t, "something was raised", v != nil, true)
	})
}

// 13: a panic that comes after the first error leaves nothing behind: the call has
// waited for it. Fails: mr (a goroutine each time).
func TestLatePanicLeavesNothing(t *testing.T) {
	everywhere(t, 2, func(t *testing.T, run run) {
		ends := []func() error{
			func() error { time.Sleep(time.Second); return errBoom },
			func() error { time.Sleep(time.Hour); panic("late") },
		}
		start := time.Now()
		p := raises(t, "late", func() { run(bg, 2, func(_ context.Context, i int) error { return ends[i]() }) })
		took(t, start, time.Hour)
		equal(t, "the error is told", errors.Is(p.Also(), errBoom), !isFirst(t)) // where it is a result
	})
}
