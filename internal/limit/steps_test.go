package limit

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stint-go/stint/internal/fifo"
)

// A nest makes the scope of a task at a level, in the task with the scope around.
type nest func(around *Scope, level int) *Scope

// nests are shapes of nested calls.
func nests() map[string]nest {
	l, other := New(1), New(1)
	task := func(l *Limiter, around *Scope, apart bool) *Scope {
		var held *HeldPermit
		if l != nil {
			held = NewHeldPermit(l, Permit{})
		}
		return ScopeOf(TaskContext(context.Background(), held, around.Call(l, false), apart))
	}
	return map[string]nest{
		"one limiter":             func(s *Scope, _ int) *Scope { return task(l, s, false) },
		"one limiter, apart":      func(s *Scope, _ int) *Scope { return task(l, s, true) },
		"private limiters within": func(s *Scope, level int) *Scope { return task(map[bool]*Limiter{true: l}[level == 0], s, level%2 == 0) },
		"one limiter, and private ones": func(s *Scope, level int) *Scope {
			return task(map[bool]*Limiter{true: l}[level%3 == 0], s, level%2 == 0)
		},
		"another limiter around one limiter": func(s *Scope, level int) *Scope {
			return task(map[bool]*Limiter{true: other, false: l}[level == 0], s, false)
		},
	}
}

// A look for a permit takes as many steps at any depth.
func TestDepthTakesNoSteps(t *testing.T) {
	for name, nest := range nests() {
		steps := func(depth int) (n int) {
			var s *Scope
			for level := range depth {
				s = nest(s, level)
			}
			for ; s != nil; s = s.outer {
				n++
			}
			return n
		}
		if shallow, deep := steps(10), steps(1000); deep != shallow || deep > 3 {
			t.Errorf("%s: %d steps at a depth of 10, %d at 1000", name, shallow, deep)
		}
	}
}

// On and Lend find what a walk through all scopes finds.
func TestStepsMissNoPermit(t *testing.T) {
	limiters := []*Limiter{New(1), New(1), New(1), nil}
	for seed := range 2000 {
		var s *Scope
		var apart []bool // of s and the tasks around it
		var tasks []*Scope
		for level := range 1 + seed%7 {
			pick := seed * (level + 3) / 7
			var held *HeldPermit
			if l := limiters[pick%4]; l != nil {
				held = NewHeldPermit(l, Permit{})
			}
			s = ScopeOf(TaskContext(context.Background(), held, s.Call(nil, false), pick%3 == 0))
			tasks, apart = append(tasks, s), append(apart, pick%3 == 0)
		}
		for _, l := range limiters[:3] {
			var want string
			var branch *Scope
			for i := len(tasks) - 1; i >= 0 && want == ""; i-- {
				if h := tasks[i].held; h != nil && h.lim == l {
					want = fmt.Sprintf("%p %p", h, branch)
				} else if apart[i] {
					branch = tasks[i].parent
				}
			}
			held, at := s.On(l)
			if got := fmt.Sprintf("%p %p", held, at); got != want && (want != "" || held != nil) {
				t.Fatalf("shape %d: On: %s, want %s", seed, got, want)
			}
			lent := false
			s.each(func(h *HeldPermit) bool { lent = lent || h == held; return true })
			if held != nil && lent != (at == nil) {
				t.Errorf("shape %d: Lend lends it: %v, on the same goroutine: %v", seed, lent, at == nil)
			}
		}
	}
}

// A look for a limiter goes no further than to where a permit of it was ever held.
func TestNewLimiterIsNotLookedFor(t *testing.T) {
	l := New(1)
	around := ScopeOf(TaskContext(context.Background(), NewHeldPermit(New(1), Permit{}), nil, false))
	inner := ScopeOf(TaskContext(context.Background(), NewHeldPermit(New(1), Permit{}), around, false))
	around.held.lim = l // as no program can: found if somebody looks
	if held, _ := inner.On(l); held != nil {
		t.Error("a look for a limiter of which no permit was held")
	}
	below := ScopeOf(TaskContext(context.Background(), NewHeldPermit(l, Permit{}), inner, false))
	if held, _ := inner.On(l); held != nil {
		t.Error("a look above where a permit was held")
	}
	if held, _ := below.On(l); held != below.held {
		t.Error("its own permit is not found")
	}
}

// unseen adds waiters to q that crash whoever looks at them.
func unseen(q *fifo.List[*Waiter]) {
	for range 3 {
		q.Push(new(fifo.Node[*Waiter]), nil)
	}
}

// Whoever returns a permit looks at the first waiter of a queue and no further, whatever the
// others are: of another priority, or of calls that may not borrow the permit.
func TestFirstWaiterIsEnough(t *testing.T) {
	l := New(1)
	l.Inherit()
	own, held := taken(t, l)
	idle := own.Call(nil, false) // its task does not wait: but own does, below
	foreign := below(ScopeOf(TaskContext(context.Background(), nil, idle, false)).Call(nil, false))
	l.Join(&Waiter{}, own)
	var granted []int
	join := func(i int, low bool, from *Scope) *Waiter {
		w := &Waiter{Low: low}
		w.Grant = func() { granted = append(granted, i) }
		if l.Join(w, from) {
			t.Fatal("two calls on one permit")
		}
		return w
	}
	join(0, false, foreign) // may not borrow it
	unseen(&held.borrowers.lanes[laneKey{foreign.branch.lender(), 0}].waiters)
	call := own.Call(nil, false)
	join(1, true, below(call))
	low := join(2, true, own)
	next := join(3, false, own)
	unseen(&held.borrowers.own[0])
	unseen(&held.borrowers.own[1])
	unseen(&l.waiters[0])
	unseen(&l.waiters[1])
	l.Release(Permit{held})
	l.Release(next.Permit)
	call.Lend()
	l.Release(low.Permit)
	if want := []int{3, 2, 1}; !slices.Equal(granted, want) {
		t.Errorf("granted %v, want %v: the task's own, by priority, and that of the call in which it waits", granted, want)
	}
}
