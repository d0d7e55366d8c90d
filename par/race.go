//go:build race

package par

// raced says that the race detector watches.
const raced = true
