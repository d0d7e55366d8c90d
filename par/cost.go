package par

import (
	"reflect"
	"sync/atomic"
)

// costs holds the last measured cost of an item, by the address of the function's code, so
// that a loop of few items knows beforehand whether helpers are worthwhile. Functions whose
// addresses share an entry replace each other. A wrong cost affects only speed.
//
// An entry is a part of the address, which is never 0, and the cost in nanoseconds.
var costs [256]atomic.Uint64

const costBits = 32

// code returns the address of the code of a function. Closures of one function literal have
// the same address.
func code(f any) uint64 { return uint64(reflect.ValueOf(f).Pointer()) }

// costEntry returns the entry of a function, and the tag that marks it as this function's.
func costEntry(code uint64) (entry *atomic.Uint64, tag uint64) {
	mixed := code * 0x9e3779b97f4a7c15
	return &costs[mixed>>56], mixed<<costBits | 1<<costBits
}

// knownCost returns the last cost of an item of a function, in picoseconds.
func knownCost(code uint64) (cost int64, known bool) {
	entry, tag := costEntry(code)
	v := entry.Load()
	return int64(v&(1<<costBits-1)) * 1000, v>>costBits<<costBits == tag
}

// setCost stores the cost of an item of a function. The stored cost grows at once, but
// falls to an eighth at most, because a low value may come from a single cheap item.
func setCost(code uint64, cost int64) {
	if code == 0 {
		return
	}
	entry, tag := costEntry(code)
	old, least := entry.Load(), uint64(0)
	if old>>costBits<<costBits == tag {
		least = old & (1<<costBits - 1) / 8
	}
	ns := min(max(uint64(cost)/1000, least), 1<<costBits-1)
	if v := tag | ns; v != old { // all CPUs share the cache line
		entry.Store(v)
	}
}
