package advise

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A made row has a limit and times in ms, one per round.
type made struct {
	name  string
	limit int
	ms    []float64
}

// steady returns 7 rounds of about the given time in ms. The warm-up round
// takes ten times as long.
func steady(ms float64) []float64 {
	return []float64{10 * ms, ms, 1.01 * ms, 0.99 * ms, ms, 1.02 * ms, 0.98 * ms}
}

// wild returns 7 rounds with a very wide interval.
func wild(ms float64) []float64 {
	return []float64{ms, ms / 3, 3 * ms, ms / 2, 2 * ms, ms, ms / 3}
}

type ms = []float64

// advice judges made-up figures of 100 items with the given share of CPU time.
func advice(share float64, rows ...made) *Advice { return beside(nil, share, rows...) }

// beside is advice where other programs used some of 2 processors.
func beside(others *float64, share float64, rows ...made) *Advice {
	a := &Advice{N: 100, Items: 100, Budget: time.Second, cores: 2, Result: &result.Result{Processors: 2, Machine: measure.Machine{Processors: 2, Others: others}}}
	for _, m := range rows {
		a.Rows = append(a.Rows, Row{Name: m.name, Limit: m.limit, Call: "call of " + m.name})
		row := result.Row{Case: a.kase(), Model: m.name}
		for _, ms := range m.ms {
			s := measure.Sample{measure.Time: 1e6 * ms, limitUnit: 36}
			if share >= 0 {
				s[measure.CPU] = 1e6 * ms * share
			}
			row.Samples = append(row.Samples, s)
		}
		a.Result.Rows = append(a.Result.Rows, row)
	}
	a.judge(observed{limiter: stint.LimiterStats{Phase: "slow start", Reason: "because"}}, false)
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
		answer result.Answer
		best   string
	}{
		{"free is near the best", 0.01, []made{loop, {freeName, 0, steady(10.5)}, one, {"limit-16", 16, steady(10)}}, Waits, result.Yes, freeName},
		{"free is far from it", 0.01, []made{loop, {freeName, 0, steady(20)}, one, {"limit-16", 16, steady(10.2)}, {"limit-32", 32, steady(10)}}, Waits, result.Yes, "limit-16"},
		{"only a limit pays", 0.5, []made{loop, {freeName, 0, steady(101)}, {"limit-2", 2, steady(60)}}, Both, result.Yes, "limit-2"},
		{"a cap", 0.01, []made{loop, {autoName, 0, steady(10)}, {"limit-8", 8, steady(10)}}, Waits, result.Yes, autoName},
		{"computing", 0.99, []made{loop, {freeName, 0, steady(50)}, {parName, 0, steady(51)}, {"limit-2", 2, steady(50)}}, Computes, result.Yes, parName},
		{"waiting is not for par", 0.01, []made{loop, {freeName, 0, steady(50)}, {parName, 0, steady(50)}}, Waits, result.Yes, freeName},
		{"only par pays", 0.3, []made{loop, {freeName, 0, steady(100)}, {parName, 0, steady(50)}}, Both, result.Yes, parName},
		{"nothing pays", 1, []made{loop, {freeName, 0, steady(104)}, one, {"limit-2", 2, steady(95)}}, Computes, result.No, loopName},
		{"a gain too small to pay", 1, []made{loop, {freeName, 0, steady(93)}}, Computes, result.No, loopName},
		{"noise", 0.01, []made{loop, {freeName, 0, wild(120)}, one}, Waits, result.NotSure, loopName},
		{"noise beside a no", 0.01, []made{loop, {freeName, 0, steady(100)}, {"limit-2", 2, wild(120)}}, Waits, result.NotSure, loopName},
		{"noise, and far", 0.01, []made{loop, {freeName, 0, wild(50)}, one}, Waits, result.NotSure, freeName},
		{"too few", 0.01, []made{{loopName, 0, ms{100, 100}}, {freeName, 0, ms{80, 80}}}, Waits, result.NotSure, loopName},
		{"too few, and far", 0.01, []made{{loopName, 0, ms{100, 100}}, {freeName, 0, ms{10, 10}}, {"limit-2", 2, ms{50, 50}}}, Waits, result.NotSure, freeName},
		{"few, and far in each", 0.01, []made{{loopName, 0, ms{100, 90, 100}}, {freeName, 0, ms{50, 60, 60}}, {"limit-4", 4, ms{49, 59, 61}}}, Waits, result.Yes, freeName},
		{"few, and not far in one", 0.01, []made{{loopName, 0, ms{100, 89, 100}}, {freeName, 0, ms{50, 60, 60}}}, Waits, result.NotSure, freeName},
		{"few, and never far", 0.01, []made{{loopName, 0, ms{100, 100, 100, 100}}, {freeName, 0, ms{80, 80, 80, 80}}}, Waits, result.NotSure, loopName},
		{"few, and no gain", 0.01, []made{{loopName, 0, ms{100, 100, 100}}, {freeName, 0, ms{100, 100, 100}}}, Waits, result.NotSure, loopName},
		{"the loop alone", 0.01, []made{loop, one}, Waits, result.NotSure, ""},
		{"one item at once never pays", 0.01, []made{loop, {"limit-1", 1, steady(10)}, {freeName, 0, steady(100)}}, Waits, result.No, loopName},
		{"processor time not known", -1, []made{loop, {freeName, 0, steady(10)}}, Unknown, result.Yes, freeName},
		{"several processors in one item", 1.9, []made{loop, {freeName, 0, steady(100)}}, Computes, result.No, loopName},
		{"nothing", 1, nil, Unknown, result.NotSure, ""},
	} {
		a := advice(c.share, c.rows...)
		if a.Work != c.work || a.Answer != c.answer || a.Best != c.best {
			t.Errorf("%s: %q, %q, %q, want %q, %q, %q", c.name, a.Work, a.Answer, a.Best, c.work, c.answer, c.best)
		}
		if want := "call of " + c.best; a.Call != want && (c.best != "" || a.Call != "") {
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
	busy := 0.99
	short := advice(1, made{loopName, 0, steady(0.01)}, made{freeName, 0, steady(0.02)})
	for want, got := range map[string]string{
		"there is one processor":                                        single.why(),
		"more processors do not help":                                   advice(1, flat...).Reason,
		"too short for a call of stint.Range, which takes 2.000µs more": advice(1, tiny(100, 99)...).Reason,
		"does not pay here either.":                                     advice(1, tiny(100, 99)...).Reason,
		"2.00 times as fast as the loop. An item tak":                   strings.ReplaceAll(advice(1, tiny(100, 50)...).Reason, " [2.00, 2.00]", ""),
		"0.99 of 2 processors":                                          beside(&busy, 1, flat...).Reason,
		"in too few rounds (1)":                                         advice(0, made{loopName, 0, ms{9}}, made{freeName, 0, ms{1}}).Reason,
		"If this holds, use":                                            advice(0, made{loopName, 0, ms{9}}, made{freeName, 0, ms{1}}).Reason,
		"at most 1 of 8 cases":                                          advice(0, made{loopName, 0, ms{9, 9, 9}}, made{freeName, 0, ms{1, 2, 3}}).Reason,
		"keeps 1.90 processors busy by itself":                          advice(1.9, flat...).Reason,
		"concurrent items do not wait less":                             advice(0, flat...).Reason,
		"Concurrent items do not finish sooner":                         advice(0.5, flat...).Reason,
		"a goroutine pays from about 60µs":                              short.Reason,
		"stint.Range is 10.0 [":                                         advice(0, flat[0], made{freeName, 0, steady(10)}).Reason,
		"stint.Range takes 2.00 [":                                      advice(0, flat[0], made{freeName, 0, steady(20)}, made{"limit-8", 8, steady(10)}).Reason,
		"allow more time":                                               advice(0, made{loopName, 0, []float64{9}}, made{freeName, 0, []float64{1}}).Reason,
		"it may pay, or may not":                                        advice(0, flat[0], made{freeName, 0, wild(80)}).Reason,
		"Nothing was measured beside the loop":                          advice(0, flat[0]).Reason,
		"There is nothing to do.":                                       (&Advice{}).why(),
		"One item cannot run concurrently":                              (&Advice{N: 1}).why(),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want something with %q", got, want)
		}
	}
}

