package par

import (
	"reflect"
	"sync/atomic"
)

// history is what an item of a function has cost, by the address of the function's
// code: with it a loop of few items knows beforehand whether it is worth a second
// goroutine. It is a guess, of which nothing but the time depends. A function has
// its note in one of four places, and may lose it to others.
//
// A note is a part of the address, never 0, and the cost in nanoseconds.
var history [64][4]atomic.Uint64

const costBits = 32

// code returns the address of the code of a function. Those that one function
// literal makes have the same.
func code(f any) uint64 { return uint64(reflect.ValueOf(f).Pointer()) }

// places returns where the note of a function may be, and what tells it from
// others.
func places(code uint64) (notes *[4]atomic.Uint64, tag uint64) {
	mixed := code * 0x9e3779b97f4a7c15
	return &history[mixed>>58], mixed<<costBits | 1<<costBits
}

// lookup returns the note of a function and where it is; without one it returns
// 0, and a place for it.
func lookup(code uint64) (note uint64, at *atomic.Uint64, tag uint64) {
	notes, tag := places(code)
	at = &notes[code>>4%4] // where another must leave
	for i := range notes {
		switch note = notes[i].Load(); note >> costBits << costBits {
		case tag:
			return note, &notes[i], tag
		case 0:
			at = &notes[i]
		}
	}
	return 0, at, tag
}

// recall returns what an item of a function has cost, in picoseconds, and whether
// that is known.
func recall(code uint64) (cost int64, known bool) {
	note, _, _ := lookup(code)
	return int64(note&(1<<costBits-1)) * 1000, note != 0
}

// remember notes what an item has cost. More is believed at once, less by and by:
// a cost that is too high is that of a goroutine, one that is too low may be that of
// an item.
func remember(code uint64, cost int64) {
	if code == 0 {
		return
	}
	old, at, tag := lookup(code)
	ns := min(max(uint64(cost)/1000, old&(1<<costBits-1)/8), 1<<costBits-1)
	if note := tag | ns; note != old { // the line is shared by all processors
		at.Store(note)
	}
}
