// Package load is what the tasks of the experiments do: computing for a given
// time.
package load

import (
	"runtime"
	"sync"
	"time"
)

// Spin computes for as many steps, of about a nanosecond each, and returns what
// comes out. A step needs the result of the one before it.
//
//go:noinline
func Spin(steps int) uint64 {
	x := uint64(steps) | 1
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// Steps is how many steps of Spin take so long on this machine.
func Steps(d time.Duration) int {
	return max(1, int(float64(d.Nanoseconds())/stepCost()))
}

// stepCost is the time of one step in nanoseconds, measured once: the fastest
// of several tries, since everything else makes it slower.
var stepCost = sync.OnceValue(func() float64 {
	const steps = 200_000
	best := time.Hour
	for range 20 {
		began := time.Now()
		runtime.KeepAlive(Spin(steps))
		best = min(best, time.Since(began))
	}
	return max(float64(best.Nanoseconds()), 1) / steps
})
