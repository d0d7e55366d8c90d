package advise

import (
	"strings"
	"testing"
	"time"
)

// A made row has a limit and times in ms, one per round.
type made struct {
	name  string
	limit int
	ms    []float64
}

type ms = []float64

// steady returns 7 rounds of about the given time in ms. The warm-up round
// takes ten times as long.
func steady(ms float64) []float64 {
	return []float64{10 * ms, ms, 1.01 * ms, 0.99 * ms, ms, 1.02 * ms, 0.98 * ms}
}

// wild returns 7 rounds with a very wide interval.
func wild(ms float64) []float64 {
	return []float64{ms, ms / 3, 3 * ms, ms / 2, 2 * ms, ms, ms / 3}
}

// advice judges made-up figures of 100 items with the given share of CPU time.
func advice(share float64, rows ...made) *Advice { return beside(0, share, rows...) }

// beside is advice where other programs used some processors.
func beside(others, share float64, rows ...made) *Advice {
	s := &session{Advice: &Advice{N: 100, Items: 100, Budget: time.Second}, others: others}
	for _, m := range rows {
		r := &Row{Name: m.name, Limit: m.limit}
		for _, ms := range m.ms {
			r.times = append(r.times, 1e6*ms)
			if share >= 0 {
				r.cpu = append(r.cpu, 1e6*ms*share)
			}
		}
		s.Rows = append(s.Rows, r)
	}
	s.judge()
	return s.Advice
}

func TestAnswers(t *testing.T) {
	loop, one := made{loopName, 0, steady(100)}, made{"limit-1", 1, steady(100)}
	flat := []made{loop, {freeName, 0, steady(100)}}
	for _, c := range []struct {
		name   string
		share  float64
		rows   []made
		work   Work
		answer Answer
		best   string
		reason string
	}{
		{"free is near the best", 0.01, []made{loop, {freeName, 0, steady(10.5)}, one, {"limit-16", 16, steady(10)}},
			Waits, Yes, freeName, "times as fast as the loop."},
		{"free is far from it", 0.01, []made{loop, {freeName, 0, steady(20)}, one, {"limit-16", 16, steady(10.2)}, {"limit-32", 32, steady(10)}},
			Waits, Yes, "limit-16", "stint.Range takes 1.96 ["},
		{"only a limit pays", 0.5, []made{loop, {freeName, 0, steady(101)}, {"limit-2", 2, steady(60)}}, Both, Yes, "limit-2", ""},
		{"a cap", 0.01, []made{loop, {autoName, 0, steady(10)}, {"limit-8", 8, steady(10)}}, Waits, Yes, autoName, "stint.Auto is 10 ["},
		{"computing", 0.99, []made{loop, {freeName, 0, steady(50)}, {parName, 0, steady(51)}, {"limit-2", 2, steady(50)}},
			Computes, Yes, parName, ""},
		{"waiting is not for par", 0.01, []made{loop, {freeName, 0, steady(50)}, {parName, 0, steady(50)}}, Waits, Yes, freeName, ""},
		{"only par pays", 0.3, []made{loop, {freeName, 0, steady(100)}, {parName, 0, steady(50)}}, Both, Yes, parName, ""},
		{"nothing pays", 1, []made{loop, {freeName, 0, steady(104)}, one, {"limit-2", 2, steady(95)}}, Computes, No, loopName, "It computes"},
		{"a gain too small to pay", 0, []made{loop, {freeName, 0, steady(93)}}, Unknown, No, loopName, "do not finish sooner"},
		{"a list too short", 1, []made{{loopName, 0, steady(0.01)}, {freeName, 0, steady(0.02)}},
			Computes, No, loopName, "a goroutine pays from about 60µs"},
		{"noise", 0.01, []made{loop, {freeName, 0, wild(120)}, one}, Waits, NotSure, loopName, "in 6 rounds: it may pay, or not. More time may decide: --budget 2s"},
		{"noise beside a no", 0.01, []made{loop, {freeName, 0, steady(100)}, {"limit-2", 2, wild(120)}}, Waits, NotSure, loopName, ""},
		{"noise, and far", 0.01, []made{loop, {freeName, 0, wild(50)}, one}, Waits, NotSure, freeName, "in 6 rounds"},
		{"too few", 0.01, []made{{loopName, 0, ms{100, 100}}, {freeName, 0, ms{80, 80}}}, Waits, NotSure, loopName, ""},
		{"too few, and far", 0.01, []made{{loopName, 0, ms{100, 100}}, {freeName, 0, ms{10, 10}}, {"limit-2", 2, ms{50, 50}}},
			Waits, NotSure, freeName, "in 2 rounds"},
		{"few, and far in each", 0.01, []made{{loopName, 0, ms{100, 90, 100}}, {freeName, 0, ms{50, 60, 60}}, {"limit-4", 4, ms{49, 59, 61}}},
			Waits, Yes, freeName, "1 of 8 cases"},
		{"few, and not far in one", 0.01, []made{{loopName, 0, ms{100, 89, 100}}, {freeName, 0, ms{50, 60, 60}}}, Waits, NotSure, freeName, ""},
		{"few, and no gain", 0.01, []made{{loopName, 0, ms{100, 100, 100}}, {freeName, 0, ms{100, 100, 100}}}, Waits, NotSure, loopName, ""},
		{"the loop alone", 0.01, []made{loop}, Waits, NotSure, "", "Nothing was measured beside the loop."},
		{"one item at once never pays", 0.01, []made{loop, {"limit-1", 1, steady(10)}, {freeName, 0, steady(100)}}, Waits, No, loopName, ""},
		{"processor time not known", -1, []made{loop, {freeName, 0, steady(10)}}, Unknown, Yes, freeName, ""},
		{"several processors in one item", 1.9, flat, Computes, No, loopName, "keeps 1.9 processors busy"},
		{"too short for a call", 0.9, []made{{loopName, 0, steady(0.1)}, {freeName, 0, steady(0.3)}, {"limit-1", 1, steady(0.3)}},
			Computes, No, loopName, "too short for a call of stint.Range"},
		{"nothing", 1, nil, Unknown, NotSure, "", ""},
	} {
		a, best := advice(c.share, c.rows...), ""
		if a.Best != nil {
			best = a.Best.Name
		}
		if a.Work != c.work || a.Answer != c.answer || best != c.best || !strings.Contains(a.Reason, c.reason) || a.Reason == "" {
			t.Errorf("%s: %q, %q, %q, %q, want %q, %q, %q, %q", c.name, a.Work, a.Answer, best, a.Reason, c.work, c.answer, c.best, c.reason)
		}
		if got := a.String(); !strings.Contains(got, "does concurrency pay? "+string(c.answer)) {
			t.Errorf("%s: got %s", c.name, got)
		}
	}
}

