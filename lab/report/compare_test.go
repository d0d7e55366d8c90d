package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/result/resulttest"
)

// later is a run after wide, on another machine and with other ops: n=1 is
// unchanged, n=2 is twice as fast for stint, and n=5 replaces n=3.
func later() *result.Result {
	r := wide()
	r.Machine.CPU, r.Command, r.Quick, r.Processors = "Another", "go run ./lab run wide --quick", false, 1
	r.Cases[1].Ops, r.Cases[2].Name, r.Cases[3].Processors = 5, "n=5", 3
	for i := range r.Rows {
		row := &r.Rows[i]
		if row.Case == "n=3" {
			row.Case = "n=5"
		}
		if row.Case == "n=2" && row.Model == "stint" {
			row.Samples = resulttest.Samples(75, 75, 74, 76, 77, 78, 70)
		}
	}
	return r
}

func TestComparison(t *testing.T) {
	a, b := []*result.Result{wide(), golden()}, []*result.Result{later()}
	same(t, "testdata/compare.txt", func(w io.Writer) error {
		return (&Comparison{A: a, B: b, Unit: "time/op"}).Table(w)
	})
	same(t, "testdata/changed.txt", func(w io.Writer) error {
		return (&Comparison{A: a, B: b, Unit: "user+sys", Changed: true, Models: []string{"stint", "twin"}}).Table(w)
	})
}

// Summaries are compared by their intervals, without a p value.
func TestComparisonOfSummaries(t *testing.T) {
	var b strings.Builder
	if err := (&Comparison{A: []*result.Result{wide().Summarize()}, B: []*result.Result{later()}, Unit: "time/op", Changed: true}).Table(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "| -50.17% |     | 6+7 |") || !strings.Contains(text, "\n1 of 9 rows differ") {
		t.Errorf("got\n%s", text)
	}
}

// A run has no differences from itself and no warnings, in any unit.
func TestComparisonWithItself(t *testing.T) {
	for _, unit := range []string{"time/op", "peak RSS"} {
		var b strings.Builder
		if err := (&Comparison{A: []*result.Result{wide()}, B: []*result.Result{wide()}, Unit: unit, Changed: true}).Table(&b); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); !strings.HasPrefix(text, "wide: "+unit) || !strings.Contains(text, "\n0 of 12 rows differ") || !strings.Contains(text, "B / A is 1.00") {
			t.Errorf("%s: got\n%s", unit, text)
		}
	}
}

func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		change func(*result.Result)
		want   string
	}{
		{func(*result.Result) {}, ""},
		{func(r *result.Result) { busy := 1.5; r.Machine.Others = &busy }, ""},
		{func(r *result.Result) { r.Machine.Go = "go2" }, "machine"},
		{func(r *result.Result) { r.Command += " --quick" }, "command"},
		{func(r *result.Result) { r.Workload = "3 files" }, "workload"},
		{func(r *result.Result) { r.Processors = 8 }, "GOMAXPROCS"},
		{func(r *result.Result) { r.Commit = "abc" }, "commit"},
	} {
		r := resulttest.Example()
		c.change(r)
		got := strings.Join(each(pair{resulttest.Example(), r}.differences(), func(text string) string {
			kind, _, _ := strings.Cut(text, ":")
			return kind
		}), " ")
		if got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestComparisonComplains(t *testing.T) {
	for _, c := range []struct {
		Comparison
		want string
	}{
		{Comparison{Unit: "ns"}, `no unit "ns": there are time/op, user+sys`},
		{Comparison{Unit: "time/op", Models: []string{"nope"}}, `no model "nope": there are gnu, stint`},
		{Comparison{Unit: "p99"}, "neither run has p99"},
	} {
		c.A, c.B = []*result.Result{resulttest.Example()}, []*result.Result{resulttest.Example()}
		var b strings.Builder
		if err := c.Table(&b); err == nil || !strings.HasPrefix(err.Error(), c.want) || b.Len() > 0 {
			t.Errorf("got %v and %q, want %q", err, b.String(), c.want)
		}
	}
}

// No row of either run is missing.
func TestComparisonLeavesNothingOut(t *testing.T) {
	a, b := wide(), later()
	b.Rows = slices.DeleteFunc(b.Rows, func(row result.Row) bool { return row.Case == "n=1" && row.Model == "twin" })
	delete(a.Rows[0].Samples[0], measure.Rate)
	var text strings.Builder
	if err := (&Comparison{A: []*result.Result{a}, B: []*result.Result{b}, Unit: "MB/s"}).Table(&text); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*result.Result{a, b} {
		for _, row := range r.Rows {
			found := false
			for line := range strings.Lines(text.String()) {
				found = found || strings.Contains(line, row.Case) && strings.Contains(line, row.Model)
			}
			if !found {
				t.Errorf("%s is not in\n%s", fmt.Sprint(row.Case, " ", row.Model), text.String())
			}
		}
	}
}
