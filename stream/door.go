package stream

import "sync/atomic"

// A door is where a function of the caller's puts records through, to what follows.
//
//	open  the next one may come
//	busy  one is on its way: what follows has not returned, or never will after a panic
//	shut  no more is wanted
type door uint8

const (
	open door = iota
	busy
	shut
)

// through returns the function that puts records through a door to a sink.
func through[T any](g *segment, to sink[T]) (put func(T) bool, d *door) {
	d = new(door)
	return func(v T) bool {
		if *d == busy {
			return false
		}
		if *d == open && atomic.LoadUint32(&g.halt)&over == 0 {
			*d = busy
			if to.one(v) {
				*d = open
				return true
			}
		}
		*d = shut
		return false
	}, d
}

// returned panics if the function has recovered a panic of what follows: a loop over a
// sequence panics then too, as nothing may go on as if there had been none.
func (d *door) returned(function string) {
	if *d == busy {
		panic("stream: " + function + " recovered a panic of what takes its records, and did not panic itself")
	}
}
