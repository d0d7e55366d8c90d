package par

import (
	"runtime"

	"github.com/stint-go/stint/internal/race"
)

// EveryProcs are the numbers of processors that a test runs on. Under the race
// detector, which is slow, that is the one that go test -cpu says.
func EveryProcs() []int {
	if race.Enabled {
		return []int{runtime.GOMAXPROCS(0)}
	}
	return []int{1, 2, 3, 8}
}
