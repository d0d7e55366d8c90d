package par

import "runtime"

// Raced is raced, for the tests that use this package from outside.
const Raced = raced

// EveryProcs are the numbers of processors that a test runs on. Under the race
// detector, which is slow, that is the one that go test -cpu says.
func EveryProcs() []int {
	if raced {
		return []int{runtime.GOMAXPROCS(0)}
	}
	return []int{1, 2, 3, 8}
}
