package sha

import (
	"testing"

	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{jobs: 1000, long: 1, ops: 1}, trial.Want{Processors: 1, Cases: 5, Verdicts: 16}, trial.Want{Processors: 2, Cases: 10, Verdicts: 32})
}

// The sum is that of the digests.
func TestJobs(t *testing.T) {
	if got := jobs(1).Want; got == jobs(2).Want || got != jobs(1).Item(0) || jobs(2).Want != got+jobs(2).Item(1) {
		t.Errorf("the sum of one job is %x, of two %x", got, jobs(2).Want)
	}
	trial.Wrong(t, jobs(10))
}
