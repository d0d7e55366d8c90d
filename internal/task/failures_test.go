package task

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/testkit"
)

// failed returns failures with a panic.
func failed(p *PanicError, waits func() string) *Failures {
	f := new(Failures)
	f.Panic(p, waits)
	return f
}

// raise raises the panic of f, and returns what it panics with.
func raise(f *Failures) any { return testkit.Recovered(func() { f.Raise() }) }

// A panic may be raised in another bubble than the task's, or outside: its timer is left alone
// then, and writes nothing.
func TestPanicsOfAnotherBubble(t *testing.T) {
	const never = "raised in time"
	add := func() *Failures {
		return failed((&Panic{Value: 1}).Raised("who"), func() string { t.Error(never); return never })
	}
	var inside *Failures
	synctest.Test(t, func(*testing.T) { inside = add() })
	outside := add()
	synctest.Test(t, func(t *testing.T) {
		if v := raise(outside); v != outside.panics.first {
			t.Errorf("raised %v", v)
		}
		time.Sleep(time.Hour)
	})
	if v := raise(inside); v != inside.panics.first {
		t.Errorf("raised %v", v)
	}
}

// A panic that passes through nested calls is written by the first that holds it for long.
func TestNestedPanicIsWrittenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written := 0
		hold := func(p *PanicError) (outer *PanicError) {
			defer func() { outer = (&Panic{Value: recover()}).Raised("outer") }()
			f := failed(p, func() string { written++; return "nobody" })
			time.Sleep(2 * writeAfter)
			f.Raise()
			return nil
		}
		p := (&Panic{Value: 1}).Raised("inner")
		outer := hold(hold(p))
		synctest.Wait()
		if outer != p || written != 1 {
			t.Errorf("written %d times", written)
		}
	})
}

// A lockedError's text needs a lock.
type lockedError struct{ mu sync.Mutex }

func (e *lockedError) Error() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return "locked"
}

// A panic is raised also while its text is being made: that may wait for a lock of the goroutine
// that raises it.
func TestRaisingWaitsForNoMethod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := new(lockedError)
		f := failed(&PanicError{Value: e}, func() string { return "a test" })
		e.mu.Lock()
		defer e.mu.Unlock()
		time.Sleep(writeAfter) // the text is being made
		if p, _ := raise(f).(*PanicError); p == nil || p.Value != e {
			t.Errorf("recovered %v", p)
		}
	})
}

// The outcome is the first event, and a panic comes before any error. What is told beside a
// panic are errors of tasks that were not cancelled, and late ones of their own.
func TestFirstFailure(t *testing.T) {
	one, two, end := errors.New("one"), errors.New("two"), errors.New("end")
	boom, bang := (&Panic{Value: "boom"}).Raised("who"), (&Panic{Value: "bang"}).Raised("who")
	waits := func() string { return "a test" }
	for name, c := range map[string]struct {
		events func(f *Failures)
		err    error
		also   []error // beside boom; not used without a panic
	}{
		"nothing":                {func(*Failures) {}, nil, nil},
		"errors":                 {func(f *Failures) { f.Fail(one, nil); f.Fail(two, nil) }, one, nil},
		"after the end":          {func(f *Failures) { f.Fail(one, end); f.Fail(two, nil) }, end, nil},
		"incomplete":             {func(f *Failures) { f.Close(end); f.Fail(one, nil) }, end, nil},
		"error, then incomplete": {func(f *Failures) { f.Fail(one, nil); f.Close(end) }, one, nil},
		"error, then panic":      {func(f *Failures) { f.Fail(one, nil); f.Panic(boom, waits) }, one, []error{one}},
		"panic, then errors": {func(f *Failures) {
			f.Panic(boom, waits)
			f.Fail(boom, boom)
			f.Fail(context.Canceled, boom)
			f.Fail(two, boom)
		}, boom, []error{two}},
		"panic, then an error before the cancellation": {func(f *Failures) { f.Panic(boom, waits); f.Fail(context.Canceled, nil) }, context.Canceled, []error{context.Canceled}},
		"end, then panic": {func(f *Failures) { f.Fail(end, end); f.Panic(boom, waits) }, end, nil},
		"panics":          {func(f *Failures) { f.Panic(boom, waits); f.Panic(boom, waits); f.Panic(bang, waits) }, nil, []error{bang}},
		"kept": {func(f *Failures) {
			f.Keep(context.Canceled, false)
			f.Keep(context.Canceled, true)
			f.Keep(two, true)
			f.Panic(boom, waits)
		}, nil, []error{context.Canceled, two}},
	} {
		f := new(Failures)
		c.events(f)
		f.TellBeside("who", end)
		p, _ := raise(f).(*PanicError)
		if f.Err != c.err || (p != nil) != f.Panicked() {
			t.Errorf("%s: the error is %v, want %v; raised %v", name, f.Err, c.err, p)
		}
		var also []error
		if p != nil && p.Also() != nil {
			also = p.Also().(interface{ Unwrap() []error }).Unwrap()
		}
		if !slices.Equal(also, c.also) || p != nil && p.Value != "boom" {
			t.Errorf("%s: also %q, want %q", name, also, c.also)
		}
	}
}

// All who wait for a group raise the same panic.
func TestRaisedByManyAtOnce(t *testing.T) {
	f := failed((&Panic{Value: 1}).Raised("who"), func() string { return "a test" })
	f.Panic((&Panic{Value: 2}).Raised("who"), nil)
	var all sync.WaitGroup
	values := make([]any, 4)
	for i := range values {
		all.Go(func() { values[i] = raise(f) })
	}
	all.Wait()
	for _, v := range values {
		if v != values[0] || v.(*PanicError).Also() == nil {
			t.Errorf("raised %v and %v", v, values[0])
		}
	}
}
