package stint

import (
	"context"
	"strings"
)

// checkArgs panics when ctx is nil, or when nilFunc says that the function is.
func checkArgs(caller string, ctx context.Context, nilFunc bool) {
	if ctx == nil {
		panic("stint: " + caller + ": nil context")
	}
	if nilFunc {
		panic("stint: " + caller + ": nil function")
	}
}

// checkMethod panics when the receiver of a method was not made by its constructor, or when
// nilFunc says that the function is nil. caller is the method with its type.
func checkMethod(caller string, made, nilFunc bool) {
	if !made {
		name, _, _ := strings.Cut(caller, ".")
		makers := "New" + name
		if name == "Limiter" {
			makers = "Limit or Auto"
		}
		panic("stint: " + caller + ": " + name + " was not made by " + makers)
	}
	if nilFunc {
		panic("stint: " + caller + ": nil function")
	}
}
