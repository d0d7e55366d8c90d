package task

// Guard calls f, and reports whether it has returned. If not, Guard calls failed with its
// outcome, from a deferred function; after a Goexit the goroutine then ends.
func Guard(f func(), failed func(Outcome)) (returned bool) {
	defer func() {
		if !returned {
			failed(Unreturned(recover()))
		}
	}()
	f()
	return true
}
