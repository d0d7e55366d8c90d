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
	full := func() bool { return a.bytes > maxAheadBytes && a.jobs > limit() }
	if full() {
		defer context.AfterFunc(ctx, a.wake)()
		for full() && ctx.Err() == nil {
			a.room.Wait()
		}
	}
	a.jobs++
	a.bytes += bytes
	return context.Cause(ctx)
}

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
	a.room.Broadcast()
}
