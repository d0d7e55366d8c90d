package experiment

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// timed is a model with a given time per operation.
func timed(name string, ns float64, then func()) Model {
	return Model{result.Peer.Model(name, "said"), func(m *measure.Meter) error {
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

// Only the selected cases are measured, and claims about others are left out, also
// those about several cases.
func TestSelectedCases(t *testing.T) {
	s := &Session{Count: 1, Cases: []string{"/far", "b"}, Log: io.Discard}
	b := s.NewBench("x", "")
	nothing := func() {}
	var names []string
	for _, name := range []string{"a/near", "a/far", "b/near", "c/near"} {
		names = append(names, name)
		b.Claim(AtMost(1, name, "m", "m", ""))
		if err := b.Measure(t.Context(), Case{Name: name, Reference: "m", Ops: 1, Models: []Model{timed("m", 1, nothing)}}); err != nil {
			t.Fatal(err)
		}
	}
	all, some := AtMost(1, "all", "m", "m", ""), AtMost(1, "some", "m", "m", "")
	all.Cases, some.Cases = names, names[1:3]
	b.Claim(all, some)
	r, _ := b.Conclude(nil)
	var got []string
	for _, v := range r.Verdicts {
		got = append(got, v.Case)
	}
	if want := []string{"a/far", "b/near", "some"}; !slices.Equal(got, want) || len(r.Cases) != 2 {
		t.Errorf("%d cases, verdicts on %q, want 2 and %q", len(r.Cases), got, want)
	}
}

// The models of all cases run in turn, each on the processors of its case.
func TestCasesInterleave(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var order []string
	note := func(s string) func() {
		return func() { order = append(order, s+strings.Repeat("'", runtime.GOMAXPROCS(0)-1)) }
	}
	before := runtime.GOMAXPROCS(0)
	b := (&Session{Count: 2, Log: io.Discard}).NewBench("x", "")
	b.Claim(result.Claim{Case: "c=1", Model: "a", Unit: measure.Time, Form: result.Ratio, Than: "a", InCase: "c=2", Bar: 1})
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

// A session with GOMAXPROCS measures only these, and claims nothing about
// others.
func TestProcessorsOfASession(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	for _, c := range []struct {
		procs []int
		want  string
		left  int // claims
	}{
		{[]int{3}, "free=3", 1},
		{[]int{1}, "free=1 fixed=1", 3},
		{[]int{1, 2, 3}, "free/procs=1=1 free/procs=2=2 free=3 fixed=1", 3},
	} {
		b := (&Session{Count: 1, Procs: c.procs, Log: io.Discard}).NewBench("x", "")
		var seen []string
		look := func(name string) []Model {
			return []Model{timed("a", 1, func() { seen = append(seen, fmt.Sprint(name, "=", runtime.GOMAXPROCS(0))) })}
		}
		claim := result.Claim{Model: "a", Unit: measure.Time, Form: result.Ratio, Than: "a", Bar: 1}
		for _, cases := range [][2]string{{"free", ""}, {"fixed", ""}, {"free", "fixed"}} {
			claim.Case, claim.InCase = cases[0], cases[1]
			b.Claim(claim)
		}
		cases := []Case{{Name: "free", Ops: 1, Models: look("free")}, {Name: "fixed", Ops: 1, Models: look("fixed"), Processors: 1}}
		r, err := b.Conclude(errors.Join(b.Measure(t.Context(), cases...), b.Measure(t.Context(), cases[1])))
		if err != nil {
			t.Fatal(err)
		}
		var measured []string
		for i, kase := range r.Cases {
			measured = append(measured, kase.Name+strings.TrimLeft(seen[i], "freixd"))
		}
		if got := strings.Join(measured, " "); got != c.want || len(r.Verdicts) != c.left || r.Processors != slices.Max(c.procs) {
			t.Errorf("%v: measured %s, %d claims, at most %d processors; want %s and %d claims", c.procs, got, len(r.Verdicts), r.Processors, c.want, c.left)
		}
		if runtime.GOMAXPROCS(0) != before {
			t.Errorf("GOMAXPROCS was left at %d, it was %d", runtime.GOMAXPROCS(0), before)
		}
	}
}

// A session sets the length of a sample and reports progress.
func TestTimeAndSteps(t *testing.T) {
	var steps []string
	s := &Session{Count: 1, Time: 50 * time.Millisecond, Log: io.Discard, Progress: func(label string, done, total int) {
		steps = append(steps, fmt.Sprint(label, " ", done, "/", total))
	}}
	b := s.NewBench("x", "")
	nothing := func() {}
	r, err := b.Conclude(b.Measure(t.Context(), Case{Name: "c=1", Models: []Model{timed("a", 1e3, nothing), timed("b", 2e3, nothing)}}))
	if err != nil || r.Cases[0].Ops != 50_000 {
		t.Errorf("%d operations a sample, %v, want 50000", r.Cases[0].Ops, err)
	}
	want := "x c=1, choosing the sample size 0/2;x c=1, choosing the sample size 1/2;x c=1 0/4;x c=1 1/4;x c=1 2/4;x c=1 3/4"
	if got := strings.Join(steps, ";"); got != want {
		t.Errorf("steps\n%s, want\n%s", got, want)
	}
}

// A wrong result or the end of the context ends the experiment, which keeps its
// samples.
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
		m := Model{result.Model{Name: "a"}, func(m *measure.Meter) error {
			m.Report(measure.Time, 1)
			if calls++; calls == 3 {
				return act()
			}
			return nil
		}}
		b := (&Session{Count: 5, Log: io.Discard}).NewBench("x", "")
		r, err := b.Conclude(b.Measure(ctx, Case{Name: "c=1", Ops: 1, Models: []Model{m}}))
		if !strings.Contains(r.Unfinished, want.Error()) || !slices.ContainsFunc(r.Warnings, func(w result.Warning) bool { return strings.Contains(w.Text, want.Error()) }) {
			t.Errorf("unfinished for %q, with warnings %v; want %v", r.Unfinished, r.Warnings, want)
		}
		if !errors.Is(err, want) || calls != 3 || len(r.Rows) != 1 || len(r.Rows[0].Samples) == 0 {
			t.Errorf("got %v after %d calls, with %+v; want %v after 3", err, calls, r.Rows, want)
		}
	}
}

// A claim about an unselected model is left out, even if another case measured
// it as the reference.
func TestClaimsAreLeftOut(t *testing.T) {
	b := (&Session{Count: 1, Models: []string{"a"}, Log: io.Discard}).NewBench("x", "")
	models := []Model{timed("a", 1, func() {}), timed("b", 1, func() {}), timed("c", 1, func() {})}
	claim := func(kase, than, inCase string) result.Claim {
		return result.Claim{Case: kase, Model: "a", Unit: measure.Time, Form: result.Ratio, Than: than, InCase: inCase, Bar: 1}
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

// A quick run that has chosen the number of operations has no warm-up.
func TestQuickRounds(t *testing.T) {
	for ops, want := range map[int][]int{0: {-1, 0, 1}, 3: {-1, 0, 1}} {
		var rounds []int
		m := Model{result.Model{Name: "a"}, func(m *measure.Meter) error {
			rounds = append(rounds, m.Round)
			m.Report(measure.Time, 1e9)
			return nil
		}}
		b := (&Session{Quick: true, Count: 2, Log: io.Discard}).NewBench("x", "")
		r, err := b.Conclude(b.Measure(t.Context(), Case{Name: "c=1", Ops: ops, Models: []Model{m}}))
		if err != nil || !slices.Equal(rounds, want) || len(r.Rows[0].Samples) != 2 {
			t.Errorf("%d operations: rounds %v, %v, want %v", ops, rounds, err, want)
		}
	}
}

// A profile of each model that measures time in this process is in a file of its own.
func TestProfiles(t *testing.T) {
	dir := t.TempDir()
	b := (&Session{Count: 2, Profiles: dir, Log: io.Discard}).NewBench("x", "")
	spins := func() error {
		for began := time.Now(); time.Since(began) < 30*time.Millisecond; {
		}
		return nil
	}
	models := []Model{Op(result.Peer.Model("../a b", "said"), spins), Op(result.Peer.Model("b", "said"), spins), timed("process", 1, func() {})}
	if _, err := b.Conclude(b.Measure(t.Context(), Case{Name: "c=1/d=2%", Ops: 1, Models: models})); err != nil {
		t.Fatal(err)
	}
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		names = append(names, path)
		f, err := os.Open(filepath.Join(dir, path))
		if err != nil {
			return err
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		if text, err := io.ReadAll(z); err != nil || !bytes.Contains(text, []byte("nanoseconds")) {
			t.Errorf("%s: a profile of %d bytes, %v", path, len(text), err)
		}
		return nil
	})
	if want := []string{"x/c=1_d=2_/.._a_b.pprof", "x/c=1_d=2_/b.pprof"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("written %q, %v, want %q", names, err, want)
	}
}
