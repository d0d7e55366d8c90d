package stint

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// The context of the tasks behaves as that of context.WithCancelCause, whatever
// ends it first and whenever somebody looks: each order of these steps is tried.
func TestCancelContext(t *testing.T) {
	type key struct{}
	first, second, gone := errors.New("first"), errors.New("second"), errors.New("gone")
	type pair struct {
		ctx    context.Context
		cancel func(error)
		end    func()
		child  context.Context
		stop   func()
	}
	steps := []func(p *pair){
		func(p *pair) { p.cancel(first) },
		func(p *pair) { p.cancel(second) },
		func(p *pair) { p.end() },
		func(p *pair) { p.ctx.Done() },
		func(p *pair) { p.ctx.Value(key{}) },
		func(p *pair) { p.child, p.stop = context.WithCancel(p.ctx) },
	}
	parent := func() (context.Context, func()) {
		ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), key{}, 1))
		return ctx, func() { cancel(gone) }
	}
	look := func(p *pair) [6]any {
		deadline, has := p.ctx.Deadline()
		l := [6]any{p.ctx.Err(), nil, deadline, has, nil, nil}
		if p.child != nil {
			l[4], l[5] = p.child.Err(), context.Cause(p.child)
		}
		return l
	}
	var try func(done []int)
	try = func(done []int) {
		a, b := new(pair), new(pair)
		ctx, end := parent()
		c := &cancelContext{parent: ctx}
		a.ctx, a.cancel, a.end = c, c.cancel, end
		ctx, end = parent()
		b.ctx, b.cancel = context.WithCancelCause(ctx)
		b.end = end
		for _, i := range done {
			steps[i](a)
			steps[i](b)
			if got, want := look(a), look(b); got != want {
				t.Fatalf("after %v: got %v, want %v", done, got, want)
			}
		}
		if got, want := context.Cause(a.ctx), context.Cause(b.ctx); got != want {
			t.Fatalf("after %v: cause %v, want %v", done, got, want)
		}
		if got, want := a.ctx.Value(key{}), b.ctx.Value(key{}); got != want {
			t.Fatalf("after %v: value %v, want %v", done, got, want)
		}
		select {
		case <-a.ctx.Done():
			if b.ctx.Err() == nil {
				t.Fatalf("after %v: done", done)
			}
		default:
			if b.ctx.Err() != nil {
				t.Fatalf("after %v: not done", done)
			}
		}
		a.cancel(nil)
		b.cancel(nil)
		for _, p := range []*pair{a, b} {
			if p.stop != nil {
				p.stop()
			}
		}
		if len(done) == 4 {
			return
		}
		for i := range steps {
			try(append(done[:len(done):len(done)], i))
		}
	}
	try(nil)
}

// A deadline that passes ends it too, unless it was cancelled before.
func TestCancelContextDeadline(t *testing.T) {
	for _, early := range []bool{false, true} {
		parent, cancel := context.WithTimeout(context.Background(), 0)
		if early {
			parent, cancel = context.WithTimeout(context.Background(), time.Hour)
		}
		c := &cancelContext{parent: parent}
		want := context.DeadlineExceeded
		if early {
			c.cancel(nil)
			want = context.Canceled
		}
		cancel()
		if err, cause := c.Err(), context.Cause(c); err != want || cause != want {
			t.Errorf("got %v, cause %v, want %v", err, cause, want)
		}
	}
}

// hooked calls hook once, after it has looked whether its context has ended.
type hooked struct {
	context.Context
	hook func()
}

func (h *hooked) Err() error {
	err := h.Context.Err()
	if f := h.hook; f != nil {
		h.hook = nil
		f()
	}
	return err
}

// What Err has said once stays, also when cancel comes just when the parent ends.
func TestCancelContextDoesNotChangeItsMind(t *testing.T) {
	gone := errors.New("gone")
	parent, end := context.WithCancelCause(context.Background())
	h := &hooked{Context: parent}
	c := &cancelContext{parent: h}
	h.hook = func() {
		end(gone)
		if c.Err() == nil {
			t.Error("the parent has ended, and Err is nil")
		}
	}
	c.cancel(errors.New("late"))
	if cause := context.Cause(c); cause != gone {
		t.Errorf("the cause is %v", cause)
	}
}

// A deadline that passes after the context was cancelled changes nothing.
func TestCancelContextBeforeDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		c := &cancelContext{}
		c.parent = parent
		c.cancel(nil)
		time.Sleep(time.Hour)
		if err, cause := c.Err(), context.Cause(c); err != context.Canceled || cause != context.Canceled {
			t.Errorf("got %v, cause %v", err, cause)
		}
	})
}

// meeting is a context that calls f when a context is made from it.
type meeting struct {
	context.Context
	f func()
}

func (m meeting) Done() <-chan struct{} { m.f(); return m.Context.Done() }

// While somebody asks for Done for the first time others do too, or cancel: all
// have the one channel, and it is closed.
func TestCancelContextMeetings(t *testing.T) {
	for range 100 {
		parent, stop := context.WithCancel(context.Background())
		c := &cancelContext{}
		met := make(chan struct{})
		asked := make(chan (<-chan struct{}), 1)
		c.parent = meeting{parent, sync.OnceFunc(func() {
			go func() { asked <- c.Done() }()
			go func() { c.cancel(nil); close(met) }()
			for range 100 {
				runtime.Gosched() // they come to the lock
			}
		})}
		done := c.Done()
		<-met
		if other := <-asked; other != done {
			t.Fatal("two that ask have two channels")
		}
		select {
		case <-done:
		default:
			t.Fatal("cancelled and not done")
		}
		stop()
	}
}

// What is cancelled stays so, also in the moment in which somebody asks for Done.
func TestCancelContextStaysCancelled(t *testing.T) {
	for range 5000 {
		c := &cancelContext{}
		c.parent = context.Background()
		c.cancel(nil)
		var made atomic.Bool
		go func() { c.Done(); made.Store(true) }()
		for !made.Load() {
			if c.Err() == nil {
				t.Fatal("cancelled, and then not")
			}
			if runtime.GOMAXPROCS(0) == 1 {
				runtime.Gosched() // the other cannot come meanwhile
			}
		}
	}
}
