package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

func TestPanicsReachTheWaiter(t *testing.T) {
	ctx := context.Background()
	t.Run("entry points", func(t *testing.T) {
		everywhere(t, 3, func(t *testing.T, run run) {
			var g gauge
			start := time.Now()
			v := recovered(func() {
				run(ctx, 1000, func(ctx context.Context, i int) error {
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
			p, ok := v.(*stint.PanicError)
			if !ok {
				t.Fatalf("recovered %v", v)
			}
			g.Is(t, 0, 2, 2)
			took(t, start, 2*time.Second)
			equal(t, "value", p.Value, any(errBoom))
			equal(t, "errors.Is", errors.Is(p, errBoom), true)
			equal(t, "the function in the stack", strings.Contains(string(p.Stack), "conformance_test.explode"), true)
			equal(t, "the stack in the text", strings.Contains(p.Error(), string(p.Stack)), true)
			equal(t, "others", p.Also(), nil) // the cancelled ones are a consequence
		})
	})
	t.Run("nested", func(t *testing.T) { // it stays the first one, whatever it goes through
		for _, outer := range entryPoints {
			for _, inner := range entryPoints {
				synctest.Test(t, func(t *testing.T) {
					l := stint.Limit(1)
					var first, second any
					second = recovered(func() {
						outer.run(ctx, 1, func(ctx context.Context, _ int) error {
							defer func() {
								first = recover()
								panic(first)
							}()
							return inner.run(ctx, 1, func(context.Context, int) error { explode("boom"); return nil }, l)
						}, l)
					})
					if p, ok := first.(*stint.PanicError); !ok || p.Value != "boom" || second != first {
						t.Errorf("%s in %s: %v and %v", inner.name, outer.name, first, second)
					}
				})
			}
		}
	})
	t.Run("Wait again", func(t *testing.T) {
		g := stint.NewGroup(ctx)
		g.Go(func(context.Context) error { explode("boom"); return nil })
		first := recovered(func() { g.Wait() })
		equal(t, "the same panic", recovered(func() { g.Wait() }), first)
	})
	t.Run("OnPanic", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
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
	})
	t.Run("Pool.Go", TestPanicOfAPoolCrashes)
}

// explode is a function whose name must be in the stack of its panic.
func explode(v any) { panic(v) }

// 5: panics cost no worker, and waiting submitters continue at once, not after the idle
// period. Fails: conc v0.3.0 (hangs), ants before the fix of #146.
func TestPanicsCostNoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var caught atomic.Int64
		p := stint.NewPool(stint.Limit(2), stint.Queue(0), stint.OnPanic(func(*stint.PanicError) { caught.Add(1) }))
		for range 100 {
			p.Go(func(context.Context) { panic("boom") })
		}
		p.Idle(context.Background())
		equal(t, "panics", caught.Load(), 100)
		equal(t, "time passed", sinceBubble(), 0)
		s := p.Stats()
		equal(t, "completed", s.Completed, 100)
		p.Close()
		noneLeft(t)
	})
}

// 6: the value is reachable by errors.As, the text holds the stack. Fails: mr (a
// string), conc v0.3.0 (no error).
func TestPanicKeepsItsValue(t *testing.T) {
	everywhere(t, 2, func(t *testing.T, run run) {
		v := recovered(func() {
			run(context.Background(), 1, func(context.Context, int) error {
				explode(fmt.Errorf("with more: %w", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}))
				return nil
			})
		})
		err, _ := v.(error)
		var path *fs.PathError
		if !errors.As(err, &path) || path.Path != "x" || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "conformance_test.explode(") {
			t.Errorf("recovered %v", v)
		}
	})
}

// 7: of two panics and three errors nothing is lost. Fails: conc v0.3.0 (the
// second panic and all errors).
func TestPanicsAndErrorsAreAllKept(t *testing.T) {
	errs := []error{errors.New("e0"), errors.New("e1"), errors.New("e2")}
	kept := func(t *testing.T, run run, opts ...stint.Option) {
		if isFirst(t) {
			opts = append(opts, stint.KeepGoing()) // otherwise e0 is a result, which a panic replaces
		}
		v := recovered(func() {
			run(context.Background(), 5, func(_ context.Context, i int) error {
				time.Sleep(time.Duration(i+1) * time.Second) // all begin, and what is cancelled goes on
				if i > 2 {
					panic(fmt.Errorf("p%d", i))
				}
				return errs[i]
			}, opts...)
		})
		p, ok := v.(*stint.PanicError)
		if !ok || fmt.Sprint(p.Value) != "p3" {
			t.Fatalf("recovered %v", v)
		}
		for _, want := range []string{"e0", "e1", "e2", "p3", "p4"} {
			equal(t, want+" in the text", strings.Contains(p.Error(), want), true)
		}
		for _, e := range errs {
			equal(t, e.Error()+" in Also", errors.Is(p.Also(), e), true)
		}
		var other *stint.PanicError
		if !errors.As(p.Also(), &other) || fmt.Sprint(other.Value) != "p4" {
			t.Errorf("the second panic is %v", other)
		}
	}
	everywhere(t, 5, func(t *testing.T, run run) { kept(t, run) })
	t.Run("KeepGoing", func(t *testing.T) {
		for _, e := range entryPoints {
			if e.inOrder() || e.name == "Unordered" {
				continue // these have yielded the errors when the panic comes
			}
			t.Run(e.name, func(t *testing.T) {
				both(t, 5, func(t *testing.T, opt stint.Option, _ func(int)) { kept(t, e.run, opt, stint.KeepGoing()) })
			})
		}
	})
}

