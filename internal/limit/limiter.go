// Package limit counts permits, and knows for every task which permits it runs
// on. See README.md for the states and the races.
package limit

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/line"
)

// A worker may keep a permit that somebody else waits for when its tasks are short,
// since a hand-over costs about a microsecond: for the time Quantum, or for Turns
// tasks, whichever is over first. Only the second works where the clock stands
// still, in a bubble.
const (
	Quantum = 100 * time.Microsecond
	Turns   = 1000
)

// over is the bit of Limiter.signs that says that more permits are out than
// the limit allows, after Set made it smaller. The bits below count waiters.
const over = 1 << 30

// A Limiter hands out at most a set number of permits, first come, first served.
// Use New, or Init.
type Limiter struct {
	signs atomic.Int32 // written with mu held; a holder reads it between two tasks
	calls atomic.Int32 // that have a permit lent by a task; the same
	bound atomic.Int64 // limit, for those who do not have mu

	mu    sync.Mutex
	limit int
	out   int // permits that are out
	line  line.Line[*Waiter]

	alarms line.Line[*Alarm]

	tuner   Tuner       // nil: the limit changes by Set only
	pressed atomic.Bool // somebody has waited, under a tuner, since no permit was out; written with mu held
}

// A Tuner changes the limit by itself. It is told, with the limiter's lock held, when
// somebody waits.
type Tuner interface{ Press() }

// An Alarm keeps two bits of a word up to date, for those who read that word
// anyway, or wakes one who waits for the limit to change.
type Alarm struct {
	Wake  chan<- struct{} // is sent to, unless it is full, when the limit may have changed; nil: Word
	Word  *atomic.Uint32
	Over  uint32 // set while more permits are out than the limit allows
	Above uint32 // set while the limiter is Above Most
	Most  int

	place line.Place[*Alarm] // guarded by Limiter.mu
}

// A Permit is the right to run one task at a time. Its zero value is one of the
// limiter's own; others are lent by a task that waits for this one.
type Permit struct{ lender *Slot }

// A Waiter stands in a limiter's line, and in that of the slot that may lend it
// a permit earlier. It must not be copied or used twice at once.
type Waiter struct {
	// Grant is called once Permit is set, by whoever freed it, without locks.
	Grant  func()
	Permit Permit
	Quiet  bool // its wait says nothing about the limit: no tuner is told

	general, lent line.Place[*Waiter] // guarded by Limiter.mu
	branch        *Link               // as Link.On returned it
}

// New returns a Limiter of n permits.
func New(n int) *Limiter {
	l := new(Limiter)
	l.Init(n)
	return l
}

// Init makes a new Limiter one of n permits.
func (l *Limiter) Init(n int) {
	l.limit = n
	l.bound.Store(int64(n))
}

// Tune has t change the limit. It is called before l is used.
func (l *Limiter) Tune(t Tuner) { l.tuner = t }

// Above reports whether the limit is above most, and says so of tasks that wait: a
// tuner's limit says nothing as long as nobody has waited for a place, since none was
// taken.
func (l *Limiter) Above(most int) bool {
	return l.Bound() > most && (l.tuner == nil || l.pressed.Load())
}

// Load returns how many permits are out, and whether somebody waits for one.
func (l *Limiter) Load() (out int, waiting bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out, l.line.Len() > 0
}

// Bound returns the limit.
func (l *Limiter) Bound() int { return int(l.bound.Load()) }

// TryAcquire takes a permit if one is free and nobody waits for it.
func (l *Limiter) TryAcquire() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take()
}

// Join takes a permit and returns true with w.Permit set, or puts w in line.
// from is the link of the caller, whose slots may lend a permit; nil has none.
func (l *Limiter) Join(w *Waiter, from *Link) bool {
	slot, branch := from.On(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	var free bool
	if w.Permit, free = l.takeFrom(slot, branch); free {
		return true
	}
	w.branch = branch
	l.line.Push(&w.general, w)
	if slot != nil {
		slot.line.Push(&w.lent, w)
	}
	l.sign()
	if l.tuner != nil && !w.Quiet {
		l.press()
	}
	return false
}

// Leave takes w out of the line. It returns false when w is in none: then its
// Grant has been called or is about to be.
func (l *Limiter) Leave(w *Waiter) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.general.Taken() {
		return false
	}
	w.leave()
	l.sign()
	return true
}

// Acquire waits for a permit and reports whether it has one. It gives up when
// done or quit is closed; either may be nil.
func (l *Limiter) Acquire(done, quit <-chan struct{}, from *Link) (Permit, bool) {
	if p, free := l.acquireFree(from); free {
		return p, true
	}
	granted := make(chan struct{})
	w := &Waiter{Grant: func() { close(granted) }}
	if l.Join(w, from) {
		return w.Permit, true
	}
	select {
	case <-granted:
		return w.Permit, true
	case <-done:
	case <-quit:
	}
	if l.Leave(w) {
		return Permit{}, false
	}
	<-granted
	return w.Permit, true
}

