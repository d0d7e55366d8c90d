// Package limit counts permits, and knows which permits a task runs on. See README.md
// for the states and the races.
package limit

import (
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/internal/fifo"
	"github.com/stint-go/stint/internal/race"
)

// A Limiter hands out permits, first come, first served, and never more than its limit. A
// waiter of low priority is served when no other waits. Use New or Init.
type Limiter struct {
	Order race.Order // of the tasks that run on permits, for the race detector
	Made  race.Ends  // of the functions that have made l; see race.Aside

	signs atomic.Int64 // Signs; written with mu held
	limit atomic.Int64 // written with mu held
	out   atomic.Int64 // permits that are out; written with mu held

	mu        sync.Mutex
	extra     int                   // permits that may be out beyond the limit
	waiters   [2]fifo.List[*Waiter] // by priority
	inTasks   int                   // how many of the waiters are InTask
	held      fifo.List[*Waiter]    // those that Hold their permit
	watchers  fifo.List[*Watcher]
	counters  *Counters // nil: see Limiter.Counters
	inherited bool      // calls without a limit, made by tasks that hold a permit, use l

	adaptive
}

// A Watcher follows the limit of a limiter.
type Watcher struct {
	Wake chan<- struct{} // receives, unless it is full, when the limit may have changed

	node fifo.Node[*Watcher] // guarded by Limiter.mu
}

// A Permit is the right to run one task at a time. The zero Permit is one of the limiter's
// own; others are lent by a task that waits.
type Permit struct{ lender *HeldPermit }

// A Waiter is an entry in the queue of a limiter, and in that of the HeldPermit that may
// serve it earlier. It must not be copied, nor used twice at the same time.
type Waiter struct {
	// Grant is called once Permit is set, by the goroutine that freed it, without locks.
	Grant  func()
	Permit Permit // before: the one that it may borrow, whose queue it is in
	Low    bool   // it is served when nobody else waits
	Nested bool   // Exceed serves it: it is of a call that inherited the limiter
	InTask bool   // a task waits for it, perhaps with other permits: it may have one that is held

	// guarded by Limiter.mu
	general, lent fifo.Node[*Waiter] // general is in waiters or in held
	branch        *Scope             // as Scope.On returned it
}

// New returns a Limiter of n permits, with Counters.
func New(n int) *Limiter {
	l := &Limiter{counters: new(Counters)}
	l.Init(n)
	return l
}

// Init makes a zero Limiter one of n permits, without Counters.
func (l *Limiter) Init(n int) {
	l.limit.Store(int64(n))
	l.Made.Release()
}

// Inherit makes l the limiter of calls without a limit that its tasks make. It must be
// called before l is used.
func (l *Limiter) Inherit() { l.inherited = true }

// Load returns how many permits are out, and whether anyone waits for one.
func (l *Limiter) Load() (out int, waiting bool) {
	_, out, waiters := l.Counts()
	return out, waiters > 0
}

// Idle reports whether no permit is out. It takes no lock.
func (l *Limiter) Idle() bool { return l.out.Load() == 0 }

// Bound returns the limit.
func (l *Limiter) Bound() int { return int(l.limit.Load()) }

// TryAcquire takes a permit if one is free and there is no waiter.
func (l *Limiter) TryAcquire() bool {
	l.mu.Lock()
	defer l.unlock()
	return l.takeLocked()
}

// Join takes a permit, sets w.Permit and returns true, or adds w to the queue. from is the
// scope of the caller, whose permits may be borrowed, or nil.
func (l *Limiter) Join(w *Waiter, from *Scope) bool {
	held, branch := from.On(l)
	l.mu.Lock()
	defer l.unlock()
	var free bool
	if w.Permit, free = l.takeFromLocked(held, branch); free {
		return true
	}
	if n := l.held.First(); n != nil && w.InTask {
		n.Remove() // Keep returns false
		l.granted()
		return true
	}
	w.Permit, w.branch = Permit{held}, branch
	l.pushLocked(w)
	l.updateSignsLocked()
	l.noteWaitingLocked()
	return false
}

// Leave takes w out of the queue. It returns false if w is not in it: then w.Grant has
// been called, or is about to be.
func (l *Limiter) Leave(w *Waiter) bool {
	l.mu.Lock()
	defer l.unlock()
	if !w.general.InList() {
		return false
	}
	l.removeLocked(w)
	l.updateSignsLocked()
	return true
}

