package limit

import "testing"

// Exceed serves waiters of nested calls only, and each permit beyond the limit lasts until the
// next permit is returned.
func TestExceed(t *testing.T) {
	l := New(2)
	l.Inherit()
	wait := func(nested, low bool) (w *Waiter, granted *bool) {
		granted = new(bool)
		w = &Waiter{Grant: func() { *granted = true }, Nested: nested, Low: low}
		if l.Join(w, nil) {
			*granted = true
		}
		return w, granted
	}
	for range 2 {
		wait(false, false)
	}
	_, outer := wait(false, false)
	_, first := wait(true, false)
	_, low := wait(true, true)
	_, second := wait(true, false)
	counts := func(out, waiting int, over bool) {
		t.Helper()
		if _, o, w := l.Counts(); o != out || w != waiting || l.Signs().Over() != over {
			t.Errorf("%d are out, %d wait, over: %v; want %d, %d, %v", o, w, l.Signs().Over(), out, waiting, over)
		}
	}
	counts(2, 4, false)
	l.Exceed(1)
	if !*first || *second || *low || *outer {
		t.Error("want the first waiter of a nested call")
	}
	counts(3, 3, false)
	l.Exceed(5)
	if !*second || !*low || *outer {
		t.Error("want all waiters of nested calls")
	}
	if l.Nested() {
		t.Error("no nested call waits")
	}
	counts(5, 1, false)
	for out := 4; out >= 2; out-- {
		l.Release(Permit{})
		counts(out, 1, false)
	}
	l.Release(Permit{})
	if !*outer {
		t.Error("want the outer waiter, within the limit")
	}
	counts(2, 0, false)

	// A new limit takes permits beyond the old one into account.
	wait(true, false)
	wait(true, false)
	l.Exceed(2)
	counts(4, 0, false)
	_, next := wait(false, false)
	l.Set(3) // one of the four is beyond it
	counts(4, 1, false)
	l.Set(5)
	counts(5, 0, false)
	if !*next {
		t.Error("want a permit within the new limit")
	}
	l.Set(4)
	counts(5, 0, true)

	// Only of a limiter that is inherited.
	l = New(1)
	wait(true, false)
	wait(true, false)
	if l.Nested() {
		t.Error("the limiter is not inherited")
	}
}
