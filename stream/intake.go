package stream

import (
	"math"
	"time"
)

// How much ParMap lets in besides what its limit is for, where calls are short: where they
// keep all processors busy, those who hand records around get their turn that seldom.
const (
	reserveTime   = 4 * time.Millisecond
	reserveBytes  = 256 << 10 // of records and results
	reservePieces = 16        // pieces, if that is more
)

// acquire lets records in as far as the window allows.
func (m *parMap[T, R]) acquire(o *outlet[T]) (*batch[T], bool) {
	for {
		m.mu.Lock()
		window := m.window()
		n := min(max(window/batches, 1), m.most)
		if n := min(n, window-m.ahead); n >= m.least(window) {
			m.ahead += n
			b := m.block(n)
			m.mu.Unlock()
			return b, true
		}
		m.waiting.Store(true)
		m.mu.Unlock()
		o.g.pause()
		select {
		case <-m.vacant:
		case <-o.g.ctx.Done():
			return nil, false
		}
	}
}

// least returns how few records are let in at once: a piece, if the window has room for
// several. Under Queue each place counts.
func (m *parMap[T, R]) least(window int) int {
	if m.queue >= 0 {
		return 1
	}
	return max(min(m.step(), window/batches, m.most), 1)
}

// window returns how many records may have been let in and not been handed on.
func (m *parMap[T, R]) window() int {
	limit := int64(min(m.place.Engine.Limiter().Bound(), 1<<24))
	k := int64(m.step())
	n := 2 * limit
	switch {
	case m.queue >= 0:
		n = limit + min(int64(m.queue), math.MaxInt32)
	case k > 1:
		work := int64(reserveTime) * 1000 / m.cost.Load()
		n = limit*k + max(min(work, m.reserve), reservePieces*k)
	}
	return int(min(n, math.MaxInt32))
}

// step returns how many records make a piece.
func (m *parMap[T, R]) step() int {
	cost := m.cost.Load()
	if cost == 0 {
		return 1
	}
	return int(min(max(int64(pieceTime)*1000/cost, 1), int64(m.most)))
}

// block returns an empty batch for n records. It is called with mu held.
func (m *parMap[T, R]) block(n int) *batch[T] {
	if last := len(m.blocks) - 1; last >= 0 {
		b := m.blocks[last]
		m.blocks = m.blocks[:last]
		if n <= cap(b.items) {
			b.items = b.items[:n]
			return b
		}
	}
	return &batch[T]{state: sealed, items: make([]T, n)}
}

// send cuts a batch into pieces and submits them.
func (m *parMap[T, R]) send(b *batch[T]) {
	if b.last {
		m.place.Source.Update(func() { m.fed, m.err = true, b.err })
		return
	}
	m.mu.Lock()
	pieces := m.cut(m.pieces[:0], b.items[:b.n], m.next, m.place.Home)
	m.pieces = pieces
	m.next += uint64(b.n)
	m.ahead -= len(b.items) - b.n
	if m.pointers {
		clear(b.items[:b.n])
	}
	m.blocks = append(m.blocks, b)
	m.vacate()
	m.mu.Unlock()
	m.place.Source.Update(func() { m.link(m.tail, pieces...) })
	m.submit(pieces)
}

// urge does nothing: what was sent is at work.
func (m *parMap[T, R]) urge() {}

// vacate wakes the sender if it waits and there is room. It is called with mu held.
func (m *parMap[T, R]) vacate() {
	if !m.waiting.Load() {
		return
	}
	if window := m.window(); window-m.ahead >= m.least(window) {
		m.waiting.Store(false)
		select {
		case m.vacant <- struct{}{}:
		default: // it looks again already
		}
	}
}
