// Package lane puts the tasks of each key in a row.
//
// A key has a lane from the time when a task enters it until all tasks of the key have
// left. The first task of a lane may run; when it has ended and leaves, the next one may. So
// tasks of a key run one after the other, in the order in which they entered, and there are
// never more lanes than tasks.
//
// There is a Turn for each task that may run. Turns are queued elsewhere, and do not belong
// to a task: whoever begins one runs the first of the tasks that may run, in the order in
// which they entered, whatever their keys are.
//
//	task     waits in its lane -> may run, in the turn given by Enter or in behind -> runs -> left
//	turn     given by Enter, with a task -> begun, with the earliest task -> over, or left
//	         vacant by Leave, which has put a task into behind -> begun
//
// There are as many vacant turns as tasks in behind, and both change in the same step under
// mu. A task behind a turn that is queued has entered before all tasks whose turns are queued
// later, so the earliest one is known without a look at the queue. A turn that is not vacant
// may be begun while another task comes behind, and miss it: that one has its own turn.
package lane

import (
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/internal/limit"
)

// Rows are Lanes with keys of any type. Their methods may be called concurrently.
type Rows[N any] interface {
	// Enter adds n to the lane of its key, and returns a turn, or nil if n waits for others
	// of its key. A key that does not equal itself, such as a NaN, has no lane: its tasks
	// never wait. Enter panics if the key cannot be compared.
	Enter(n N) *Turn[N]
	// Begin makes the earliest task that may run the one of t. from is the scope in which
	// it runs.
	Begin(t *Turn[N], from *limit.Scope)
	// Leave takes the task of t out of its lane. It reports whether t is to be queued again,
	// since another task of the key may run now. Otherwise t is over.
	Leave(t *Turn[N]) (again bool)
}

// A Turn is a permission to run a task.
type Turn[N any] struct {
	Task  N            // that runs, after Begin
	Index int          // of Task: how many have entered before
	From  *limit.Scope // in which Task runs

	in     any // the lane of Task, a *lane[K, N]; nil if it has none
	vacant bool
}

// Lanes are the lanes of tasks of type N, the keys of which Key returns.
type Lanes[K comparable, N any] struct {
	Key func(N) K

	mu      sync.Mutex
	entered int
	lanes   map[K]*lane[K, N]
	behind  heap[N]      // tasks that may run and have left their turn to another one
	number  atomic.Int64 // of tasks in behind; written with mu held
}

// A lane has the tasks of a key behind the one that may run.
type lane[K comparable, N any] struct {
	key     K
	waiting []entry[N]
	first   int
}

// An entry is a task and its number.
type entry[N any] struct {
	task  N
	index int
}

func (l *Lanes[K, N]) Enter(n N) *Turn[N] {
	key := l.Key(n)
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.lanes[key]
	e := entry[N]{n, l.entered}
	l.entered++
	if in != nil {
		in.waiting = append(in.waiting, e)
		return nil
	}
	t := &Turn[N]{Task: n, Index: e.index}
	if key == key {
		t.in = l.open(key)
	}
	return t
}

// open returns a new lane.
func (l *Lanes[K, N]) open(key K) *lane[K, N] {
	if l.lanes == nil {
		l.lanes = map[K]*lane[K, N]{}
	}
	in := &lane[K, N]{key: key}
	l.lanes[key] = in
	return in
}

func (l *Lanes[K, N]) Begin(t *Turn[N], from *limit.Scope) {
	t.From = from
	if l.number.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !t.vacant && (len(l.behind) == 0 || t.Index < l.behind[0].index) {
		return
	}
	p := l.behind[0]
	if t.vacant {
		l.behind.pop()
		l.number.Add(-1)
	} else {
		l.behind.replace(candidate[N]{entry[N]{t.Task, t.Index}, t.in})
	}
	t.Task, t.Index, t.in, t.vacant = p.task, p.index, p.in, false
}

func (l *Lanes[K, N]) Leave(t *Turn[N]) (again bool) {
	in, _ := t.in.(*lane[K, N])
	*t = Turn[N]{}
	l.mu.Lock()
	defer l.mu.Unlock()
	if in != nil && in.first < len(in.waiting) {
		l.behind.push(candidate[N]{in.pop(), in})
		l.number.Add(1)
		t.vacant = true
		return true
	}
	if in != nil {
		delete(l.lanes, in.key)
	}
	return false
}

// pop takes the first of the waiting tasks. It closes the gap in front of the others once
// that is the larger part.
func (l *lane[K, N]) pop() entry[N] {
	e := l.waiting[l.first]
	l.waiting[l.first] = entry[N]{}
	if l.first++; 2*l.first > len(l.waiting) {
		left := copy(l.waiting, l.waiting[l.first:])
		clear(l.waiting[left:])
		l.waiting, l.first = l.waiting[:left], 0
	}
	return e
}

// Len returns the number of lanes.
func (l *Lanes[K, N]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lanes)
}
