package result_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/result/resulttest"
)

// example returns a result in which a peer that is not the reference is the fastest, and
// one value is zero.
func example(t *testing.T) *result.Result {
	t.Helper()
	r := resulttest.Example()
	r.Models = append(r.Models, result.Model{Name: "fast", Kind: result.Peer})
	r.Rows = append(r.Rows, result.Row{Case: "alg=md5", Model: "fast", Samples: resulttest.Samples(31, 30, 32, 30, 31, 30)})
	for i := range r.Rows {
		for _, s := range r.Rows[i].Samples {
			s[measure.Allocs] = 0
		}
	}
	r.Conclude([]result.Claim{resulttest.Claim(result.Ratio, 0.5), resulttest.Claim(result.Speedup, 1.9)})
	r.Warnings = append(r.Warnings, result.Warning{Kind: result.Busy, Text: "said"})
	return r
}

// written returns a result as it is read from a file.
func written(t *testing.T, r *result.Result) (back *result.Result, text string) {
	t.Helper()
	var b bytes.Buffer
	if err := result.Lines(&b, r); err != nil {
		t.Fatal(err)
	}
	text = b.String()
	back, err := result.Read(&b)
	if err != nil {
		t.Fatalf("%v of\n%s", err, text)
	}
	return back, text
}

// A summary has no samples, and the medians, ratios, losses, verdicts and warnings of its
// result, to 4 digits.
func TestSummary(t *testing.T) {
	full := example(t)
	r, text := written(t, full.Summarize())
	if strings.Contains(text, `"samples"`) || strings.Count(text, `"medians"`) != 3 || len(r.Rows[0].Samples) > 0 {
		t.Errorf("the summary is\n%s", text)
	}
	near := func(got, want float64) bool { return got == want || got/want > 0.9994 && got/want < 1.0006 }
	for i := range full.Rows {
		was, row := &full.Rows[i], &r.Rows[i]
		if row.N() != 6 || was.N() != 6 {
			t.Errorf("%s: %d rounds, were %d", row.Model, row.N(), was.N())
		}
		for _, u := range []measure.Unit{measure.Time, measure.CPU, measure.PeakRSS, measure.Allocs, measure.P50} {
			if got, want := row.Median(u), was.Median(u); got.N != want.N || !near(got.Median, want.Median) || (got.Interval == nil) != (want.Interval == nil) {
				t.Errorf("%s %s: median %+v, want %+v", row.Model, u, got, want)
			}
		}
		got, want := row.Ratio(r.Row("alg=md5", "gnu"), measure.Time), was.Ratio(full.Row("alg=md5", "gnu"), measure.Time)
		if got.N != want.N || !near(got.Median, want.Median) || !near(got.Interval.Lo, want.Interval.Lo) || !near(got.Interval.Hi, want.Interval.Hi) || got.Interval.Confidence != want.Interval.Confidence {
			t.Errorf("%s: ratio %+v, want %+v", row.Model, got, want)
		}
	}
	losses, were := r.Losses(), full.Losses()
	if len(losses) != 1 || len(were) != 1 || losses[0].Peer != "fast" || !losses[0].Sure() || !near(losses[0].Ratio.Interval.Lo, were[0].Ratio.Interval.Lo) {
		t.Errorf("losses %+v, want %+v", losses, were)
	}
	for i, v := range r.Verdicts {
		if was := full.Verdicts[i]; !reflect.DeepEqual(v.Claim, was.Claim) || v.Answer != was.Answer || !near(v.Figures.Median, was.Figures.Median) {
			t.Errorf("verdict %+v, want %+v", v, was)
		}
	}
	if !slices.Equal(r.Warnings, full.Warnings) || len(r.Verdicts) != 2 {
		t.Errorf("%d verdicts, warnings %v, want 2 and %v", len(r.Verdicts), r.Warnings, full.Warnings)
	}
	if _, again := written(t, r.Summarize()); again != text {
		t.Errorf("the summary of a summary is\n%s, want\n%s", again, text)
	}
}

// Rows without a stored ratio have the quotient of their medians, with an interval at
// least as wide.
func TestRatioOfASummary(t *testing.T) {
	full := example(t)
	r := full.Summarize()
	pair := func(r *result.Result) (a, b *result.Row) { return r.Row("alg=md5", "gnu"), r.Row("alg=md5", "stint") }
	a, b := pair(r)
	c, d := pair(full)
	got, want := a.Ratio(b, measure.Time), c.Ratio(d, measure.Time)
	if got.Median != 2.01 || got.Interval.Lo > want.Interval.Lo || got.Interval.Hi < want.Interval.Hi {
		t.Errorf("got %+v, %+v, want at least %+v", got, got.Interval, want.Interval)
	}
	if e := a.Ratio(a, measure.Time); e.Median != 1 || e.Interval.Lo != 1 || e.Interval.Hi != 1 {
		t.Errorf("a row to itself: %+v, %+v", e, e.Interval)
	}
	if e := a.Ratio(nil, measure.Time); e.N != 0 {
		t.Errorf("a ratio to nothing: %+v", e)
	}
}

// Two summaries are compared by intervals, and a summary with a result too.
func TestChange(t *testing.T) {
	full := example(t)
	sum := full.Summarize()
	for i, r := range []*result.Result{full, sum} {
		for j, old := range []*result.Result{full, sum} {
			faster := r.Row("alg=md5", "stint").Change(old.Row("alg=md5", "gnu"), measure.Time)
			same := r.Row("alg=md5", "gnu").Change(old.Row("alg=md5", "gnu"), measure.Time)
			if !strings.HasPrefix(faster.Delta(), "-50.") || same.Delta() != "~" || i+j == 0 != (same.P == 1) {
				t.Errorf("%d and %d: %s, %s, p = %v", i, j, faster.Delta(), same.Delta(), same.P)
			}
		}
	}
}

// Conclusions are grouped by article, in the order of the articles, then ours.
func TestConclusions(t *testing.T) {
	r, other := resulttest.Example(), resulttest.Example()
	other.Experiment = "other"
	claim := func(a result.Article, text string) result.Claim {
		c := resulttest.Claim(result.Ratio, 1)
		c.Article, c.Conclusion = a, text
		return c
	}
	r.Conclude([]result.Claim{claim("", "a"), claim(result.Channels, "b"), claim(result.Pools, "c"), claim("", "")})
	other.Conclude([]result.Claim{claim(result.Channels, "b"), claim("", "b")})
	var got []string
	for _, c := range result.Conclusions([]*result.Result{r, other}) {
		got = append(got, string(c.Article)+" "+c.Text+" "+strings.Join(c.Experiments, "+"))
	}
	if want := []string{"pools c sum", "channels b sum+other", " a sum", " b other"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
