package experiment

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/report"
)

// timed is a model whose operation is said to take so many nanoseconds.
func timed(name string, ns float64, then func()) Model {
	return Model{report.Model{Name: name, Kind: report.Peer, Doc: "said"}, func(m *measure.Meter) error {
		m.Report(measure.Time, ns)
		then()
		return nil
	}}
}

func TestOpsSuitTheFastestAndTheSlowest(t *testing.T) {
	nothing := func() {}
	for _, c := range []struct {
		a, b float64
		want int
	}{
		{1e3, 2e3, 5000},   // the faster takes 5 ms
		{1, 1e6, 100},      // the slower takes 100 ms
		{1e9, 1e9, 1},      // one is enough
		{5e6, 10_000e6, 1}, // never none
	} {
		b := (&Session{Count: 2, Log: io.Discard}).NewBench("x", "")
		if err := b.Measure(t.Context(), Case{Name: "a=1", Models: []Model{timed("a", c.a, nothing), timed("b", c.b, nothing)}}); err != nil {
			t.Fatal(err)
		}
		r, _ := b.Conclude(nil)
		if got := r.Cases[0].Ops; got != c.want {
			t.Errorf("%v ns and %v ns: %d operations a sample, want %d", c.a, c.b, got, c.want)
		}
	}
}

// The models of all cases run in turn, each on the processors of its case.
func TestCasesInterleave(t *testing.T) {
	var order []string
	note := func(s string) func() {
		return func() { order = append(order, s+strings.Repeat("'", runtime.GOMAXPROCS(0)-1)) }
	}
	before := runtime.GOMAXPROCS(0)
	b := (&Session{Count: 2, Processors: 2, Log: io.Discard}).NewBench("x", "")
	b.Claim(report.Claim{Case: "c=1", Model: "a", Unit: measure.Time, Form: report.Ratio, Than: "a", InCase: "c=2", Bar: 1})
	err := b.Measure(t.Context(),
		Case{Name: "c=1", Ops: 3, Reference: "a", Models: []Model{timed("a", 1, note("a"))}},
		Case{Name: "c=2", Ops: 3, Reference: "a", Models: []Model{timed("a", 2, note("b"))}, Processors: 1})
	r, _ := b.Conclude(err)
	if err != nil || !slices.Equal(order, []string{"a'", "b", "a'", "b", "a'", "b"}) {
		t.Errorf("got %q, %v", order, err)
	}
	if len(r.Rows) != 2 || len(r.Rows[1].Samples) != 2 || len(r.Models) != 1 || r.Verdicts[0].Figures.Median != 0.5 {
		t.Errorf("got %+v", r)
	}
	if runtime.GOMAXPROCS(0) != before {
		t.Errorf("GOMAXPROCS was left at %d, it was %d", runtime.GOMAXPROCS(0), before)
	}
}

// A wrong result ends the experiment, and so does the end of the context; what
// was measured is kept.
func TestMeasureStops(t *testing.T) {
	wrong := errors.New("wrong")
	var cancel context.CancelFunc
	for want, act := range map[error]func() error{
		wrong:            func() error { return wrong },
		context.Canceled: func() error { cancel(); return nil },
	} {
		var ctx context.Context
		ctx, cancel = context.WithCancel(t.Context())
		defer cancel()
		calls := 0
		m := Model{report.Model{Name: "a"}, func(m *measure.Meter) error {
			m.Report(measure.Time, 1)
			if calls++; calls == 3 {
				return act()
			}
			return nil
		}}
		b := (&Session{Count: 5, Log: io.Discard}).NewBench("x", "")
		r, err := b.Conclude(b.Measure(ctx, Case{Name: "c=1", Ops: 1, Models: []Model{m}}))
		if !errors.Is(err, want) || calls != 3 || len(r.Rows) != 1 || len(r.Rows[0].Samples) == 0 {
			t.Errorf("got %v after %d calls, with %+v; want %v after 3", err, calls, r.Rows, want)
		}
	}
}

// A claim is left out where it is about a model that was not asked for, though
// that was measured in another case, as the reference.
func TestClaimsAreLeftOut(t *testing.T) {
	b := (&Session{Count: 1, Models: []string{"a"}, Log: io.Discard}).NewBench("x", "")
	models := []Model{timed("a", 1, func() {}), timed("b", 1, func() {}), timed("c", 1, func() {})}
	claim := func(kase, than, inCase string) report.Claim {
		return report.Claim{Case: kase, Model: "a", Unit: measure.Time, Form: report.Ratio, Than: than, InCase: inCase, Bar: 1}
	}
	b.Claim(claim("c=1", "b", ""), claim("c=1", "c", ""), claim("c=2", "c", ""), claim("c=2", "b", ""), claim("c=2", "b", "c=1"))
	r, err := b.Conclude(b.Measure(t.Context(),
		Case{Name: "c=1", Ops: 1, Reference: "b", Models: models}, Case{Name: "c=2", Ops: 1, Reference: "c", Models: models}))
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, v := range r.Verdicts {
		left = append(left, v.Case+" "+v.Than)
	}
	if want := []string{"c=1 b", "c=2 c", "c=2 b"}; !slices.Equal(left, want) || r.Verdicts[2].InCase != "c=1" {
		t.Errorf("claims about %q, want %q", left, want)
	}
}
