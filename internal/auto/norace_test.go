//go:build !race

package auto

// raced says that the race detector watches.
const raced = false
