package sha

import (
	"testing"

	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{jobs: 1000, long: 1, few: 1, data: 8 << 20},
		trial.Want{Processors: 1, Cases: 9, Verdicts: 29}, trial.Want{Processors: 2, Cases: 18, Verdicts: 58})
}

// The sum is that of the digests.
func TestList(t *testing.T) {
	if got := list(1).Want; got == list(2).Want || got != list(1).Item(0) || list(2).Want != got+list(2).Item(1) {
		t.Errorf("the sum of one job is %x, of two %x", got, list(2).Want)
	}
	trial.Wrong(t, list(10))
}
