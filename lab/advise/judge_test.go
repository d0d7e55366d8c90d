package advise

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/report"
)

// A made row has its limit and the ms of its rounds.
type made struct {
	name  string
	limit int
	ms    []float64
}

// steady is 7 rounds of about so many ms: the first one, which is left out, takes ten
// times as long.
func steady(ms float64) []float64 {
	return []float64{10 * ms, ms, 1.01 * ms, 0.99 * ms, ms, 1.02 * ms, 0.98 * ms}
}

// wild is 7 rounds whose intervals hold nearly everything.
func wild(ms float64) []float64 {
	return []float64{ms, ms / 3, 3 * ms, ms / 2, 2 * ms, ms, ms / 3}
}

// advice judges made-up figures of 100 items, in which the share of time is spent on a
// processor.
func advice(share float64, rows ...made) *Advice {
	a := &Advice{N: 100, Items: 100, Budget: time.Second, Result: &report.Result{Processors: 2, Machine: measure.Machine{Processors: 2}}}
	for _, m := range rows {
		a.Rows = append(a.Rows, Row{Name: m.name, Limit: m.limit, Call: "call of " + m.name})
		row := report.Row{Case: a.kase(), Model: m.name}
		for _, ms := range m.ms {
			s := measure.Sample{measure.Time: 1e6 * ms, limitUnit: 36}
			if share >= 0 {
				s[measure.CPU] = 1e6 * ms * share
			}
			row.Samples = append(row.Samples, s)
		}
		a.Result.Rows = append(a.Result.Rows, row)
	}
	a.judge(evidence{limiter: stint.LimiterStats{Phase: "rising", Reason: "because"}}, false)
	return a
}

func TestAnswers(t *testing.T) {
	loop := made{loopName, 0, steady(100)}
	one := made{"limit-1", 1, steady(100)}
	for _, c := range []struct {
		name   string
		share  float64
		rows   []made
		work   Work
		answer report.Answer
		best   string
	}{
		{"free is near the best", 0.01, []made{loop, {freeName, 0, steady(10.5)}, one, {"limit-16", 16, steady(10)}}, Waits, report.Yes, freeName},
		{"free is far from it", 0.01, []made{loop, {freeName, 0, steady(20)}, one, {"limit-16", 16, steady(10.2)}, {"limit-32", 32, steady(10)}}, Waits, report.Yes, "limit-16"},
		{"only a limit pays", 0.5, []made{loop, {freeName, 0, steady(101)}, {"limit-2", 2, steady(60)}}, Both, report.Yes, "limit-2"},
		{"a cap", 0.01, []made{loop, {autoName, 0, steady(10)}, {"limit-8", 8, steady(10)}}, Waits, report.Yes, autoName},
		{"computing", 0.99, []made{loop, {freeName, 0, steady(50)}, {parName, 0, steady(51)}, {"limit-2", 2, steady(50)}}, Computes, report.Yes, parName},
		{"waiting is not for par", 0.01, []made{loop, {freeName, 0, steady(50)}, {parName, 0, steady(50)}}, Waits, report.Yes, freeName},
		{"only par pays", 0.3, []made{loop, {freeName, 0, steady(100)}, {parName, 0, steady(50)}}, Both, report.Yes, parName},
		{"nothing pays", 1, []made{loop, {freeName, 0, steady(104)}, one, {"limit-2", 2, steady(95)}}, Computes, report.No, loopName},
		{"a gain too small to pay", 1, []made{loop, {freeName, 0, steady(93)}}, Computes, report.No, loopName},
		{"noise", 0.01, []made{loop, {freeName, 0, wild(80)}, one}, Waits, report.NotSure, loopName},
		{"noise beside a no", 0.01, []made{loop, {freeName, 0, steady(100)}, {"limit-2", 2, wild(80)}}, Waits, report.NotSure, loopName},
		{"too few", 0.01, []made{{loopName, 0, []float64{100, 100}}, {freeName, 0, []float64{10, 10}}}, Waits, report.NotSure, loopName},
		{"the loop alone", 0.01, []made{loop, one}, Waits, report.NotSure, loopName},
		{"one item at once never pays", 0.01, []made{loop, {"limit-1", 1, steady(10)}, {freeName, 0, steady(100)}}, Waits, report.No, loopName},
		{"processor time not known", -1, []made{loop, {freeName, 0, steady(10)}}, Unknown, report.Yes, freeName},
		{"several processors in one item", 1.9, []made{loop, {freeName, 0, steady(100)}}, Computes, report.No, loopName},
		{"nothing", 1, nil, Unknown, report.NotSure, loopName},
	} {
		a := advice(c.share, c.rows...)
		if a.Work != c.work || a.Answer != c.answer || a.Best != c.best {
			t.Errorf("%s: %q, %q, %q, want %q, %q, %q", c.name, a.Work, a.Answer, a.Best, c.work, c.answer, c.best)
		}
		if want := "call of " + c.best; len(c.rows) > 0 && a.Call != want {
			t.Errorf("%s: the call is %q, want %q", c.name, a.Call, want)
		}
		if a.Reason == "" {
			t.Errorf("%s: no reason", c.name)
		}
		for line := range strings.Lines(a.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > width {
				t.Errorf("%s: a line of %d columns: %s", c.name, n, line)
			}
		}
	}
}

