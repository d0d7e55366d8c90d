package add

import (
	"testing"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, 1000, trial.Want{Processors: 1, Cases: 2, Verdicts: 10}, trial.Want{Processors: 2, Cases: 4, Verdicts: 18})
}

// Every model adds up all numbers, for any length.
func TestSums(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 10_000} {
		s := newNumbers(n)
		l := s.chunks(64)
		trial.Wrong(t, l)
		for _, m := range l.Models(append(s.byHand(), s.ours()...)...) {
			if err := m.Run(&measure.Meter{N: 2}); err != nil {
				t.Errorf("%d numbers: %s: %v", n, m.Name, err)
			}
		}
	}
}
