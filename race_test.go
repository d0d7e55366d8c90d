//go:build race

package stint_test

// raced reports whether the race detector watches. What Auto finds is judged without
// it, and fewer seeds are tried.
const (
	raced     = true
	autoSeeds = 1
)
