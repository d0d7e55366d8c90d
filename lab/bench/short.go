package bench

import (
	"testing"
	"time"
)

// Short returns n, or at most another number in a short test.
func Short[N int | time.Duration](n, most N) N {
	if testing.Short() {
		return min(n, most)
	}
	return n
}

// Check ends this program, and therefore its children, if there is an error.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

// Must returns v. An error ends this program, and therefore its children.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}
