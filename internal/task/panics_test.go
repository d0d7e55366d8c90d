package task

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// raise raises the panics of ps, and returns what it panics with.
func raise(ps *Panics) (v any) {
	defer func() { v = recover() }()
	ps.Raise()
	return nil
}

// Panics may be raised in another bubble than the task's, or outside: its timer is left alone
// then, and writes nothing.
func TestPanicsOfAnotherBubble(t *testing.T) {
	const never = "raised in time"
	add := func() *Panics {
		return (*Panics)(nil).Add((&Panic{Value: 1}).Raised("who"), func() string { t.Error(never); return never })
	}
	var inside *Panics
	synctest.Test(t, func(*testing.T) { inside = add() })
	outside := add()
	synctest.Test(t, func(t *testing.T) {
		if v := raise(outside); v != outside.First() {
			t.Errorf("raised %v", v)
		}
		time.Sleep(time.Hour)
	})
	if v := raise(inside); v != inside.First() {
		t.Errorf("raised %v", v)
	}
}

// A panic that is raised twice, and by several goroutines, is raised by all.
func TestRaisedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		ps := (*Panics)(nil).Add((&Panic{Value: 1}).Raised("who"), func() string { told++; return "nobody" })
		time.Sleep(writeAfter + 1)
		for range 3 {
			if v := raise(ps); v != ps.First() {
				t.Errorf("raised %v", v)
			}
			time.Sleep(time.Hour)
		}
		synctest.Wait()
		if told != 1 {
			t.Errorf("written %d times", told)
		}
	})
}

// A panic that passes through nested calls is written by the first that holds it for long.
func TestNestedPanicIsWrittenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written := 0
		hold := func(p *PanicError) (outer *PanicError) {
			defer func() { outer = (&Panic{Value: recover()}).Raised("outer") }()
			ps := (*Panics)(nil).Add(p, func() string { written++; return "nobody" })
			time.Sleep(2 * writeAfter)
			ps.Raise()
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
		ps := (*Panics)(nil).Add(&PanicError{Value: e}, func() string { return "a test" })
		e.mu.Lock()
		defer e.mu.Unlock()
		time.Sleep(writeAfter) // the text is being made
		defer func() {
			if p, _ := recover().(*PanicError); p == nil || p.Value != e {
				t.Errorf("recovered %v", p)
			}
		}()
		ps.Raise()
	})
}
