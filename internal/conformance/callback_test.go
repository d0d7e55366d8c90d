package conformance_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// A caller calls back into the library: it queries and uses everything that its task runs
// on. If a lock of the library is held, that hangs.
type caller struct {
	limiter *stint.Limiter
	pool    *stint.Pool
	group   *stint.Group
	calls   atomic.Int32
	inside  atomic.Bool // no call in a call
}

func newCaller() *caller {
	c := &caller{limiter: stint.Limit(3)}
	c.pool = stint.NewPool(c.limiter)
	c.group = stint.NewGroup(context.Background(), c.pool, stint.Queue(1000))
	return c
}

func (c *caller) back() {
	if !c.inside.CompareAndSwap(false, true) {
		return
	}
	defer c.inside.Store(false)
	c.calls.Add(1)
	c.limiter.Stats()
	c.limiter.Set(3)
	c.pool.Stats()
	c.pool.TryGo(func(context.Context) {})
	c.group.TryGo(func(context.Context) error { return nil })
}

func (c *caller) close() {
	c.group.Wait()
	c.pool.Close()
}

// talkative is an error whose methods call back, and then do what then says.
type talkative struct {
	*caller
	then func()
}

func (e talkative) did() {
	e.back()
	if e.then != nil {
		e.then()
	}
}

func (e talkative) Error() string { e.back(); return "talkative" }
func (e talkative) Is(error) bool { e.did(); return false }
func (e talkative) As(any) bool   { e.did(); return false }
func (e talkative) Unwrap() error { e.did(); return nil }

// The methods of an error that a task returns may call the library, and may panic. The
// goroutine that waits for the tasks calls them, with no lock held. A panic of a method is
// reported together with the error.
func TestMethodsOfErrors(t *testing.T) {
	for name, then := range map[string]func(){"return": nil, "panic": func() { panic("in a method") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			for _, keep := range []bool{false, true} {
				everywhereCalled(t, func(t *testing.T, c *caller, run run) {
					var opts []stint.Option
					if keep {
						opts = append(opts, stint.KeepGoing())
						if strings.Contains(t.Name(), "Unordered") {
							return // the loop body may have had the error before
						}
					}
					v, done := any(nil), make(chan struct{})
					go func() { // which a Goexit would end
						defer close(done)
						defer func() { v = recover() }()
						run(context.Background(), 3, failing(talkative{c, then}), opts...)
					}()
					<-done
					p, ok := v.(*stint.PanicError)
					if !ok || p.Value != "boom" {
						t.Fatalf("got %v, want the panic of the task", v)
					}
					also := members(p.Also())
					if !slices.ContainsFunc(also, func(err error) bool { return isTalkative(err) }) {
						t.Errorf("the other error is not told: %q", also)
					}
					panics := slices.ContainsFunc(also, func(err error) bool {
						p, ok := err.(*stint.PanicError)
						return ok && p.Value == "in a method"
					})
					if panics != (name == "panic") {
						t.Errorf("a panic of Is is told: %v", panics)
					}
					if c.calls.Load() == 0 {
						t.Error("no method was called: this tests nothing")
					}
				})
			}
		})
	}
}

// failing is three tasks that run at once: one panics, one returns what cancelled it and
// one returns err.
func failing(err error) body {
	var all sync.WaitGroup
	all.Add(3)
	return func(ctx context.Context, i int) error {
		all.Done()
		all.Wait()
		if i == 0 {
			panic("boom")
		}
		<-ctx.Done()
		if i == 1 {
			return context.Cause(ctx)
		}
		return err
	}
}

// isTalkative reports whether err is talkative, or the *ItemError of one. It calls no
// method.
func isTalkative(err error) bool {
	if item, ok := err.(*stint.ItemError); ok {
		err = item.Err
	}
	_, ok := err.(talkative)
	return ok
}

// members returns the errors that errors.Join has joined.
func members(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return nil
}

