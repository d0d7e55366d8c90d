package limit

import (
	"context"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/machine"
)

// memoryPause is the time between two looks at the memory that a job waits for.
const memoryPause = 100 * time.Millisecond

// AwaitMemory waits until as much memory is free as is to stay free, if New was given a number
// of bytes. It calls say once if it has to wait, and returns the cause of ctx if ctx ends.
func (l *Limit) AwaitMemory(ctx context.Context, say func(available int64)) error {
	if l.memory.spare == 0 {
		return context.Cause(ctx)
	}
	l.meterMu.Lock()
	defer l.meterMu.Unlock()
	if l.meter == nil {
		l.meter = machine.NewMeter()
	}
	for ctx.Err() == nil {
		m, ok := l.meter.Memory()
		if !ok || m.Available >= l.memory.spare {
			return nil
		}
		if !l.said {
			l.said = true
			say(m.Available)
		}
		select {
		case <-time.After(memoryPause):
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}
