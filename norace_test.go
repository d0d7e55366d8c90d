//go:build !race

package stint_test

// raced reports whether the race detector watches. What Auto finds is judged without
// it, on so many seeds.
const (
	raced     = false
	autoSeeds = 3
)
