package result_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/result/resulttest"
)

// judged returns the verdict on one claim.
func judged(r *result.Result, c result.Claim) result.Verdict {
	r.Conclude([]result.Claim{c})
	return r.Verdicts[0]
}

func TestForms(t *testing.T) {
	form := func(f result.Form, bar float64, change func(*result.Claim)) result.Claim {
		c := resulttest.Claim(f, bar)
		if change != nil {
			change(&c)
		}
		return c
	}
	for _, c := range []struct {
		claim          result.Claim
		answer         result.Answer
		median, lo, hi float64 // of an interval: none if both are 0
	}{
		{form(result.Ratio, 0.51, nil), result.Yes, 0.5, 51.0 / 103, 0.5},
		{form(result.Speedup, 1.9, nil), result.Yes, 2, 2, 0},
		{form(result.Difference, -48e6, nil), result.Yes, -50.5e6, -52e6, -50e6},
		{form(result.Value, 8.5e6, func(c *result.Claim) { c.Unit, c.Than = measure.PeakRSS, "" }), result.Yes, 8 << 20, 8 << 20, 8 << 20},
		{form(result.Ratio, 1, func(c *result.Claim) { c.Model, c.Than, c.InCase = "gnu", "stint", "alg=md5" }), result.No, 2, 2, 0},
		{form(result.Ratio, 1, func(c *result.Claim) { c.Model = "other" }), result.NotSure, 0, 0, 0},
	} {
		v := judged(resulttest.Example(), c.claim)
		if v.Answer != c.answer || v.Figures.Median != c.median {
			t.Errorf("%+v: want %s, %v", v, c.answer, c.median)
		}
		in := v.Figures.Interval
		if (in == nil) != (c.lo == 0 && c.hi == 0) {
			t.Errorf("%+v: interval %v, want from %v to %v", c.claim, in, c.lo, c.hi)
		}
		if in != nil && (c.lo != 0 && in.Lo > c.median || c.hi != 0 && in.Hi != c.hi) {
			t.Errorf("%+v: interval %v, want from %v to %v", c.claim, in, c.lo, c.hi)
		}
	}
}

// A model without a bound may be the best peer, but not the best bounded one.
func TestBestBounded(t *testing.T) {
	r := resulttest.Example()
	r.Models = append(r.Models, result.Model{Name: "all", Kind: result.Peer, Unbounded: true}, result.Model{Name: "slow", Kind: result.Peer}, result.Model{Name: "least", Kind: result.Floor})
	for name, ms := range map[string]int{"all": 10, "slow": 200, "least": 1} {
		r.Rows = append(r.Rows, result.Row{Case: "alg=md5", Model: name, Samples: resulttest.Samples(slices.Repeat([]int{ms}, 6)...)})
	}
	for _, c := range []struct {
		baseline string
		answer   result.Answer
		against  string
		median   float64
	}{{result.BestPeer, result.No, "all", 5}, {result.BestBounded, result.Yes, "gnu", 0.5}} {
		claim := resulttest.Claim(result.Ratio, 1.05)
		claim.Than = c.baseline
		if v := judged(r, claim); v.Answer != c.answer || v.Against != c.against || v.Figures.Median != c.median {
			t.Errorf("%s: got %+v, want %+v", c.baseline, v, c)
		}
	}
	r.Models[0].Unbounded = true
	r.Rows = slices.DeleteFunc(r.Rows, func(row result.Row) bool { return row.Model == "slow" })
	claim := resulttest.Claim(result.Ratio, 1)
	claim.Than = result.BestBounded
	if v := judged(r, claim); v.Answer != result.NotSure || v.Figures.N != 0 {
		t.Errorf("without a bounded peer: %s, %+v", v.Answer, v.Figures)
	}
}

// The best of a sweep is the best peer with a number.
func TestBestSwept(t *testing.T) {
	r := resulttest.Example()
	for i, ms := range []int{90, 80} {
		name := []string{"limit-1", "limit-2"}[i]
		r.Models = append(r.Models, result.Model{Name: name, Kind: result.Peer, Sweep: "limit", At: float64(i + 1)})
		r.Rows = append(r.Rows, result.Row{Case: "alg=md5", Model: name, Samples: resulttest.Samples(slices.Repeat([]int{ms}, 6)...)})
	}
	r.Models = append(r.Models, result.Model{Name: "fast", Kind: result.Peer})
	r.Rows = append(r.Rows, result.Row{Case: "alg=md5", Model: "fast", Samples: resulttest.Samples(slices.Repeat([]int{1}, 6)...)})
	c := resulttest.Claim(result.Ratio, 0.7)
	c.Than = result.BestSwept
	if v := judged(r, c); v.Answer != result.Yes || v.Against != "limit-2" || v.Figures.Median != 0.625 {
		t.Errorf("got %+v, want yes, 0.625 of limit-2", v)
	}
}

