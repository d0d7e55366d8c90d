//go:build !race

package stream_test

// raced reports whether the race detector watches.
const raced = false
