// Package race tells whether the race detector watches. Then package par splits loops
// that one goroutine would do alone, and tests do less of what takes long and do not
// judge what the detector changes.
package race
