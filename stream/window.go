package stream

import (
	"math"
	"time"
)

// The number of records of short calls that ParMap admits in addition to one task for each
// worker. Short calls keep all CPUs busy, and the goroutines that pass on records seldom
// run.
const (
	reserveTime  = 4 * time.Millisecond
	reserveBytes = 256 << 10 // of records and results
	reserveTasks = 16        // even if they take longer, or are larger
)

// acquire returns a batch for records that the window admits.
func (m *parMap[T, R]) acquire(s *sender[T]) (*batch[T], bool) {
	for {
		m.mu.Lock()
		m.setWaiting(false)
		window := m.window()
		n := min(max(window/queueBatches, 1), m.maxSize)
		if n := min(n, window-m.admitted); n >= m.minAdmission(window) {
			m.admitted += n
			b := m.newBatch(n)
			m.mu.Unlock()
			return b, true
		}
		m.setWaiting(true)
		m.mu.Unlock()
		s.c.beforeBlocking()
		select {
		case <-m.vacant:
		case <-s.c.ctx.Done():
			m.mu.Lock()
			m.setWaiting(false)
			m.mu.Unlock()
			return nil, false
		}
	}
}

// setWaiting records whether the sender waits. It is called with mu held.
func (m *parMap[T, R]) setWaiting(waiting bool) {
	m.waiting = waiting
	m.demand.Wait(m.exec.Engine.Controller(), waiting && m.queue >= 0 && !m.Short(), m.queue, m.limit())
}

func (m *parMap[T, R]) limit() int { return min(m.exec.Engine.Limiter().Bound(), 1<<24) }

// window returns how many records may be admitted.
func (m *parMap[T, R]) window() int {
	limit := int64(m.limit())
	k := int64(m.taskSize())
	n := 2 * limit
	switch {
	case m.queue >= 0:
		n = limit + min(int64(m.queue), math.MaxInt32)
	case k > 1:
		records := int64(reserveTime) * 1000 / m.cost.Load()
		n = limit*k + max(min(records, m.reserve), reserveTasks*k)
	}
	return int(min(n, math.MaxInt32))
}

// minAdmission returns the smallest number of records that are admitted at once: a task if
// the window has room for several, and one record under Queue.
func (m *parMap[T, R]) minAdmission(window int) int {
	if m.queue >= 0 {
		return 1
	}
	return max(min(m.taskSize(), window/queueBatches, m.maxSize), 1)
}

// newBatch returns an empty batch for n records. It is called with mu held.
func (m *parMap[T, R]) newBatch(n int) *batch[T] {
	if last := len(m.freeBatches) - 1; last >= 0 {
		b := m.freeBatches[last]
		m.freeBatches = m.freeBatches[:last]
		if n <= cap(b.items) {
			b.items = b.items[:n]
			return b
		}
	}
	return &batch[T]{state: sealed, items: make([]T, n)}
}

// send cuts a batch into tasks and submits them.
func (m *parMap[T, R]) send(b *batch[T]) {
	m.mu.Lock()
	if b.last {
		m.upEnded, m.upErr = true, b.err
		m.mu.Unlock()
		m.exec.Source.Notify()
		return
	}
	tasks := m.cut(m.tasks[:0], b.items[:b.n], m.nextIndex, m.exec.Parent)
	m.tasks = tasks
	m.nextIndex += uint64(b.n)
	m.admitted -= len(b.items) - b.n
	if m.pointers {
		clear(b.items[:b.n])
	}
	m.freeBatches = append(m.freeBatches, b)
	m.wakeSender()
	m.insertAll(m.tail, tasks)
	m.mu.Unlock()
	m.submit(tasks)
}

// notify does nothing: workers are running the tasks that were sent.
func (m *parMap[T, R]) notify() {}

// wakeSender wakes the sender if it waits and the window has room. It is called with mu
// held.
func (m *parMap[T, R]) wakeSender() {
	if !m.waiting {
		return
	}
	if window := m.window(); window-m.admitted >= m.minAdmission(window) {
		m.setWaiting(false)
		select {
		case m.vacant <- struct{}{}:
		default: // it looks already
		}
	}
}
