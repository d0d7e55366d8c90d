package stint

import "context"

// checkArgs panics when ctx is nil, or when nilFunc says that the function is.
func checkArgs(caller string, ctx context.Context, nilFunc bool) {
	if ctx == nil {
		panic("stint: " + caller + ": nil context")
	}
	if nilFunc {
		panic("stint: " + caller + ": nil function")
	}
}
