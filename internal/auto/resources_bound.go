package auto

import (
	"fmt"
	"math"
)

// A bound compares memory in use with what is allowed, and learns what a worker needs.
type bound struct {
	workers int     // the fewest workers, or the least memory, seen so far:
	base    float64 // bytes in use with these workers
	short   float64 // the share of the memory limit when it was short last; 0 once memory suffices
}

// A memory is a reading for a bound, in bytes. Until a collection has seen the tasks of all
// workers, nobody knows how much of the heap is garbage: used counts none as garbage, and sure
// what the last collection kept.
type memory struct {
	used, sure float64
	held       float64 // now, garbage included
	allowed    float64 // for used
	limit      float64 // for held
	seen       bool    // used and sure are the same
	of         string  // what the memory is of
}

// room returns the largest limit up to want that memory allows, as resources.room does.
func (b *bound) room(now, want int, m memory) (n int, reason string) {
	each, known := b.perWorker(now, m.used)
	more := m.room(m.used) / each
	switch {
	case known && !m.seen:
		live := m.sure + each*float64(now) // workers that need little cannot have filled the memory
		more = max(more, min(m.room(live), m.limit-m.held)/each)
	case !known && m.room(m.sure) > 0 && m.held < m.limit:
		more = max(more, trialWorkers(now))
	}
	if more >= float64(want-now) {
		return want, ""
	}
	return now + int(more), fmt.Sprintf("memory%s: %.0f of %.0f MiB in use, %.1f MiB a worker", m.of, m.used/mib, m.allowed/mib, each/mib)
}

// room returns the bytes that are left if so many are used.
func (m *memory) room(used float64) float64 { return max(0, m.allowed-used) }

// trialWorkers returns how many more workers tell what one needs: one, and two of about a dozen, with
// which most searches start.
func trialWorkers(now int) float64 {
	if now >= 8 && now < 16 {
		return 2
	}
	return 1
}

// perWorker estimates the bytes of a worker by comparison with the base. Without a base of fewer
// workers and less memory they are not known: all memory is shared out then, though most of it
// may have been in use before any worker ran.
func (b *bound) perWorker(workers int, used float64) (bytes float64, known bool) {
	if b.base > 0 && workers > b.workers && used > b.base {
		return (used - b.base) / float64(workers-b.workers), true
	}
	b.workers, b.base = workers, used
	return used / float64(workers), false
}

// isShort reports whether the share in use is far beyond the share up to which the limit
// grows, and has changed since it was short last.
func (b *bound) isShort(share, grow float64) bool {
	switch {
	case share <= grow:
		b.short = 0
	case share > grow+shortShare*(1-grow) && math.Abs(share-b.short) >= changeShare:
		b.short = share
		return true
	}
	return false
}
