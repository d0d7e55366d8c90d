package bench

import (
	"runtime"
	"sync"
	"time"
)

// Spin computes for the given number of steps, about a nanosecond each, and
// returns the result. Each step needs the result of the step before.
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

// Steps returns how many steps of Spin take d on this machine.
func Steps(d time.Duration) int {
	return max(1, int(float64(d.Nanoseconds())/stepCost()))
}

// stepCost returns the time of one step in nanoseconds. It is measured once, as
// the fastest of several tries, since every disturbance makes a try slower.
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
