package stream

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/window"
	"github.com/stint-go/stint/internal/work"
)

const (
	batchTime = 20 * time.Microsecond // for which a task of a ParMap calls the function
	batchSize = 64                    // records of a task, at most
)

// A batch is the records that become the next task of a ParMap. The feeder adds them. They are
// submitted when there are enough, before the feeder blocks on a boundary or a channel, by a tick,
// and at once after a silence. A batch is admitted before its first record, so that to submit it
// does not block.
type batch[T any] struct {
	cost atomic.Int64 // of a call, in nanoseconds, as the last task has measured it; 0: not known

	// Owned by the feeder.
	admitted bool // there is room for the next batch
	alone    [1]T

	mu      sync.Mutex
	records []T
	last    int // how many the batch before had
}

// size returns how many records a task should have. In programs built with -race it is 1, since
// the calls of a task are ordered.
func (b *batch[T]) size() int {
	cost := b.cost.Load()
	if cost == 0 || race.Sharp {
		return 1
	}
	return int(min(max(int64(batchTime)/cost, 1), batchSize))
}

// sink returns the sink of the stages before. Records with a key are not batched.
func (m *parMap[T, R]) sink() sink[T] {
	if m.window.Key != nil {
		return oneByOne(m.up.lifetime, func(v T) bool {
			return m.window.Admit(m.up.ctx.Done()) && m.window.Submit([]T{v}) == work.Accepted
		})
	}
	m.up.flush = m.submit
	return sink[T]{one: m.one, many: m.many}
}

func (m *parMap[T, R]) one(v T) bool {
	alone := m.batch.alone[:]
	alone[0] = v
	wanted := m.many(alone)
	clear(alone)
	return wanted
}

func (m *parMap[T, R]) many(vs []T) bool {
	for len(vs) > 0 {
		n := m.add(vs)
		if n == 0 {
			m.batch.admitted = m.window.Admit(m.up.ctx.Done())
		}
		if m.up.ended() {
			return false
		}
		vs = vs[n:]
	}
	return true
}

// add adds the first records of vs to the batch and returns how many: none if there is no room
// for a new one.
func (m *parMap[T, R]) add(vs []T) (n int) {
	b := &m.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	size := b.size()
	if b.records == nil {
		if !b.admitted {
			return 0
		}
		b.admitted = false
		b.records = make([]T, 0, min(size, max(b.last, len(vs))))
	}
	n = min(len(vs), max(size-len(b.records), 1))
	b.records = append(b.records, vs[:n]...)
	switch {
	case len(b.records) >= size:
		m.submitLocked()
	case atomic.LoadUint32(&m.up.active) == 0:
		m.up.activate()
		m.submitLocked()
	}
	return n
}

// submit submits the batch.
func (m *parMap[T, R]) submit() {
	m.batch.mu.Lock()
	defer m.batch.mu.Unlock()
	m.submitLocked()
}

// submitLocked is submit. If a closed pool refuses the batch, the consumer sees that.
func (m *parMap[T, R]) submitLocked() {
	if records := m.batch.records; records != nil {
		m.batch.records, m.batch.last = nil, len(records)
		m.window.Submit(records)
	}
}

// call calls the function for the records of a task, while they are wanted. The results before an
// error or a panic are kept.
func (m *parMap[T, R]) call(ctx context.Context, t *window.Task[[]T, []R]) error {
	began := time.Now()
	t.Value = make([]R, 0, len(t.Item))
	for i, v := range t.Item {
		if i > 0 && (ctx.Err() != nil || !m.window.Wants(t)) {
			break
		}
		r, err := m.f(ctx, v)
		if err != nil {
			return err
		}
		t.Value = append(t.Value, r)
	}
	if !race.Sharp { // an atomic operation would order the tasks for the detector
		m.batch.cost.Store(int64(time.Since(began)) / int64(len(t.Value)))
	}
	return nil
}

// Short reports whether tasks are batches: then the rate at which they end says nothing.
func (m *parMap[T, R]) Short() bool { return m.batch.size() > 1 }
