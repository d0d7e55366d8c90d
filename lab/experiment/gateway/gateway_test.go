package gateway

import (
	"testing"
	"time"

	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	z := full().in(100*time.Millisecond, 200*time.Millisecond)
	z.patience = 100 * time.Millisecond
	trial.Run(t, run, z, trial.Want{Processors: 2, Cases: 1, Verdicts: 5})
}

// A trial without requests, or with all of them lost, is no success.
func TestSum(t *testing.T) {
	z := full() // 8,000 requests
	for _, test := range []struct {
		c  *count
		ok bool
	}{
		{&count{}, false},
		{&count{served: make([]float64, 4000), refused: 3000}, false},
		{&count{served: make([]float64, 4000), refused: 3900, lost: 50}, true},
		{&count{lost: 8000}, true},
	} {
		if err := test.c.sum(z); (err == nil) != test.ok {
			t.Errorf("%d served, %d refused, %d lost: %v", len(test.c.served), test.c.refused, test.c.lost, err)
		}
	}
}

func TestQuantile(t *testing.T) {
	c := count{served: []float64{1, 2, 3, 4}}
	if half, all := c.quantile(0.5, 9), c.quantile(0.99, 9); half != 2 || all != 4 {
		t.Errorf("got %v and %v, want 2 and 4", half, all)
	}
	if none := new(count).quantile(0.5, 9); none != 9 {
		t.Errorf("got %v of no requests, want 9", none)
	}
}
