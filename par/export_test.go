package par

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stint-go/stint/internal/race"
)

// EveryProcs are the numbers of CPUs that a test runs on. Under the race
// detector, which is slow, that is the one that go test -cpu says.
func EveryProcs() []int {
	if race.Enabled {
		return []int{runtime.GOMAXPROCS(0)}
	}
	return []int{1, 2, 3, 8}
}

// StopAt calls sort in a bubble, with a step that its cmp calls first. Call k of step
// panics with "stop"; later calls wait until the goroutine that has panicked waits or has
// ended, since otherwise they would go on if it lost its CPU just then. StopAt returns how
// many calls there were, and what sort panicked with.
func StopAt(t *testing.T, k int64, sort func(step func())) (calls int64, panicked any) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		var n atomic.Int64
		told, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			defer func() { panicked = recover() }()
			sort(func() {
				switch c := n.Add(1); {
				case c == k:
					panic("stop")
				case c > k:
					<-told
				}
			})
		}()
		synctest.Wait()
		close(told)
		<-ended
		calls = n.Load()
	})
	return calls, panicked
}