// everywhereCalled runs a test for every entry point on the limiter and on the pool of a caller.
func everywhereCalled(t *testing.T, test func(t *testing.T, c *caller, run run)) {
	for _, e := range entryPoints {
		for _, pooled := range []bool{false, true} {
			t.Run(e.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newCaller()
					var opt stint.Option = c.limiter
					if pooled {
						opt = c.pool
					}
					test(t, c, func(ctx context.Context, n int, f body, more ...stint.Option) error {
						return e.run(ctx, n, f, append(more, opt)...)
					})
					c.close()
				})
			})
		}
	}
}

// calling is a context of a type of its own, whose methods call back.
type calling struct {
	*caller
	done chan struct{} // nil: it has no end
	mu   sync.Mutex
	err  error
	deadlineless
}

// deadlineless is the part of a context that is of no interest.
type deadlineless struct{ context.Context }

func (c *calling) Done() <-chan struct{} { c.back(); return c.done }
func (c *calling) Value(key any) any     { c.back(); return c.Context.Value(key) }

func (c *calling) Err() error {
	c.back()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *calling) end(err error) {
	c.mu.Lock()
	c.err = err
	c.mu.Unlock()
	close(c.done)
}

// The methods of a caller's context may call the library.
func TestMethodsOfContexts(t *testing.T) {
	over := errors.New("over")
	for name, ends := range map[string]func(c *calling, i int) error{
		"completes": func(*calling, int) error { return nil },
		"fails": func(_ *calling, i int) error {
			if i == 5 {
				return errors.New("failed")
			}
			return nil
		},
		"ends": func(c *calling, i int) error {
			if i == 5 && c.done != nil {
				c.end(over)
			}
			return nil
		},
	} {
		for _, endless := range []bool{false, true} {
			everywhereCalled(t, func(t *testing.T, c *caller, run run) {
				ctx := &calling{caller: c, done: make(chan struct{}), deadlineless: deadlineless{context.Background()}}
				if endless {
					ctx.done = nil
				}
				err := run(ctx, 50, func(tctx context.Context, i int) error {
					tctx.Err()
					context.Cause(tctx)
					return ends(ctx, i)
				})
				switch {
				case name == "completes" || name == "ends" && endless:
					equal(t, "error", err, nil)
				case name == "fails":
					equal(t, "error", err.Error(), "failed")
				case err != nil: // nil if all had begun when it ended
					equal(t, "error", err, over)
				}
				if c.calls.Load() == 0 {
					t.Error("no method was called: this tests nothing")
				}
			})
		}
	}
}

// The functions given to OnPanic and Overload may call the library.
func TestHooksCallBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCaller()
		var told atomic.Int32 // hooks run concurrently
		p := stint.NewPool(c.limiter, stint.OnPanic(func(*stint.PanicError) { c.back(); told.Add(1) }))
		for range 5 {
			p.Go(func(context.Context) { panic("boom") })
		}
		p.Close()
		equal(t, "panics that the hook was told", told.Load(), 5)
		c.close()
	})
	for _, e := range searching() {
		synctest.Test(t, func(t *testing.T) {
			c := newCaller()
			var l *stint.Limiter
			l = stint.Auto(1, 3, stint.Overload(func(error) bool { c.back(); l.Stats(); l.Set(3); return true }))
			err := e.run(context.Background(), 5, func(context.Context, int) error { return errBoom }, l, stint.KeepGoing())
			equal(t, e.name+": errors", len(members(err)), 5)
			c.close()
		})
	}
}

