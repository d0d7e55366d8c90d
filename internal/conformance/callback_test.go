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
	c.group = stint.NewGroup(bg, c.pool, stint.Queue(1000))
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
	_ = c.pool.TryGo(func(context.Context) {})
	_ = c.group.TryGo(func(context.Context) error { return nil })
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
		everywhereCalled(t, func(t *testing.T, c *caller, run run) {
			askTalkative(t, c, run, then, name == "panic")
			if !strings.Contains(t.Name(), "Unordered") { // the loop body may have had the error before
				askTalkative(t, c, run, then, name == "panic", stint.KeepGoing())
			}
		})
	}
}

// askTalkative makes a call of which a task panics and a task returns a talkative error.
func askTalkative(t *testing.T, c *caller, run run, then func(), panics bool, opts ...stint.Option) {
	v := leaving(func() { run(bg, 3, failing(talkative{c, then}), opts...) })
	p, ok := v.(*stint.PanicError)
	if !ok || p.Value != "boom" {
		t.Fatalf("got %v, want the panic of the task", v)
	}
	also := members(p.Also())
	if !slices.ContainsFunc(also, isTalkative) {
		t.Errorf("the other error is not told: %q", also)
	}
	told := slices.ContainsFunc(also, func(err error) bool {
		p, ok := err.(*stint.PanicError)
		return ok && p.Value == "in a method"
	})
	equal(t, "a panic of a method is told", told, panics)
	equal(t, "a method was called", c.calls.Load() > 0, true)
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
		bubble(t, e.name+"/Limiter", func(t *testing.T) {
			c := newCaller()
			defer c.close()
			test(t, c, e.with(c.limiter))
		})
		bubble(t, e.name+"/Pool", func(t *testing.T) {
			c := newCaller()
			defer c.close()
			test(t, c, e.with(c.pool))
		})
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
	for _, way := range []string{"completes", "fails", "ends", "ends never"} {
		t.Run(way, func(t *testing.T) {
			everywhereCalled(t, func(t *testing.T, c *caller, run run) { askContext(t, c, run, way) })
		})
	}
}

// askContext makes a call with a context that calls back, and ends it in the sixth task, or fails there.
func askContext(t *testing.T, c *caller, run run, way string) {
	ctx := &calling{caller: c, done: make(chan struct{}), deadlineless: deadlineless{bg}}
	if way == "ends never" {
		ctx.done = nil
	}
	err := run(ctx, 50, func(tctx context.Context, i int) error {
		tctx.Err()
		context.Cause(tctx)
		if i == 5 && way == "ends" {
			ctx.end(errGone)
		}
		if i == 5 && way == "fails" {
			return errBoom
		}
		return nil
	})
	want := map[string]error{"fails": errBoom, "ends": errGone}[way]
	if err != want && (way != "ends" || err != nil) { // nil if all had begun when it ended
		t.Errorf("error %v, want %v", err, want)
	}
	equal(t, "a method was called", c.calls.Load() > 0, true)
}

// A panic or Goexit of the caller's function and a panic of a task are both reported: the
// task's panic is raised, with the function's in Also.
func TestTwoPanics(t *testing.T) {
	for entry, run := range map[string]func(f body, leave func()){
		"body of MapSeq": func(f body, leave func()) {
			for range stint.MapSeq(bg, count(3), valued(f), stint.Limit(3)) {
				leave()
			}
		},
		"body of MapSeq, unordered": func(f body, leave func()) {
			for range stint.MapSeq(bg, count(3), valued(f), stint.Limit(3), stint.Unordered()) {
				leave()
			}
		},
		"sequence of EachSeq": func(f body, leave func()) {
			stint.EachSeq(bg, func(yield func(int) bool) { count(3)(yield); leave() }, f, stint.Limit(3))
		},
	} {
		bubble(t, entry+" panics", func(t *testing.T) {
			also := alsoOfTheTask(t, run, func() { panic("mine") })
			mine, ok := also[0].(*stint.PanicError)
			if len(also) != 1 || !ok || mine.Value != "mine" || !strings.Contains(string(mine.Stack), "TestTwoPanics") {
				t.Errorf("got %q, want the panic of the caller's function with its stack", also)
			}
		})
		bubble(t, entry+" Goexit", func(t *testing.T) {
			equal(t, "what is told besides", len(alsoOfTheTask(t, run, runtime.Goexit)), 0)
		})
	}
}

// alsoOfTheTask returns what the panic of a task has in Also, if the function of the caller leaves, too.
func alsoOfTheTask(t *testing.T, run func(f body, leave func()), leave func()) []error {
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
	v := leaving(func() { run(f, func() { <-begun; leave() }) })
	p, ok := v.(*stint.PanicError)
	if !ok || p.Value != "task's" {
		t.Fatalf("got %v, want the panic of the task", v)
	}
	return members(p.Also())
}

// A break does not hide the panic of a task.
func TestPanicBehindABreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := func(ctx context.Context, i int) error {
			if i == 1 {
				<-ctx.Done()
				panic("late")
			}
			return nil
		}
		raises(t, "late", func() {
			for range stint.MapSeq(bg, count(2), valued(late), stint.Limit(2)) {
				synctest.Wait()
				break
			}
		})
	})
}

// The panic that cancels tasks has their other errors in Also, but not the errors that they
// return because they were cancelled.
func TestAlsoIsWhatElseWentWrong(t *testing.T) {
	everywhere(t, 5, func(t *testing.T, run run) {
		oneOwnError(t, run)
		if !strings.Contains(t.Name(), "Unordered") { // the loop body may have had the error before
			oneOwnError(t, run, stint.KeepGoing())
		}
	})
}

// oneOwnError has a task panic, and one of four others return an error of its own.
func oneOwnError(t *testing.T, run run, opts ...stint.Option) {
	own := errors.New("own")
	var all sync.WaitGroup
	all.Add(5)
	p := raises(t, "boom", func() {
		run(bg, 5, func(ctx context.Context, i int) error {
			all.Done()
			all.Wait()
			if i == 0 {
				panic("boom")
			}
			<-ctx.Done()
			return []error{nil, context.Cause(ctx), ctx.Err(), errors.Join(context.Cause(ctx), ctx.Err()), own}[i]
		}, opts...)
	})
	if also := members(p.Also()); len(also) != 1 || !errors.Is(also[0], own) {
		t.Errorf("got %q, want the task's own error alone", also)
	}
	equal(t, "panics in the text", strings.Count(p.Error(), "panicked: boom"), 1)
}
