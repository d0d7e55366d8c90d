//go:build race

package race

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// An Order tells the detector what a limit orders, as a channel that is used as a semaphore
// does: under a limit of n, the first k tasks have ended when task n+k starts. So a limit of
// 1 orders all tasks, and a limit of 2 does not order two that follow each other.
//
// The zero Order is ready for use. Its lock and its fields are hidden from the detector.
type Order struct{ order atomic.Pointer[order] }

type order struct {
	mu           sync.Mutex
	starts, ends int
	ended        [maxEnded]uint64 // k modulo maxEnded: its address stands for the first k ends, or for more
}

// maxEnded is the limit beyond which an Order may order more tasks than the limit does.
const maxEnded = 1024

// A Ticket is the place of a task in an Order. The zero Ticket has no place.
type Ticket struct{ number, limit int }

// Take counts a task, which has its permit or is in line for it, under a limit. Tasks whose
// order a program can know must take their tickets in this order.
//
//go:norace
func (o *Order) Take(limit int) (t Ticket) {
	if !Sharp {
		return t
	}
	runtime.RaceDisable()
	p := o.order.Load()
	if p == nil {
		o.order.CompareAndSwap(nil, new(order))
		p = o.order.Load()
	}
	p.mu.Lock()
	p.starts++
	t = Ticket{p.starts, limit}
	p.mu.Unlock()
	runtime.RaceEnable()
	return t
}

// Start is called by the task, before it starts.
func (o *Order) Start(t Ticket) {
	if t.number > t.limit {
		p, ends := o.look()
		p.acquire(min(t.number-t.limit, ends)) // fewer have ended if the limit has fallen, or under lent permits
	}
}

// Acquire is called by a goroutine that has found room for a task, while at least free permits
// were free: the other tasks had to end for that. The permits are counted before the call. free
// is 0 if the goroutine has looked how many tasks have ended.
func (o *Order) Acquire(free int) {
	p, ends := o.look()
	p.acquire(min(ends-free, ends))
}

// look returns how many tasks have ended. The order is nil if none has taken a ticket.
//
//go:norace
func (o *Order) look() (p *order, ends int) {
	runtime.RaceDisable()
	if p = o.order.Load(); p != nil {
		p.mu.Lock()
		ends = p.ends
		p.mu.Unlock()
	}
	runtime.RaceEnable()
	return p, ends
}

// acquire orders what the goroutine does next after the first n ends.
func (p *order) acquire(n int) {
	if n > 0 {
		runtime.RaceAcquire(unsafe.Pointer(&p.ended[n%maxEnded]))
	}
}

// End is called when a task has ended, before it returns its permit.
//
//go:norace
func (o *Order) End(t Ticket) {
	if t.number == 0 {
		return
	}
	runtime.RaceDisable()
	p := o.order.Load()
	p.mu.Lock()
	last := p.ends % maxEnded
	p.ends++
	next := p.ends % maxEnded
	runtime.RaceEnable()
	runtime.RaceAcquire(unsafe.Pointer(&p.ended[last]))
	runtime.RaceRelease(unsafe.Pointer(&p.ended[next]))
	runtime.RaceDisable()
	p.mu.Unlock()
	runtime.RaceEnable()
}