// A panic or Goexit of the caller's function and a panic of a task are both reported: the
// task's panic is raised, with the function's in Also.
func TestTwoPanics(t *testing.T) {
	for name, leave := range map[string]func(){
		"panics": func() { panic("mine") },
		"Goexit": runtime.Goexit,
	} {
		for entry, run := range map[string]func(f body, leave func()){
			"body of MapSeq": func(f body, leave func()) {
				for range stint.MapSeq(context.Background(), count(3), valued(f), stint.Limit(3)) {
					leave()
				}
			},
			"body of MapSeq, unordered": func(f body, leave func()) {
				for range stint.MapSeq(context.Background(), count(3), valued(f), stint.Limit(3), stint.Unordered()) {
					leave()
				}
			},
			"sequence of EachSeq": func(f body, leave func()) {
				stint.EachSeq(context.Background(), func(yield func(int) bool) {
					for i := range 3 {
						yield(i)
					}
					leave()
				}, f, stint.Limit(3))
			},
		} {
			t.Run(entry+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					begun := make(chan struct{})
					f := func(ctx context.Context, i int) error {
						if i == 0 {
							return nil
						}
						if i == 1 {
							close(begun)
						}
						<-ctx.Done()
						if i == 1 {
							panic("task's")
						}
						return context.Cause(ctx)
					}
					var v any
					done := make(chan struct{})
					go func() {
						defer close(done)
						defer func() { v = recover() }()
						run(f, func() { <-begun; leave() })
					}()
					<-done
					p, ok := v.(*stint.PanicError)
					if !ok || p.Value != "task's" {
						t.Fatalf("got %v, want the panic of the task", v)
					}
					also := members(p.Also())
					if name == "Goexit" {
						equal(t, "what is told besides", len(also), 0)
						return
					}
					mine, ok := also[0].(*stint.PanicError)
					if len(also) != 1 || !ok || mine.Value != "mine" || !strings.Contains(string(mine.Stack), "TestTwoPanics") {
						t.Errorf("got %q, want the panic of the caller's function with its stack", also)
					}
				})
			})
		}
	}
}

// A panic of the caller's function passes through as it is when no task has panicked.
func TestPanicOfTheBodyAlone(t *testing.T) {
	v := recovered(func() {
		for range stint.MapSeq(context.Background(), count(3), valued(func(context.Context, int) error { return nil })) {
			panic("mine")
		}
	})
	equal(t, "recovered", v, any("mine"))
}

// The panic that cancels tasks has their other errors in Also, but not the errors that they
// return because they were cancelled.
func TestAlsoIsWhatElseWentWrong(t *testing.T) {
	own := errors.New("own")
	for _, keep := range []bool{false, true} {
		everywhere(t, 5, func(t *testing.T, run run) {
			var all sync.WaitGroup
			all.Add(5)
			opts := []stint.Option{stint.KeepGoing()}
			if !keep {
				opts = nil
			} else if strings.Contains(t.Name(), "Unordered") {
				return // the loop body may have had the error before
			}
			v := recovered(func() {
				run(context.Background(), 5, func(ctx context.Context, i int) error {
					all.Done()
					all.Wait()
					if i == 0 {
						panic("boom")
					}
					<-ctx.Done()
					return []error{nil, context.Cause(ctx), ctx.Err(), errors.Join(context.Cause(ctx), ctx.Err()), own}[i]
				}, opts...)
			})
			p := v.(*stint.PanicError)
			also := members(p.Also())
			if len(also) != 1 || !errors.Is(also[0], own) {
				t.Errorf("got %q, want the task's own error alone", also)
			}
			equal(t, "panics in the text", strings.Count(p.Error(), "panicked: boom"), 1)
		})
	}
}

// Under KeepGoing no error of an item is lost when the run ends early: errors after a missing
// result are yielded before the cause.
func TestErrorsBehindAMissingResult(t *testing.T) {
	for name, opts := range map[string][]stint.Option{"ordered": nil, "unordered": {stint.Unordered()}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(context.Background())
				f := func(ctx context.Context, i int) (int, error) {
					switch i {
					case 1:
						return 0, errBoom // before ctx ends
					case 2:
						cancel(errBoom)
						time.Sleep(time.Second)
						return 0, errBoom // after that
					}
					<-ctx.Done()
					time.Sleep(2 * time.Second)
					return i, nil
				}
				found := map[int]bool{}
				var last error
				for _, err := range stint.MapSeq(ctx, count(3), f, append(opts, stint.Limit(3), stint.KeepGoing())...) {
					if item, ok := err.(*stint.ItemError); ok {
						found[item.Index] = true
					}
					last = err
				}
				equal(t, "errors of items", found[1] && found[2], true)
				equal(t, "the last error", last, errBoom)
			})
		})
	}
}
