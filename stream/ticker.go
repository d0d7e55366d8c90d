package stream

import (
	"sync"
	"sync/atomic"
	"time"
)

// linger is how long a finished record may wait for other records of its batch.
const linger = time.Millisecond

// A ticker ticks every linger for one run, while there is something to send:
//
//	still    no timer is set
//	ticking  the timer is set or a tick runs; after a tick that finds no client that
//	         needs the next one, the ticker is still
//	closed   it ticks no more
//
// A client first sets its need for a tick, then calls wake; a tick first makes the ticker
// still, then looks at the clients again. So one of the two sees the other.
type ticker struct {
	ticking uint32 // atomic; written with mu held
	ticks   uint32 // atomic

	mu      sync.Mutex
	closed  bool
	clients []tickClient // append only
	timer   *time.Timer
	pending sync.WaitGroup // timers that are set, and ticks that run
}

type tickClient interface {
	tick() (again bool) // reports what needsTick would
	needsTick() bool
}

func (t *ticker) join(client tickClient) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clients = append(t.clients, client)
}

// wake is called by a client that needs a tick, with no lock held that its tick takes.
func (t *ticker) wake() {
	if atomic.LoadUint32(&t.ticking) != 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ticking == 0 {
		t.set()
	}
}

// set sets the timer. It is called with mu held.
func (t *ticker) set() {
	if t.closed {
		return
	}
	atomic.StoreUint32(&t.ticking, 1)
	t.pending.Add(1)
	if t.timer == nil {
		t.timer = afterFunc(linger, t.tick)
	} else {
		t.timer.Reset(linger)
	}
}

// tick runs on a goroutine of its own, one at a time.
func (t *ticker) tick() {
	defer t.pending.Done()
	atomic.AddUint32(&t.ticks, 1)
	t.mu.Lock()
	clients := t.clients
	t.mu.Unlock()
	again := false
	for _, client := range clients {
		again = client.tick() || again
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !again {
		atomic.StoreUint32(&t.ticking, 0)
		for _, client := range t.clients {
			again = client.needsTick() || again
		}
	}
	if again {
		t.set()
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
