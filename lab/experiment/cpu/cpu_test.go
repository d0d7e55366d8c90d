package cpu

import (
	"testing"

	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{long: 300, sends: 100}, trial.Want{Processors: 1, Cases: 6, Verdicts: 26}, trial.Want{Processors: 2, Cases: 11, Verdicts: 86})
}

// Infinite powers are distinguished too.
func TestInfiniteItemsDiffer(t *testing.T) {
	l := list(5000)
	seen := map[uint64]int{}
	for i := range l.N {
		if j, ok := seen[power(i)]; ok {
			t.Fatalf("items %d and %d give the same", i, j)
		}
		seen[power(i)] = i
	}
	trial.Wrong(t, l)
}