// Hold keeps the permit that w was granted for later: the caller must call Keep before it uses the
// permit. Until then the permit may go to a waiter that is InTask, since the caller may wait for
// what that task has. Hold reports false, and w has its permit as before, if one waits already.
func (l *Limiter) Hold(w *Waiter) bool {
	l.mu.Lock()
	defer l.unlock()
	if l.inTasks > 0 || w.Permit.lender != nil {
		return false
	}
	l.held.Push(&w.general, w)
	return true
}

// Keep ends Hold, and reports whether w still has its permit.
func (l *Limiter) Keep(w *Waiter) bool {
	l.mu.Lock()
	defer l.unlock()
	kept := w.general.InList()
	w.general.Remove()
	return kept
}

// Acquire waits for a permit, and reports whether it has one. low is the priority of the caller;
// nested says that its call inherited l. Acquire gives up when done or quit is closed. Once the
// caller is in the queue, Acquire calls the Grant of granted. done, quit and granted may be nil.
func (l *Limiter) Acquire(low, nested bool, done, quit <-chan struct{}, from *Scope, granted *Waiter) (Permit, bool) {
	ready := make(chan struct{})
	w := &Waiter{Low: low, Nested: nested, InTask: from != nil, Grant: func() { close(ready) }}
	free := l.Join(w, from)
	if granted != nil {
		granted.Grant()
	}
	if free {
		return w.Permit, true
	}
	select {
	case <-ready:
		return w.Permit, true
	case <-done:
	case <-quit:
	}
	if l.Leave(w) {
		return Permit{}, false
	}
	<-ready // closed, or about to be
	return w.Permit, true
}

// AcquireFree takes a permit if it can do so without waiting.
func (l *Limiter) AcquireFree(from *Scope) (Permit, bool) {
	held, branch := from.On(l)
	l.mu.Lock()
	defer l.unlock()
	return l.takeFromLocked(held, branch)
}

// Release returns a permit. The caller must hold no lock that a Grant takes.
func (l *Limiter) Release(p Permit) {
	if w := l.Free(p); w != nil {
		w.Grant()
	}
}

// Free returns a permit. If the permit passed to a waiter, the result is that waiter, and
// the caller must call its Grant once it holds no lock.
func (l *Limiter) Free(p Permit) *Waiter {
	l.mu.Lock()
	defer l.unlock()
	return l.returnLocked(p)
}

// returnLocked is Free.
func (l *Limiter) returnLocked(p Permit) *Waiter {
	if p.lender != nil {
		return p.lender.returnLocked()
	}
	return l.passLocked()
}

// Yield returns one of the limiter's own permits, unless nothing presses its holder, whose
// priority is given: then kept is true. The result is the waiter that has the permit now, as
// for Free.
func (l *Limiter) Yield(low bool) (w *Waiter, kept bool) {
	l.mu.Lock()
	defer l.unlock()
	if l.Pressure(low, 0) == None {
		return nil, true
	}
	return l.passLocked(), false
}

// Watch wakes w now, and after each change of the limit until Unwatch.
func (l *Limiter) Watch(w *Watcher) {
	l.mu.Lock()
	defer l.unlock()
	l.watchers.Push(&w.node, w)
	w.wake()
}

// Unwatch ends Watch.
func (l *Limiter) Unwatch(w *Watcher) {
	l.mu.Lock()
	defer l.unlock()
	w.node.Remove()
}

// Set changes the limit. Additional permits go to waiters at once. A smaller limit is
// reached as holders finish their tasks: each must call Yield before it starts another.
// The caller must hold no lock that a Grant takes.
func (l *Limiter) Set(n int) {
	l.mu.Lock()
	l.limit.Store(int64(n))
	l.extra = max(0, min(l.extra, l.outLocked()-n))
	var granted []*Waiter
	for w := l.admitLocked(); w != nil; w = l.admitLocked() {
		granted = append(granted, w)
	}
	l.updateSignsLocked()
	for n := l.watchers.First(); n != nil; n = n.Next() {
		n.Value().wake()
	}
	l.unlock()
	for _, w := range granted {
		w.Grant()
	}
}

// Exceed gives permits beyond the limit to at most n waiters of calls that inherited l. The
// permits that are returned next do not pass on, until as many are out as the limit allows.
// The caller must hold no lock that a Grant takes.
func (l *Limiter) Exceed(n int) {
	l.mu.Lock()
	granted := l.nestedLocked(n)
	for _, w := range granted {
		l.grantLocked(w)
	}
	l.extra = max(l.extra, l.outLocked()-l.Bound())
	l.updateSignsLocked()
	l.unlock()
	for _, w := range granted {
		w.Grant()
	}
}