// A ratio in several cases is the geometric mean in each round, each with its own
// baseline, and unknown if a case was not measured.
func TestMeanOfCases(t *testing.T) {
	r := resulttest.Example() // 0.5
	row := func(kase, model string, ms int) {
		r.Rows = append(r.Rows, result.Row{Case: kase, Model: model, Samples: resulttest.Samples(slices.Repeat([]int{ms}, 6)...)})
	}
	r.Models = append(r.Models, result.Model{Name: "other", Kind: result.Peer})
	row("b", "gnu", 300)
	row("b", "other", 100)
	row("b", "stint", 800) // 8
	c := resulttest.Claim(result.Ratio, 2.1)
	c.Case, c.Cases, c.Than = "mean of 2", []string{"alg=md5", "b"}, result.BestPeer
	if v := judged(r, c); v.Answer != result.Yes || math.Abs(v.Figures.Median-2) > 0.01 || v.Figures.N != 6 {
		t.Errorf("got %+v, want yes, the square root of 0.5 x 8", v)
	}
	c.Cases = append(c.Cases, "c")
	if v := judged(r, c); v.Answer != result.NotSure || v.Figures.N != 0 {
		t.Errorf("got %+v, want not sure", v)
	}
}

// If the claim's model is itself the best, it is compared with the best of the
// others.
func TestBestIsAnother(t *testing.T) {
	r := resulttest.Example()
	r.Models = append(r.Models, result.Model{Name: "near", Kind: result.Peer})
	r.Rows = append(r.Rows, result.Row{Case: "alg=md5", Model: "near", Samples: resulttest.Samples(101, 101, 103, 101, 100, 101)})
	c := resulttest.Claim(result.Ratio, 1)
	c.Model, c.Than = "gnu", result.BestPeer
	if v := judged(r, c); v.Answer != result.NotSure || v.Against != "near" || v.Figures.Interval.Lo == v.Figures.Interval.Hi {
		t.Errorf("got %+v, want not sure, against near", v)
	}
}

func TestConclude(t *testing.T) {
	r := resulttest.Example()
	r.Rows = append(r.Rows, result.Row{Case: "alg=sha256", Model: "gnu"})
	other := resulttest.Claim(result.Speedup, 4)
	other.Case = "alg=sha256"
	r.Conclude([]result.Claim{resulttest.Claim(result.Speedup, 1.85), other})
	if len(r.Rows) != 2 {
		t.Errorf("%d rows, want 2: the one without samples is dropped", len(r.Rows))
	}
	if got := []result.Answer{r.Verdicts[0].Answer, r.Verdicts[1].Answer}; !slices.Equal(got, []result.Answer{result.Yes, result.NotSure}) {
		t.Errorf("answers %q, want yes, and not sure for what was not measured", got)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %v, want none", r.Warnings)
	}
}

func TestLosses(t *testing.T) {
	r := resulttest.Example()
	if got := r.Losses(); len(got) > 0 {
		t.Errorf("got %v, want none: ours is the fastest", got)
	}
	r.Models[0].Kind, r.Models[1].Kind = result.Ours, result.Peer
	got := r.Losses()
	if len(got) != 1 || got[0].Model != "gnu" || got[0].Peer != "stint" || got[0].Ratio.Median != 2 {
		t.Errorf("got %v, want that gnu takes twice the time of stint", got)
	}
	r.Models[1].Kind = result.Floor
	if got := r.Losses(); len(got) > 0 {
		t.Errorf("got %v, want none: a floor is no peer", got)
	}
}

func TestWarnings(t *testing.T) {
	much := 0.6
	for _, c := range []struct {
		kind   string
		change func(*result.Result)
	}{
		{"", func(r *result.Result) { r.Machine.Others = nil }},
		{result.Interrupted, func(r *result.Result) { r.Unfinished = "interrupted" }},
		{result.Interrupted, func(r *result.Result) { r.Cases[0].Count = 7 }},
		{result.Quick, func(r *result.Result) { r.Quick = true }},
		{result.Processors, func(r *result.Result) { r.Machine.Processors = 1 }},
		{result.Busy, func(r *result.Result) { r.Machine.Others = &much }},
		{result.Samples, func(r *result.Result) {
			r.Cases[0].Count, r.Rows[0].Samples, r.Rows[1].Samples = 5, r.Rows[0].Samples[:5], r.Rows[1].Samples[:5]
		}},
		{"", func(r *result.Result) { r.Rows[0].Samples[0][measure.Time] = 1e9 }}, // a single outlier does not matter
		{"", func(r *result.Result) { r.Rows[1].Samples = resulttest.Samples(100, 101, 102, 100, 101, 104) }},
		{"", func(r *result.Result) { r.Rows[1].Samples = resulttest.Samples(110, 120, 150, 110, 102, 104) }},
		{result.Spread, func(r *result.Result) { r.Rows[1].Samples = resulttest.Samples(110, 120, 90, 110, 100, 104) }},
	} {
		r := resulttest.Example()
		c.change(r)
		r.Conclude(nil)
		var kinds []string
		for _, w := range r.Warnings {
			kinds = append(kinds, w.Kind)
		}
		if got := strings.Join(kinds, " "); got != c.kind {
			t.Errorf("warnings %q, want %q", got, c.kind)
		}
	}
}
