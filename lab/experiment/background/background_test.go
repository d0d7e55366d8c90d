package background

import (
	"testing"
	"time"

	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	z := full().asked(3)
	z.long = 2 * time.Millisecond
	trial.Run(t, run, z, trial.Want{Processors: 2, Cases: 1, Verdicts: 5})
}

func TestQuantile(t *testing.T) {
	values := []float64{1, 2, 3, 4}
	if half, all, none := quantile(values, 0.5), quantile(values, 0.99), quantile(nil, 0.5); half != 2 || all != 4 || none != 0 {
		t.Errorf("got %v, %v and %v, want 2, 4 and 0", half, all, none)
	}
}
