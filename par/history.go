package par

import (
	"reflect"
	"sync/atomic"
)

// history is what an item of a function has cost, by the address of the function's
// code: with it a loop of few items knows beforehand whether it is worth a second
// goroutine. It is a guess, of which nothing but the time depends: functions may
// share a place, and lose it to others.
var history [256]atomic.Uint64

// A note is an entry of history: a part of the address, and the cost of an item
// in nanoseconds.
const noteBits = 32

// code returns the address of the code of a function. Those that one function
// literal makes have the same.
func code(f any) uint64 { return uint64(reflect.ValueOf(f).Pointer()) }

func place(code uint64) (note *atomic.Uint64, tag uint64) {
	mixed := code * 0x9e3779b97f4a7c15
	return &history[mixed>>56], mixed & (1<<noteBits - 1) << noteBits
}

// recall returns what an item of a function has cost, in picoseconds, and whether
// that is known.
func recall(code uint64) (cost int64, known bool) {
	note, tag := place(code)
	v := note.Load()
	return int64(v&(1<<noteBits-1)) * 1000, v != 0 && v>>noteBits<<noteBits == tag
}

// remember notes what an item has cost. More is believed at once, less by and by:
// a cost that is too high is that of a goroutine, one that is too low may be that of
// an item.
func remember(code uint64, cost int64) {
	note, tag := place(code)
	if old, known := recall(code); known {
		cost = max(cost, old/8)
		if cost/1000 == old/1000 {
			return
		}
	}
	note.Store(tag | uint64(min(cost/1000, 1<<noteBits-2)+1))
}