// acquireFree is Acquire when that takes no waiting.
func (l *Limiter) acquireFree(from *Link) (Permit, bool) {
	slot, branch := from.On(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.takeFrom(slot, branch)
}

// Release gives a permit back. The caller must hold no lock that a Grant takes.
func (l *Limiter) Release(p Permit) {
	if w := l.Free(p); w != nil {
		w.Grant()
	}
}

// Free gives a permit back. When it passed to a waiter, that one is returned and
// the caller owes the call of its Grant, as soon as it holds no lock.
func (l *Limiter) Free(p Permit) *Waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.giveBack(p)
}

// Yield gives one of the limiter's own permits back if somebody else should have
// it: the first in line, which is returned as from Free, or nobody, after Set
// made the limit smaller. It reports whether the caller keeps its permit.
func (l *Limiter) Yield() (w *Waiter, kept bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.out <= l.limit && l.line.Len() == 0 {
		return nil, true
	}
	return l.free(), false
}

// Contended reports whether more than own waiters stand in line, or more permits
// are out than the limit allows.
func (l *Limiter) Contended(own int) bool { return int(l.signs.Load()) > own }

// Signs returns a number that tells whether Contended and Over have changed: it is
// the number of waiters while the permits that are out are within the limit.
func (l *Limiter) Signs() int32 { return l.signs.Load() }

// Nested reports whether a call has a permit that a task lends: else no Slot is
// Busy.
func (l *Limiter) Nested() bool { return l.calls.Load() != 0 }

// Watch keeps a up to date until Unwatch.
func (l *Limiter) Watch(a *Alarm) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alarms.Push(&a.place, a)
	a.ring(l)
}

// Unwatch ends Watch.
func (l *Limiter) Unwatch(a *Alarm) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a.place.Leave()
}

// Over reports whether more permits are out than the limit allows.
func (l *Limiter) Over() bool { return l.signs.Load()&over != 0 }

// Set changes the limit. More permits go to waiters at once; fewer are reached
// as the holders come to the end of their tasks, each of which must ask Yield
// before it starts another. The caller must hold no lock that a Grant takes.
func (l *Limiter) Set(n int) {
	l.mu.Lock()
	l.limit = n
	l.bound.Store(int64(n))
	var granted []*Waiter
	for w := l.admit(); w != nil; w = l.admit() {
		granted = append(granted, w)
	}
	l.sign()
	l.alarm()
	l.mu.Unlock()
	for _, w := range granted {
		w.Grant()
	}
}

// Counts returns the limit, the permits that are out and the waiters.
func (l *Limiter) Counts() (limit, out, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.limit, l.out, l.line.Len()
}

// The functions below are called with mu held.

// takeFrom takes the permit that slot lends at branch, or one of the limiter's own.
func (l *Limiter) takeFrom(slot *Slot, branch *Link) (p Permit, ok bool) {
	if slot != nil && slot.take(branch) {
		return Permit{slot}, true
	}
	return Permit{}, l.take()
}

func (l *Limiter) take() bool {
	if l.out >= l.limit || l.line.Len() > 0 {
		return false
	}
	l.out++
	return true
}

func (l *Limiter) giveBack(p Permit) *Waiter {
	if p.lender != nil {
		return p.lender.free()
	}
	return l.free()
}

func (l *Limiter) free() *Waiter {
	l.out--
	w := l.admit()
	l.sign()
	if l.out == 0 && l.pressed.Load() {
		l.pressed.Store(false)
		l.alarm()
	}
	return w
}

// admit gives a free permit to the first in line.
func (l *Limiter) admit() *Waiter {
	if l.out >= l.limit || l.line.Len() == 0 {
		return nil
	}
	l.out++
	w := l.line.First().Of()
	w.leave()
	w.Permit = Permit{}
	return w
}

func (l *Limiter) sign() {
	signs := l.line.Len()
	if l.out > l.limit {
		signs |= over
	}
	if before := l.signs.Swap(int32(signs)); int(before)&over != signs&over {
		l.alarm()
	}
}

// press tells the tuner that somebody waits.
func (l *Limiter) press() {
	if !l.pressed.Load() {
		l.pressed.Store(true)
		l.alarm()
	}
	l.tuner.Press()
}

// alarm follows when what the alarms tell has changed.
func (l *Limiter) alarm() {
	for p := l.alarms.First(); p != nil; p = p.Next() {
		p.Of().ring(l)
	}
}

func (a *Alarm) ring(l *Limiter) {
	if a.Wake != nil {
		select {
		case a.Wake <- struct{}{}:
		default:
		}
		return
	}
	a.set(a.Over, l.out > l.limit)
	a.set(a.Above, l.Above(a.Most))
}

func (a *Alarm) set(bit uint32, on bool) {
	if on {
		a.Word.Or(bit)
	} else {
		a.Word.And(^bit)
	}
}

func (w *Waiter) leave() {
	w.general.Leave()
	w.lent.Leave()
}