// Nested reports whether Exceed would serve a waiter.
func (l *Limiter) Nested() bool {
	l.mu.Lock()
	defer l.unlock()
	return l.inherited && len(l.nestedLocked(1)) > 0
}

// nestedLocked returns the first waiters that Exceed serves, at most n. It looks at all waiters,
// which is rare: no task has finished for long.
func (l *Limiter) nestedLocked(n int) (nested []*Waiter) {
	for i := range l.waiters {
		for node := l.waiters[i].First(); node != nil && len(nested) < n; node = node.Next() {
			if w := node.Value(); w.Nested || w.lent.InList() {
				nested = append(nested, w)
			}
		}
	}
	return nested
}

// Counts returns the limit, the permits that are out and the waiters.
func (l *Limiter) Counts() (limit, out, waiting int) {
	l.mu.Lock()
	defer l.unlock()
	return l.Bound(), l.outLocked(), l.waitingLocked()
}

// unlock unlocks mu. It tells the controller if no permit is out.
func (l *Limiter) unlock() {
	if l.Idle() {
		if c := l.ActiveController(); c != nil {
			c.NotifyIdle()
		}
	}
	l.mu.Unlock()
}

// takeFromLocked takes the permit held, for a call below branch, or one of the limiter's own.
func (l *Limiter) takeFromLocked(held *HeldPermit, branch *Scope) (p Permit, ok bool) {
	if held != nil && held.takeLocked(branch) {
		return Permit{held}, true
	}
	return Permit{}, l.takeLocked()
}

// freeLocked returns how many more permits may be out. It is negative if too many are.
func (l *Limiter) freeLocked() int { return l.Bound() + l.extra - l.outLocked() }

func (l *Limiter) outLocked() int { return int(l.out.Load()) }

// waitingLocked returns the number of waiters.
func (l *Limiter) waitingLocked() int { return l.waiters[0].Len() + l.waiters[1].Len() }

// pushLocked adds w to the queues, behind the waiters of its priority.
func (l *Limiter) pushLocked(w *Waiter) {
	if h := w.Permit.lender; h != nil {
		if h.borrowers == nil {
			h.borrowers = &borrowers{lanes: make(map[laneKey]*lane)}
		}
		h.borrowers.push(w)
	}
	l.waiters[priority(w.Low)].Push(&w.general, w)
	if w.InTask {
		l.inTasks++
	}
}

func (l *Limiter) takeLocked() bool {
	if l.freeLocked() <= 0 || l.waitingLocked() > 0 {
		return false
	}
	l.out.Add(1)
	return true
}

// passLocked returns one of the limiter's own permits, to the first waiter if it may have it.
func (l *Limiter) passLocked() *Waiter {
	l.out.Add(-1)
	l.extra = max(0, l.extra-1)
	w := l.admitLocked()
	l.updateSignsLocked()
	return w
}

// admitLocked gives a free permit to the first waiter.
func (l *Limiter) admitLocked() *Waiter {
	if l.freeLocked() <= 0 {
		return nil
	}
	w := first(&l.waiters[0])
	if w == nil {
		w = first(&l.waiters[1])
	}
	if w != nil {
		l.grantLocked(w)
	}
	return w
}

// grantLocked gives w a permit of l. Grant of w is to be called after unlocking.
func (l *Limiter) grantLocked(w *Waiter) {
	l.out.Add(1)
	l.removeLocked(w)
	l.granted()
}

func (l *Limiter) updateSignsLocked() {
	signs := Signs(l.waiters[0].Len()) | Signs(l.waiters[1].Len())<<lowWaiters
	if l.freeLocked() < 0 {
		signs |= over
	}
	if l.Signs() != signs { // otherwise without writing to a cache line that holders read
		l.signs.Store(int64(signs))
	}
}

// noteWaitingLocked tells the controller that a waiter waits.
func (l *Limiter) noteWaitingLocked() {
	if !l.Adaptive() {
		return
	}
	if c := l.NeedController(); c != nil { // and not after the end of the search
		c.NotifyWaiting()
	}
}

func (w *Watcher) wake() {
	select {
	case w.Wake <- struct{}{}:
	default:
	}
}

// removeLocked takes w out of the queues.
func (l *Limiter) removeLocked(w *Waiter) {
	w.general.Remove()
	if w.InTask {
		l.inTasks--
	}
	if w.lent.InList() {
		w.Permit.lender.borrowers.remove(w)
	}
	w.Permit = Permit{}
}
