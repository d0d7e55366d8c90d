package limit

import "testing"

// exceeding is a Limiter that calls have inherited, with tasks of nested calls and others.
type exceeding struct {
	*Limiter
	t *testing.T
}

func newExceeding(t *testing.T, n int) exceeding {
	l := exceeding{New(n), t}
	l.Inherit()
	return l
}

// wait joins the queue. The result becomes true when there is a permit.
func (l exceeding) wait(nested, low bool) *bool {
	granted := new(bool)
	*granted = l.Join(&Waiter{Grant: func() { *granted = true }, Nested: nested, Low: low}, nil)
	return granted
}

// counts checks how many permits are out, how many wait, and whether the limit is exceeded.
func (l exceeding) counts(out, waiting int, over bool) {
	l.t.Helper()
	if _, o, w := l.Counts(); o != out || w != waiting || l.Signs().Over() != over {
		l.t.Errorf("%d are out, %d wait, over: %v; want %d, %d, %v", o, w, l.Signs().Over(), out, waiting, over)
	}
}

// Exceed serves waiters of nested calls only, and each permit beyond the limit lasts until the
// next permit is returned.
func TestExceed(t *testing.T) {
	l := newExceeding(t, 2)
	for range 2 {
		l.wait(false, false)
	}
	outer, first, low, second := l.wait(false, false), l.wait(true, false), l.wait(true, true), l.wait(true, false)
	l.counts(2, 4, false)
	l.Exceed(1)
	if !*first || *second || *low || *outer {
		t.Error("want the first waiter of a nested call")
	}
	l.counts(3, 3, false)
	l.Exceed(5)
	if !*second || !*low || *outer || l.Nested() {
		t.Error("want all waiters of nested calls")
	}
	l.counts(5, 1, false)
	for out := 4; out >= 2; out-- {
		l.Release(Permit{})
		l.counts(out, 1, false)
	}
	l.Release(Permit{})
	if !*outer {
		t.Error("want the outer waiter, within the limit")
	}
	l.counts(2, 0, false)
}

// A new limit takes permits beyond the old one into account.
func TestSetWhileExceeded(t *testing.T) {
	l := newExceeding(t, 1)
	for range 3 {
		l.wait(true, false)
	}
	l.Exceed(2)
	l.counts(3, 0, false)
	next := l.wait(false, false)
	l.Set(2) // one of the three is beyond it
	l.counts(3, 1, false)
	l.Set(4)
	l.counts(4, 0, false)
	if !*next {
		t.Error("want a permit within the new limit")
	}
	l.Set(3)
	l.counts(4, 0, true)
}
