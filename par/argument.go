package par

import "fmt"

// check panics if a function that must be given is nil.
func check(caller, name string, missing bool) {
	if missing {
		panic(fmt.Sprintf("par: %s: %s is nil", caller, name))
	}
}
