package tiny

import (
	"io"
	"testing"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/result"
)

// The experiment runs end to end, with rows for every claim.
func TestRun(t *testing.T) {
	s := &experiment.Session{Quick: true, Count: 1, Log: io.Discard}
	r, err := run(t.Context(), s, sizes{ops: 50, checked: 50})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cases) != 7 {
		t.Errorf("%d cases, want 7", len(r.Cases))
	}
	for _, v := range r.Verdicts {
		if v.Figures.N != 1 && v.Case != "idle" {
			t.Errorf("%+v: %d samples, want 1", v.Claim, v.Figures.N)
		}
	}
	if len(r.Verdicts) != 24 {
		t.Errorf("%d verdicts, want 24", len(r.Verdicts))
	}
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
