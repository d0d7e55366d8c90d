package task

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
)

// outcome returns how f ended on a goroutine of its own.
func outcome(f func()) (o Outcome) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		returned := false
		defer func() {
			if !returned {
				o = Unreturned(recover())
			}
		}()
		f()
		returned = true
	}()
	<-done
	return o
}

// deep calls f below n frames, so that one look at the stack does not show all.
func deep(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	deep(n-1, f)
	runtime.KeepAlive(n)
}

// A panic(nil) differs from a Goexit, also where recover returns nil for both, and
// when one follows the other.
func TestUnreturned(t *testing.T) {
	if os.Getenv("STINT_PANICNIL") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestUnreturned$", "-test.v")
		cmd.Env = append(os.Environ(), "STINT_PANICNIL=1", "GODEBUG=panicnil=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("under GODEBUG=panicnil=1: %v\n%s", err, out)
		}
	}
	panicNil := func() { panic(nil) }
	for _, c := range []struct {
		name   string
		f      func()
		goexit bool
	}{
		{"panic(nil)", panicNil, false},
		{"Goexit", runtime.Goexit, true},
		{"panic(nil) at depth", func() { deep(200, panicNil) }, false},
		{"Goexit at depth", func() { deep(200, runtime.Goexit) }, true},
		{"Goexit while panic(nil)", func() { defer runtime.Goexit(); panic(nil) }, true},
		{"Goexit after panic(nil) was recovered", func() {
			func() {
				defer func() { recover() }()
				panic(nil)
			}()
			runtime.Goexit()
		}, true},
		{"deep deferred panic(nil) while Goexit", func() { defer deep(100, panicNil); runtime.Goexit() }, false},
	} {
		o := outcome(c.f)
		if c.goexit != o.Goexit || c.goexit != (o.Panic == nil) {
			t.Errorf("%s: Goexit %v, panic %v", c.name, o.Goexit, o.Panic != nil)
		}
		if o.Panic != nil {
			if _, ok := o.Panic.Value.(*runtime.PanicNilError); !ok || len(o.Panic.Stack) == 0 {
				t.Errorf("%s: value %T, %d bytes of stack, want a *runtime.PanicNilError with one", c.name, o.Panic.Value, len(o.Panic.Stack))
			}
		}
	}
}

// A panic on its way through nested calls takes no stack at each of them.
func TestNestedPanicTakesNoStack(t *testing.T) {
	p := &PanicError{Value: 1}
	if o := outcome(func() { panic(p) }); o.Panic == nil || o.Panic.Stack != nil || o.Panic.Raised("again") != p {
		t.Errorf("got %+v, want the same panic without a stack", o.Panic)
	}
	if o := outcome(func() { panic((*PanicError)(nil)) }); o.Panic == nil || o.Panic.Stack == nil {
		t.Errorf("a nil *PanicError is reported as %+v", o)
	} else if p := o.Panic.Raised("who"); errors.Is(p, context.Canceled) || p.Error() == "" {
		t.Errorf("a nil *PanicError is %v", p)
	}
}

type incomparable []int

func (incomparable) Error() string { return "incomparable" }

type panicky struct{}

func (panicky) Error() string { return "panicky" }
func (panicky) Is(error) bool { panic("in Is") }

type leaving struct{}

func (leaving) Error() string { return "leaving" }
func (leaving) Unwrap() error { runtime.Goexit(); return nil }

func TestBesides(t *testing.T) {
	cause, own := errors.New("cause"), errors.New("own")
	late := []error{
		context.Canceled, fmt.Errorf("x: %w", context.Canceled), cause, fmt.Errorf("y: %w", cause),
		errors.Join(context.Canceled, cause), errors.Join(own, cause), own,
		fmt.Errorf("wrapped: %w", errors.Join(cause, context.Canceled)), fmt.Errorf("wrapped: %w", errors.Join(cause, own)), incomparable(nil), context.DeadlineExceeded,
	}
	got := Besides(late, "who", nil, cause)
	if len(got) != 5 || got[0] != late[5] || got[1] != own || got[2] != late[8] || got[3].Error() != "incomparable" || got[4] != context.DeadlineExceeded {
		t.Errorf("got %q", got)
	}
	got = Besides([]error{panicky{}, own}, "who", cause, incomparable(nil))
	if len(got) != 3 || got[0] != error(panicky{}) || got[2] != own {
		t.Fatalf("got %q", got)
	}
	if p, ok := got[1].(*PanicError); !ok || p.Value != "in Is" || len(p.Stack) == 0 {
		t.Errorf("the panic of Is is reported as %q", got[1])
	}
	if !slices.Equal(Besides(nil, "who"), nil) {
		t.Error("nothing is not nothing")
	}
	if o := outcome(func() { Besides([]error{leaving{}}, "who", cause) }); !o.Goexit {
		t.Errorf("a Goexit of Unwrap is reported as %+v", o)
	}
}