// Other programs use the processors that a computing function needs.
func TestCrowded(t *testing.T) {
	flat := []made{{loopName, 0, steady(100)}, {freeName, 0, steady(100)}}
	for _, c := range []struct {
		name          string
		others, share float64
		rows          []made
		want          Answer
	}{
		{"idle", 0.2, 1, flat, No},
		{"busy", 0.6, 1, flat, NotSure},
		{"busy, but it waits", 0.6, 0.01, flat, No},
		{"busy, but the list is too short anyway", 0.6, 1, []made{{loopName, 0, steady(0.01)}, {freeName, 0, steady(0.02)}}, No},
		{"busy, and it pays all the same", 0.6, 1, []made{{loopName, 0, steady(100)}, {freeName, 0, steady(60)}}, Yes},
	} {
		a := beside(c.others, c.share, c.rows...)
		if a.Answer != c.want || strings.Contains(a.String(), "other programs used") != (c.others > 0.5 && c.share > 0.5) {
			t.Errorf("%s: got %s", c.name, a)
		}
	}
}

func TestFigures(t *testing.T) {
	a := advice(0.25, made{loopName, 0, steady(100)}, made{freeName, 0, steady(20)}, made{"limit-8", 8, steady(10)})
	if r := a.Rows[2]; r.Time.N != 6 || r.Time.Median != 10e6 || r.Speedup.Median != 10 || r.Speedup.Interval == nil {
		t.Errorf("got %+v, want the last six rounds, and ten times as fast", r)
	}
	if a.Item.Median != 1e6 || a.Share.Median != 0.25 || a.Work != Both {
		t.Errorf("an item %v, share %v, %s", a.Item, a.Share, a.Work)
	}
	for want, got := range map[string]string{
		"0.0123": times(0.0123), "0.99": times(0.99), "1": times(1), "64.2": times(64.2), "128": times(128.4), "1.500µs": seconds(1500),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
