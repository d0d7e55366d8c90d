package sleepers

import (
	"io"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/experiment"
)

// The experiment runs from end to end, with every claim about rows that it has.
func TestRun(t *testing.T) {
	for procs, claims := range map[int]int{1: 12, 2: 9} {
		s := &experiment.Session{Quick: true, Count: 1, Procs: []int{procs}, Log: io.Discard}
		r, err := run(t.Context(), s, crowd{tasks: 300, limit: 30, nap: time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Rows) != 14 || len(r.Verdicts) != claims {
			t.Errorf("%d processors: %d rows and %d verdicts, want 14 and %d", procs, len(r.Rows), len(r.Verdicts), claims)
		}
		for _, v := range r.Verdicts {
			if v.Figures.N != 1 {
				t.Errorf("%s: %d samples, want 1", v.Text(), v.Figures.N)
			}
		}
	}
}
