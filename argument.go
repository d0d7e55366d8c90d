package stint

import "context"

// check panics when an argument that must not be nil is. f is the caller's
// function, as whether it is nil.
func check(caller string, ctx context.Context, nilFunc bool) {
	if ctx == nil {
		panic("stint: " + caller + ": nil context")
	}
	if nilFunc {
		panic("stint: " + caller + ": nil function")
	}
}
