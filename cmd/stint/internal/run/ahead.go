package run

import (
	"context"
	"sync"
)

// An ahead bounds the jobs that are read ahead, by their bytes. The zero value is ready.
type ahead struct {
	mu    sync.Mutex
	room  sync.Cond
	jobs  int
	bytes int
}

// add waits until jobs have ended, if those that have not have too many bytes and are more
// than limit. It returns the cause of ctx if ctx ends first.
func (a *ahead) add(ctx context.Context, bytes int, limit func() int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.room.L = &a.mu
	if full := a.isFull(limit); full {
		defer context.AfterFunc(ctx, a.wake)()
		for full && ctx.Err() == nil {
			a.room.Wait()
			full = a.isFull(limit)
		}
	}
	a.jobs++
	a.bytes += bytes
	return context.Cause(ctx)
}

// isFull reports whether no job is to be added. It is called with mu held.
func (a *ahead) isFull(limit func() int) bool { return a.bytes > maxAheadBytes && a.jobs > limit() }

func (a *ahead) wake() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.room.Broadcast()
}

func (a *ahead) remove(bytes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.jobs--
	a.bytes -= bytes
	if a.room.L != nil {
		a.room.Broadcast()
	}
}
