package stream

import (
	"sync"
	"sync/atomic"
	"time"
)

// linger is how long a finished record may wait for others.
const linger = time.Millisecond

// A ticker ticks linger after a chain of its run has become active. The chain becomes active,
// then looks whether the ticker is ticking; a tick ends that, then looks at the chains. So one
// of the two sees the other.
type ticker struct {
	ticking uint32 // atomic; 1: the timer is set

	mu      sync.Mutex
	closed  bool
	chains  []*chain // append only
	timer   *time.Timer
	pending sync.WaitGroup // the timer while it is set, and ticks that run
}

func (t *ticker) join(c *chain) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.chains = append(t.chains, c)
}

// wake sets the timer, if it is not set.
func (t *ticker) wake() {
	if atomic.LoadUint32(&t.ticking) != 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || !atomic.CompareAndSwapUint32(&t.ticking, 0, 1) {
		return
	}
	t.pending.Add(1)
	if t.timer == nil {
		t.timer = afterFunc(linger, t.tick)
	} else {
		t.timer.Reset(linger)
	}
}

// tick runs on a goroutine of its own.
func (t *ticker) tick() {
	defer t.pending.Done()
	atomic.StoreUint32(&t.ticking, 0)
	t.mu.Lock()
	chains := t.chains
	t.mu.Unlock()
	for _, c := range chains {
		c.tick()
	}
}

// close stops the ticker and waits for a tick that runs.
func (t *ticker) close() {
	t.mu.Lock()
	t.closed = true
	if t.timer != nil && t.timer.Stop() {
		t.pending.Done()
	}
	t.mu.Unlock()
	t.pending.Wait()
}
