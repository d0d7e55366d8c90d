package tiny

import (
	"context"
	"io"
	"testing"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{ops: 64, checked: 50}, trial.Want{Processors: 1, Cases: 6, Verdicts: 24}, trial.Want{Processors: 2, Cases: 8, Verdicts: 32})
}

// With selected models, their references are measured, and no other claims are
// made.
func TestModels(t *testing.T) {
	s := &experiment.Session{Quick: true, Count: 1, Models: []string{"stint.Pool"}, Log: io.Discard}
	r, err := run(t.Context(), s, sizes{ops: 50, checked: 50})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Models {
		if m.Kind == result.Ours && m.Name != "stint.Pool" || m.Name == "pond" {
			t.Errorf("%s was measured", m.Name)
		}
	}
	for _, v := range r.Verdicts {
		if v.Model != "stint.Pool" || v.Figures.N == 0 {
			t.Errorf("claimed: %+v", v)
		}
	}
}

// A limiter that loses calls is detected.
func TestCheck(t *testing.T) {
	if err := check(func(context.Context, body) error { return nil }, 99); err == nil {
		t.Error("none of 99 calls ran, and there is no error")
	}
}