// tiny is a list for which stint.Range takes three times the time, 1 µs per
// item.
func tiny(loop, par float64) []made {
	return []made{{loopName, 0, steady(loop / 1e3)}, {freeName, 0, steady(3 * loop / 1e3)}, {parName, 0, steady(par / 1e3)}, {"limit-1", 1, steady(3 * loop / 1e3)}}
}

// Other programs use the processors that a computing function needs.
func TestCrowded(t *testing.T) {
	flat := []made{{loopName, 0, steady(100)}, {freeName, 0, steady(100)}}
	short := []made{{loopName, 0, steady(0.01)}, {freeName, 0, steady(0.02)}}
	fast := []made{{loopName, 0, steady(100)}, {freeName, 0, steady(60)}}
	for _, c := range []struct {
		name          string
		others, share float64
		rows          []made
		want          result.Answer
	}{
		{"idle", 0.4, 1, flat, result.No},
		{"busy", 0.6, 1, flat, result.NotSure},
		{"busy, and it waits for a processor too", 0.99, 0.5, flat, result.NotSure},
		{"busy, but it waits", 0.99, 0.01, flat, result.No},
		{"busy, but the list is too short anyway", 0.99, 1, short, result.No},
		{"busy, and it pays all the same", 0.99, 1, fast, result.Yes},
	} {
		if got := beside(&c.others, c.share, c.rows...); got.Answer != c.want || got.Call == "" {
			t.Errorf("%s: %s, %q, want %s", c.name, got.Answer, got.Call, c.want)
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
	if a.Auto.Limit.Median != 36 || a.Auto.BestFixed != "limit-8" || a.Auto.Ratio.Median != 2 || a.Auto.Reason != "because" || a.Auto.Phase != "slow start" {
		t.Errorf("got %+v", a.Auto)
	}
	if !strings.Contains(a.Highest, "limits above limit-8 were not tried") {
		t.Errorf("highest: %q", a.Highest)
	}
}

// kinds returns the kinds of the warnings.
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
	if got := kinds(advice(0, loop, noise)); !slices.Equal(got, []string{result.Spread}) {
		t.Errorf("%q, want spread", got)
	}
	if got := kinds(advice(0, made{loopName, 0, []float64{1}}, made{freeName, 0, []float64{1}})); !slices.Contains(got, result.Samples) {
		t.Errorf("%q, want samples", got)
	}
	a := &Advice{N: 100, Items: 8, Result: &result.Result{Machine: measure.Machine{Timer: 1e6}}}
	a.judge(observed{item: 1e9, budgetSpent: true, shortest: time.Millisecond}, false)
	if got := kinds(a); !slices.Equal(got, []string{Short, Short, result.Timer}) || !strings.Contains(a.Warnings[0].Text, "1h27m30s") {
		t.Errorf("%q", a.Warnings)
	}
	a = &Advice{N: 2, Items: 2, Result: &result.Result{Rows: []result.Row{{Case: "n=2", Model: loopName, Samples: []measure.Sample{{measure.Time: 1}}}}}}
	a.judge(observed{budgetSpent: true}, true)
	if got := kinds(a); !slices.Equal(got, []string{result.Interrupted}) {
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
		if got := stillFaster(c.took); got != c.want {
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
		{100, 10 * time.Millisecond, 19}, // a round of 100 would take 4.5 s, seven 31.5 s
		{1000, 150 * time.Millisecond, 2},
		{1000, 100 * time.Millisecond, 4}, // not seven rounds, but three
		{100, time.Second, 2},
		{5, time.Second, 2},
		{1, time.Hour, 1},
		{1_000_000_000, time.Nanosecond, 190_476_190},
	} {
		if got := fit(c.n, 10*time.Second, observed{item: float64(c.item)}.needed); got != c.want {
			t.Errorf("%d items of %v: %d, want %d", c.n, c.item, got, c.want)
		}
	}
	if c, w := (observed{item: 1e6, share: 1}).needed(10, 7), (observed{item: 1e6, share: 0.1}).needed(10, 7); c <= w {
		t.Errorf("%v for what computes, %v for what waits", c, w)
	}
}

func TestRefit(t *testing.T) {
	for _, c := range []struct {
		n, reps, want int
		ms, left      float64
	}{
		{100, 1, 100, 100, 600},
		{100, 1, 51, 100, 599},
		{100, 1, 8, 100, 100},
		{100, 1, 4, 100, 20},
		{100, 9, 100, 100, 20},
		{4, 1, 4, 100, 20},
	} {
		s := newSession(c.n, func(int) {}, collect(nil))
		s.reps = []int{c.reps}
		s.advice.Result.Rows = []result.Row{{Samples: []measure.Sample{{measure.Time: c.ms * 1e6 / float64(c.reps)}}}}
		if got := s.refit(time.Duration(c.left * 1e6)); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
