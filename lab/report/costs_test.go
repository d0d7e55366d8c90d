package report

import (
	"io"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

func TestCosts(t *testing.T) {
	other := later()
	other.Experiment = "later"
	costs := []Cost{
		{Of: "one", Experiment: "wide", Case: "n=1", Unit: measure.Time, Ours: []string{"stint"}, Others: []string{"gnu"}},
		{Of: "two, lost", Experiment: "wide", Case: "n=2", Unit: measure.Time, Ours: []string{"stint", "twin"}, Others: []string{"gnu"}},
		{Of: "five, less one", Experiment: "later", Case: "n=5", Unit: measure.PeakRSS, Ours: []string{"twin"}, Others: []string{"gnu", "none"}},
		{Of: "six", Experiment: "wide", Case: "n=6", Unit: measure.Time, Ours: []string{"twin"}, Others: []string{"gnu"}},
		{Of: "seven", Experiment: "seven", Case: "n=7", Unit: measure.Time, Ours: []string{"twin"}, Others: []string{"gnu"}},
	}
	same(t, "testdata/costs.md", func(w io.Writer) error { return Costs(w, []*result.Result{wide(), other}, "results", costs) })
	var b strings.Builder
	if err := Costs(&b, nil, "results", costs[:1]); err != nil || !strings.HasSuffix(b.String(), "Not measured: one (all).\n") || strings.Contains(b.String(), "|") {
		t.Errorf("of nothing it is %q, %v", b.String(), err)
	}
}
