package permits

import (
	"io"
	"testing"

	"github.com/stint-go/stint/lab/experiment"
)

// The experiment runs end to end, with rows for every claim.
func TestRun(t *testing.T) {
	s := &experiment.Session{Quick: true, Count: 1, Log: io.Discard}
	r, err := run(t.Context(), s, sizes{ops: 128, checked: 200})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cases) != 5 || len(r.Verdicts) != 10 {
		t.Errorf("%d cases and %d verdicts, want 5 and 10", len(r.Cases), len(r.Verdicts))
	}
	for _, v := range r.Verdicts {
		if v.Figures.N != 1 {
			t.Errorf("%+v: %d samples, want 1", v.Claim, v.Figures.N)
		}
	}
}
