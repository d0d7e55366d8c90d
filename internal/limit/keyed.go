package limit

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/fifo"
	"github.com/stint-go/stint/internal/race"
)

// The limiter of a key that no call uses is kept for keptTime, if no more than keptKeys are.
const (
	keptTime = 10 * time.Minute
	keptKeys = 1000
)

// Keyed has a Limiter for each key, made by the first call that uses the key. The zero Keyed is
// ready for use.
//
// In programs built with -race its lock is taken on goroutines aside, as that of a Limiter is: see
// Admission.
type Keyed[K comparable] struct {
	first sync.Once // for the race detector: whoever has made m
	made  race.Ends // comes before the first call

	mu   sync.Mutex
	keys map[K]*keyUse[K]
	idle fifo.List[*keyUse[K]] // those without calls, the longest idle first
}

// A keyUse is the limiter of a key and the calls that use it.
type keyUse[K comparable] struct {
	keyed   *Keyed[K]
	key     K
	turn    chan struct{} // has one while a call looks whether the limiter is made, and makes it
	made    atomic.Bool   // written by the call whose turn it is; limiter does not change afterwards
	limiter *Limiter      // nil: no limit

	// guarded by Keyed.mu
	calls int           // that wait for the limiter or use it
	since time.Duration // that there are none, by Clock
	node  fifo.Node[*keyUse[K]]
}

// Admit calls admit with the limiter of key. The key is in use until the Release of what admit
// returns, or until admit returns an error or panics. If the limiter is not made, one of the
// callers calls maker, and others wait for that until their ctx ends; if maker panics, the next
// caller calls it again. If maker returns nil, the key has no limit, and the Admission no permit.
// If ctx has ended, or ends during the wait, Admit returns its cause.
func (m *Keyed[K]) Admit(ctx context.Context, key K, maker func(K) *Limiter, admit func(*Limiter, context.Context) (Admission, error)) (a Admission, err error) {
	if ctx.Err() != nil {
		return Admission{}, context.Cause(ctx)
	}
	u := m.enter(key)
	defer func() {
		if a.key == nil { // no Release follows
			u.leave()
		}
	}()
	if err := u.await(ctx, maker); err != nil || u.limiter == nil {
		return Admission{}, err
	}
	if a, err = admit(u.limiter, ctx); err == nil {
		a.key = u
	}
	return a, err
}

// Len returns the number of keys in use, or kept.
func (m *Keyed[K]) Len() int {
	return locked(m, func() int {
		m.dropLocked()
		return len(m.keys)
	})
}

// enter adds a call to those that use key.
func (m *Keyed[K]) enter(key K) *keyUse[K] {
	found := key == key // panics if the key cannot be compared; otherwise a NaN, which is not found again
	where := &key       // the race detector takes a copy of a large key for a write of the caller
	return locked(m, func() *keyUse[K] {
		key := race.Unseen(where)
		m.dropLocked()
		u := m.keys[key]
		if u == nil {
			u = &keyUse[K]{keyed: m, key: key, turn: make(chan struct{}, 1)}
			if m.keys == nil {
				m.keys = make(map[K]*keyUse[K])
			}
			if found {
				m.keys[key] = u
			}
		}
		u.calls++
		u.node.Remove()
		return u
	})
}

// await returns when the limiter is made, or the cause of ctx when that has ended.
func (u *keyUse[K]) await(ctx context.Context, maker func(K) *Limiter) error {
	if u.made.Load() {
		return nil
	}
	select {
	case u.turn <- struct{}{}:
		defer func() { <-u.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if !u.made.Load() {
		u.limiter = maker(u.key)
		u.made.Store(true)
	}
	return nil
}

// leave removes a call from those that use the key.
func (u *keyUse[K]) leave() {
	m := u.keyed
	locked(m, func() bool {
		switch u.calls--; {
		case u.calls > 0:
		case !u.made.Load():
			delete(m.keys, u.key)
		default:
			u.since = Clock()
			m.idle.Push(&u.node, u)
			m.dropLocked()
		}
		return true
	})
}

// dropLocked drops the limiters that have been idle for long, or longer than many others.
func (m *Keyed[K]) dropLocked() {
	for n := m.idle.First(); n != nil; n = m.idle.First() {
		u := n.Value()
		if m.idle.Len() <= keptKeys && Clock()-u.since < keptTime {
			return
		}
		n.Remove()
		delete(m.keys, u.key)
	}
}

// locked calls f with the lock held.
func locked[K comparable, T any](m *Keyed[K], f func() T) T {
	if race.Sharp {
		m.first.Do(m.made.Release)
		return race.Aside(func() T {
			m.made.Acquire()
			m.mu.Lock()
			defer m.mu.Unlock()
			return f()
		})
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return f()
}
