package limit

import (
	"context"
	"slices"
	"testing"

	"github.com/stint-go/stint/internal/fifo"
)

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
	unseen(&held.borrowers.lanes[laneKey{foreign.parent.lender(), 0}].waiters)
	call := own.Call(nil, false)
	join(1, true, below(call))
	low := join(2, true, own)
	next := join(3, false, own)
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