func TestReasons(t *testing.T) {
	flat := []made{{loopName, 0, steady(100)}, {freeName, 0, steady(100)}}
	single := advice(1, flat...)
	single.Result.Processors = 1
	short := advice(1, made{loopName, 0, steady(0.01)}, made{freeName, 0, steady(0.02)})
	for want, got := range map[string]string{
		"there is one processor":                      single.why(),
		"more processors do not help":                 advice(1, flat...).Reason,
		"keeps 1.90 processors busy by itself":        advice(1.9, flat...).Reason,
		"several at once do not wait less":            advice(0, flat...).Reason,
		"Several at once do not end sooner":           advice(0.5, flat...).Reason,
		"worth it from some 60µs":                     short.Reason,
		"stint.Range is 10.0 [":                       advice(0, flat[0], made{freeName, 0, steady(10)}).Reason,
		"stint.Range takes 2.00 [":                    advice(0, flat[0], made{freeName, 0, steady(20)}, made{"limit-8", 8, steady(10)}).Reason,
		"which is no proof":                           advice(0, made{loopName, 0, []float64{9}}, made{freeName, 0, []float64{1}}).Reason,
		"it may pay, or may not":                      advice(0, flat[0], made{freeName, 0, wild(80)}).Reason,
		"Nothing was measured beside the loop":        advice(0, flat[0]).Reason,
		"There is nothing to do.":                     (&Advice{}).why(),
		"There is nothing that could run beside one ": (&Advice{N: 1}).why(),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want something with %q", got, want)
		}
	}
}

func TestFigures(t *testing.T) {
	a := advice(0.25, made{loopName, 0, steady(100)}, made{freeName, 0, steady(20)}, made{"limit-4", 4, steady(25)}, made{"limit-8", 8, steady(10)}, made{"limit-16", 16, nil})
	if len(a.Rows) != 4 || a.Rows[1].Time.N != 6 || a.Rows[1].Time.Median != 20e6 {
		t.Errorf("got %+v, want four rows of the last six rounds", a.Rows)
	}
	if s := a.Rows[3].Speedup; s.Median != 10 || s.Interval == nil {
		t.Errorf("speed-up %+v, want 10", s)
	}
	if a.Item.Median != 1e6 || a.Share.Median != 0.25 || a.Work != Both {
		t.Errorf("an item %v, share %v, %s", a.Item, a.Share, a.Work)
	}
	if a.Auto.Limit.Median != 36 || a.Auto.Beside != "limit-8" || a.Auto.Ratio.Median != 2 || a.Auto.Reason != "because" || a.Auto.Phase != "rising" {
		t.Errorf("got %+v", a.Auto)
	}
	if !strings.Contains(a.Highest, "limit-8 was not tried") {
		t.Errorf("highest: %q", a.Highest)
	}
}

// kinds are those of the warnings.
func kinds(a *Advice) []string {
	var out []string
	for _, w := range a.Warnings {
		out = append(out, w.Kind)
	}
	return out
}

func TestWarnings(t *testing.T) {
	loop, fast, noise := made{loopName, 0, steady(100)}, made{freeName, 0, steady(10)}, made{"limit-2", 2, wild(100)}
	if got := kinds(advice(0, loop, fast, noise)); got != nil {
		t.Errorf("%q, want none where another row decides", got)
	}
	if got := kinds(advice(0, loop, noise)); !slices.Equal(got, []string{report.Spread}) {
		t.Errorf("%q, want spread", got)
	}
	if got := kinds(advice(0, made{loopName, 0, []float64{1}}, made{freeName, 0, []float64{1}})); !slices.Contains(got, report.Samples) {
		t.Errorf("%q, want samples", got)
	}
	a := &Advice{N: 100, Items: 8, Result: &report.Result{}}
	a.judge(evidence{item: 1e9, spent: true, shortest: time.Millisecond, tick: time.Millisecond}, false)
	if got := kinds(a); !slices.Equal(got, []string{Short, Short, Resolution}) || !strings.Contains(a.Warnings[0].Text, "52m30s") {
		t.Errorf("%q", a.Warnings)
	}
	a = &Advice{N: 2, Items: 2, Result: &report.Result{Rows: []report.Row{{Case: "n=2", Model: loopName, Samples: []measure.Sample{{measure.Time: 1}}}}}}
	a.judge(evidence{spent: true}, true)
	if got := kinds(a); !slices.Equal(got, []string{report.Interrupted}) {
		t.Errorf("%q, want interrupted", got)
	}
}

func TestClimbs(t *testing.T) {
	for _, c := range []struct {
		took []float64
		want bool
	}{
		{[]float64{100}, true},
		{[]float64{100, 50, 25}, true},
		{[]float64{100, 100, 50}, true},
		{[]float64{100, 50, 50}, true},
		{[]float64{100, 50, 49, 48}, false},
		{[]float64{100, 95, 101}, false},
		{[]float64{100, 50, 60, 40}, true},
	} {
		if got := climbs(c.took); got != c.want {
			t.Errorf("%v: %v", c.took, got)
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		n    int
		item time.Duration
		want int
	}{
		{100, time.Microsecond, 100},
		{100, 10 * time.Millisecond, 31}, // 100 would take 31.5 s
		{100, time.Second, leastList},
		{5, time.Second, 5},
		{1, time.Hour, 1},
		{1_000_000_000, time.Nanosecond, 317_460_317},
	} {
		if got := fit(c.n, 10*time.Second, evidence{item: float64(c.item)}.needed); got != c.want {
			t.Errorf("%d items of %v: %d, want %d", c.n, c.item, got, c.want)
		}
	}
	if c, w := (evidence{item: 1e6, share: 1}).needed(10), (evidence{item: 1e6, share: 0.1}).needed(10); c <= w {
		t.Errorf("%v for what computes, %v for what waits", c, w)
	}
}
