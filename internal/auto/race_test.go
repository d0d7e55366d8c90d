//go:build race

package auto

// raced says that the race detector watches: fewer seeds are tried then.
const raced = true