// 11: statistics stay right for every outcome of a task.
func TestOddEndsKeepTheCounts(t *testing.T) {
	odd := map[string]struct {
		end  func()
		want string // the value of the panic, "" for none
	}{
		"panic(nil)":          {func() { panic(nil) }, new(runtime.PanicNilError).Error()},
		"panic during Goexit": {func() { defer panic("late"); runtime.Goexit() }, "late"},
		"panic during panic":  {func() { defer panic("late"); panic("early") }, "late"},
		"Goexit during panic": {func() { defer runtime.Goexit(); panic("early") }, ""},
		"recovered":           {func() { defer func() { recover() }(); panic("early") }, ""},
	}
	for name, c := range odd {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bg := context.Background()
				got := ""
				p := stint.NewPool(stint.Limit(1), stint.OnPanic(func(e *stint.PanicError) { got = fmt.Sprint(e.Value) }))
				p.Go(func(context.Context) { c.end() })
				p.Idle(bg)
				equal(t, "value in the pool", got, c.want)
				for _, e := range entryPoints {
					got := ""
					if e, ok := recovered(func() {
						e.run(bg, 3, func(context.Context, int) error { c.end(); return nil }, p)
					}).(*stint.PanicError); ok {
						got = fmt.Sprint(e.Value)
					}
					equal(t, "value through "+e.name, got, c.want)
				}
				s := p.Stats()
				equal(t, "running", s.Running, 0)
				equal(t, "queued", s.Queued, 0)
				equal(t, "workers", s.Workers, 1)
				p.Close()
				noneLeft(t)
			})
		})
	}
}

// A panic during a Goexit of the caller's goroutine is not lost: without the library it
// would have crashed.
func TestPanicDuringGoexitOfTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan any)
		go func() {
			defer func() { ended <- recover() }()
			stint.Range(context.Background(), 1, func(context.Context, int) error {
				defer panic("boom")
				runtime.Goexit()
				return nil
			})
		}()
		p, ok := (<-ended).(*stint.PanicError)
		if !ok || p.Value != "boom" {
			t.Errorf("recovered %v", p)
		}
	})
}

// A panic with a nil *PanicError is not lost.
func TestPanicWithNilPanicError(t *testing.T) {
	everywhere(t, 1, func(t *testing.T, run run) {
		if recovered(func() {
			run(context.Background(), 1, func(context.Context, int) error { panic((*stint.PanicError)(nil)) })
		}) == nil {
			t.Error("nothing was raised")
		}
	})
}

// 12: a panic has cancelled the others by the time Wait returns. conc v0.3.0
// does this too.
func TestPanicCancels(t *testing.T) {
	everywhere(t, 2, func(t *testing.T, run run) {
		var cause error
		v := recovered(func() {
			run(context.Background(), 2, func(ctx context.Context, i int) error {
				if i == 0 {
					panic("boom")
				}
				<-ctx.Done()
				cause = context.Cause(ctx)
				return nil
			}, stint.KeepGoing()) // which is about errors only
		})
		p, _ := v.(*stint.PanicError)
		c, _ := cause.(*stint.PanicError)
		if p == nil || cause != nil && cause != v && !(isFirst(t) && c != nil && &c.Stack[0] == &p.Stack[0]) {
			t.Errorf("recovered %v, the other's cause is %v", v, cause) // nil if the other was not begun
		}
	})
}

// 13: a panic that comes after the first error leaves nothing behind: the call has
// waited for it. Fails: mr (a goroutine each time).
func TestLatePanicLeavesNothing(t *testing.T) {
	everywhere(t, 2, func(t *testing.T, run run) {
		start := time.Now()
		v := recovered(func() {
			run(context.Background(), 2, func(_ context.Context, i int) error {
				if i == 0 {
					time.Sleep(time.Second)
					return errBoom
				}
				time.Sleep(time.Hour)
				panic("late")
			})
		})
		took(t, start, time.Hour)
		p, ok := v.(*stint.PanicError)
		if !ok || p.Value != "late" || !errors.Is(p.Also(), errBoom) && !isFirst(t) { // where it is a result
			t.Errorf("recovered %v", v)
		}
	})
}
