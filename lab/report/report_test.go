package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/stats"
	"golang.org/x/perf/benchfmt"
)

// samples are runs of so many milliseconds.
func samples(ms ...int) []measure.Sample {
	var out []measure.Sample
	for _, m := range ms {
		d := time.Duration(m) * time.Millisecond
		out = append(out, measure.Usage{Wall: d, CPU: 2 * d, PeakRSS: 8 << 20, Floor: 2 << 20}.Sample(1e6))
	}
	return out
}

// example is a result with a model twice as fast as the other.
func example() *Result {
	idle := 0.0
	return &Result{
		Experiment: "sum",
		Command:    "go run ./lab run sum",
		Workload:   "2 files",
		Processors: 2,
		Machine:    measure.Machine{GOOS: "linux", GOARCH: "amd64", CPU: "A CPU: fast", Go: "go1", Processors: 2, Load: &idle, Others: &idle},
		Tools:      []string{"a 1", "b 2"},
		Notes:      []string{"note"},
		Models:     []Model{{Name: "gnu", Kind: Peer, Doc: "a"}, {Name: "stint", Kind: Ours, Doc: "b"}},
		Cases:      []Case{{Name: "alg=md5", Doc: "an op is a run", Reference: "gnu", Ops: 1, Count: 6}},
		Rows: []Row{
			{Case: "alg=md5", Model: "gnu", Samples: samples(100, 102, 104, 100, 101, 100)},
			{Case: "alg=md5", Model: "stint", Samples: samples(50, 51, 52, 50, 50, 50)},
		},
	}
}

// claim is one about the model that is twice as fast.
func claim(f Form, bar float64) Claim {
	return Claim{Case: "alg=md5", Model: "stint", Unit: measure.Time, Form: f, Than: "gnu", Bar: bar}
}

func TestAnswers(t *testing.T) {
	interval := &stats.Interval{Lo: 1.9, Hi: 2.1, Confidence: 0.97}
	for _, c := range []struct {
		name    string
		form    Form
		bar     float64
		figures stats.Estimate
		want    Answer
	}{
		{"below", Ratio, 2.2, stats.Estimate{N: 6, Median: 2, Interval: interval}, Yes},
		{"at the upper end", Ratio, 2.1, stats.Estimate{N: 6, Median: 2, Interval: interval}, Yes},
		{"inside", Ratio, 2, stats.Estimate{N: 6, Median: 2, Interval: interval}, NotSure},
		{"at the lower end", Ratio, 1.9, stats.Estimate{N: 6, Median: 2, Interval: interval}, NotSure},
		{"above", Ratio, 1.8, stats.Estimate{N: 6, Median: 2, Interval: interval}, No},
		{"fast enough", Speedup, 1.9, stats.Estimate{N: 6, Median: 2, Interval: interval}, Yes},
		{"perhaps", Speedup, 2, stats.Estimate{N: 6, Median: 2, Interval: interval}, NotSure},
		{"too slow", Speedup, 2.2, stats.Estimate{N: 6, Median: 2, Interval: interval}, No},
		{"no interval", Ratio, 9, stats.Estimate{N: 5, Median: 2}, NotSure},
		{"no samples", Ratio, 9, stats.Estimate{}, NotSure},
	} {
		if got := answer(c.figures, c.bar, c.form); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestForms(t *testing.T) {
	r := example()
	best := claim(Ratio, 0.6)
	best.Than = BestPeer
	hard := claim(Speedup, 1.9)
	hard.Stretch = 2.1
	unknown := claim(Ratio, 1)
	unknown.Model = "other"
	bound := claim(Value, 8.5e6)
	bound.Unit, bound.Than = measure.PeakRSS, ""
	other := claim(Ratio, 1)
	other.Model, other.Than, other.InCase = "gnu", "stint", "alg=md5"
	for _, c := range []struct {
		claim Claim
		want  string
	}{
		{claim(Ratio, 0.51), "yes stint: time/op at most 0.51 x gnu: 0.500 [0.495, 0.500] 97 %, n = 6"},
		{hard, "yes stint: at least 1.9 x as fast as gnu: 2.00 [2.00, 2.02] 97 %, n = 6; stretch 2.10: no"},
		{claim(Difference, -48e6), "yes stint: time/op at most -48.0 ms more than gnu: -50.5 ms [-52.0 ms, -50.0 ms] 97 %, n = 6"},
		{claim(Worst, 0.5), "yes stint: time/op at most 0.5 x gnu in each round: 0.500 at worst, n = 6"},
		{best, "yes stint: time/op at most 0.6 x best peer (it is gnu): 0.500 [0.495, 0.500] 97 %, n = 6"},
		{bound, "yes stint: peak RSS at most 8.50 MB: 8.39 MB [8.39 MB, 8.39 MB] 97 %, n = 6"},
		{other, "no gnu: time/op at most 1 x stint in alg=md5: 2.00 [2.00, 2.02] 97 %, n = 6"},
		{unknown, "not sure other: time/op at most 1 x gnu: not measured"},
	} {
		v := r.judge(c.claim)
		if got := string(v.Answer) + " " + v.Text() + ": " + v.figures(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// A model without a bound may be the best peer, but not the best bounded one.
func TestBestBounded(t *testing.T) {
	r := example()
	r.Models = append(r.Models, Model{Name: "all", Kind: Peer, Unbounded: true}, Model{Name: "slow", Kind: Peer}, Model{Name: "least", Kind: Floor})
	for name, ms := range map[string]int{"all": 10, "slow": 200, "least": 1} {
		r.Rows = append(r.Rows, Row{Case: "alg=md5", Model: name, Samples: samples(slices.Repeat([]int{ms}, 6)...)})
	}
	for than, want := range map[string]string{
		BestPeer:    "no stint: time/op at most 1.05 x best peer (it is all): 5.00 [5.00, 5.20] 97 %, n = 6",
		BestBounded: "yes stint: time/op at most 1.05 x best bounded peer (it is gnu): 0.500 [0.495, 0.500] 97 %, n = 6",
	} {
		c := claim(Ratio, 1.05)
		c.Than = than
		v := r.judge(c)
		if got := string(v.Answer) + " " + v.Text() + ": " + v.figures(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	r.Models[0].Unbounded = true
	r.Rows = slices.DeleteFunc(r.Rows, func(row Row) bool { return row.Model == "slow" })
	if v := r.judge(Claim{Case: "alg=md5", Model: "stint", Unit: measure.Time, Form: Ratio, Than: BestBounded, Bar: 1}); v.Answer != NotSure || v.Figures.N != 0 {
		t.Errorf("without a bounded peer: %s, %+v", v.Answer, v.Figures)
	}
}

// The best of a case may be the one that the claim is about: it is held against
// the best of the others, not against itself.
func TestBestIsAnother(t *testing.T) {
	r := example()
	r.Models = append(r.Models, Model{Name: "near", Kind: Peer})
	r.Rows = append(r.Rows, Row{Case: "alg=md5", Model: "near", Samples: samples(101, 101, 103, 101, 100, 101)})
	c := claim(Ratio, 1)
	c.Model, c.Than = "gnu", BestPeer
	v := r.judge(c)
	if got, want := string(v.Answer)+" "+v.Text(), "not sure gnu: time/op at most 1 x best peer (it is near)"; got != want || v.Figures.Median == 1 && v.Figures.Interval.Lo == 1 {
		t.Errorf("got %s, %+v, want %s", got, v.Figures, want)
	}
}

func TestConclude(t *testing.T) {
	r := example()
	r.Rows = append(r.Rows, Row{Case: "alg=sha256", Model: "gnu"})
	other := claim(Speedup, 4)
	other.Case = "alg=sha256"
	r.Conclude([]Claim{claim(Speedup, 1.85), other})
	if len(r.Rows) != 2 {
		t.Errorf("%d rows, want 2: the one without samples is dropped", len(r.Rows))
	}
	if got := []Answer{r.Verdicts[0].Answer, r.Verdicts[1].Answer}; !slices.Equal(got, []Answer{Yes, NotSure}) {
		t.Errorf("answers %q, want yes, and not sure for what was not measured", got)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %v, want none", r.Warnings)
	}
}

func TestLosses(t *testing.T) {
	r := example()
	if got := r.Losses(); len(got) > 0 {
		t.Errorf("got %v, want none: ours is the fastest", got)
	}
	r.Models[0].Kind, r.Models[1].Kind = Ours, Peer
	got := r.Losses()
	if len(got) != 1 || got[0].Model != "gnu" || got[0].Peer != "stint" || got[0].Ratio.Median != 2 {
		t.Errorf("got %v, want that gnu takes twice the time of stint", got)
	}
	r.Models[1].Kind = Floor
	if got := r.Losses(); len(got) > 0 {
		t.Errorf("got %v, want none: a floor is no peer", got)
	}
}

func TestWarnings(t *testing.T) {
	half, much := 0.5, 0.6
	for _, c := range []struct {
		kind   string
		change func(*Result)
	}{
		{"", func(r *Result) { r.Machine.Load, r.Machine.Others = &half, nil }},
		{Interrupted, func(r *Result) { r.Cases[0].Count = 7 }},
		{Quick, func(r *Result) { r.Quick = true }},
		{Processors, func(r *Result) { r.Machine.Processors = 1 }},
		{Busy, func(r *Result) { r.Machine.Load = &much }},
		{Busy, func(r *Result) { r.Machine.Others = &much }},
		{Samples, func(r *Result) {
			r.Cases[0].Count, r.Rows[0].Samples, r.Rows[1].Samples = 5, r.Rows[0].Samples[:5], r.Rows[1].Samples[:5]
		}},
		{"", func(r *Result) { r.Rows[0].Samples[0][measure.Time] = 1e9 }}, // one outlier blurs nothing
		{"", func(r *Result) { r.Rows[1].Samples = samples(100, 101, 102, 100, 101, 104) }},
		{"", func(r *Result) { r.Rows[1].Samples = samples(110, 120, 150, 110, 102, 104) }},
		{Spread, func(r *Result) { r.Rows[1].Samples = samples(110, 120, 90, 110, 100, 104) }},
		{"", func(r *Result) { r.Machine.Timer = 50e4 }},
		{Timer, func(r *Result) { r.Machine.Timer = 51e4 }},
		{"", func(r *Result) { r.Machine.Timer, r.Cases[0].Ops = 51e4, 2 }},
	} {
		r := example()
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

func TestDigits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{duration(0.4), "0.400 ns"}, {duration(999.4), "999 ns"}, {duration(999.6), "1.00 µs"}, {duration(12_345), "12.3 µs"},
		{duration(-2e9), "-2.00 s"}, {duration(3.6e12), "3600 s"}, {size(0), "0 B"}, {size(8_388_608), "8.39 MB"},
		{number(0.0004), "0"}, {number(0.012), "0.012"}, {number(9.994), "9.99"}, {number(9.996), "10.0"}, {number(99.96), "100"},
		{number(50_003), "50003"}, {number(1_234_567), "1.23 M"}, {times(0.5), "0.500"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestBenchmarkIsReadBack(t *testing.T) {
	r := example()
	delete(r.Rows[0].Samples[0], measure.PeakRSS)
	r.Rows[0].Samples[0][measure.PeakRSSBound] = 1 << 20
	var b bytes.Buffer
	if err := Benchmark(&b, []*Result{r}); err != nil {
		t.Fatal(err)
	}
	in := benchfmt.NewReader(bytes.NewReader(b.Bytes()), "sum.txt")
	var names []string
	for in.Scan() {
		line, ok := in.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("not a result: %+v", in.Result())
		}
		i := len(names)
		names = append(names, line.Name.String())
		sample := r.Rows[i%2].Samples[i/2]
		if sec, _ := line.Value("sec/op"); math.Round(sec*1e9) != sample[measure.Time] {
			t.Errorf("line %d: %v sec/op, want %v ns", i, sec, sample[measure.Time])
		}
		_, want := sample[measure.PeakRSS]
		if _, ok := line.Value("peak-RSS-bytes"); ok != want {
			t.Errorf("line %d: peak written: %v, want %v", i, ok, want)
		}
		for key, want := range map[string]string{"goos": "linux", "goarch": "amd64", "cpu": "A CPU: fast", "tools": "a 1; b 2"} {
			if got := line.GetConfig(key); got != want {
				t.Errorf("line %d: %s is %q, want %q", i, key, got, want)
			}
		}
	}
	want := slices.Repeat([]string{"Sum/alg=md5/model=gnu-2", "Sum/alg=md5/model=stint-2"}, 6)
	if !slices.Equal(names, want) || in.Err() != nil {
		t.Errorf("names %q, %v, want %q", names, in.Err(), want)
	}
}

// What is read back gives the same table.
func TestLinesAreReadBack(t *testing.T) {
	r := example()
	r.Quick = true
	r.Conclude([]Claim{claim(Ratio, 0.5)})
	var lines, want, got bytes.Buffer
	if err := Lines(&lines, r); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for line := range strings.Lines(lines.String()) {
		var v struct{ Type string }
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		count[v.Type]++
	}
	if want := map[string]int{"experiment": 1, "run": 12, "verdict": 1, "warning": 1, "end": 1}; !maps.Equal(count, want) {
		t.Errorf("lines %v, want %v", count, want)
	}
	back, err := Read(&lines)
	if err != nil {
		t.Fatal(err)
	}
	Table(&want, r)
	Table(&got, back)
	if got.String() != want.String() {
		t.Errorf("read back as\n%s\nwritten as\n%s", got.String(), want.String())
	}
}

func TestReadComplains(t *testing.T) {
	var whole bytes.Buffer
	if err := Lines(&whole, example()); err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(whole.String())) // an experiment, 12 runs, an end
	with := func(at int, line string) string {
		return strings.Join(slices.Insert(slices.Clone(lines), at, line), "")
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "no experiment in it"},
		{"no experiment", strings.Join(lines[1:], ""), `line 1: type "run", want one "experiment" and first`},
		{"another type", with(1, `{"type":"other"}`+"\n"), `line 2: type "other" is not known`},
		{"no JSON", with(2, "x\n"), "line 3: invalid character"},
		{"cut off", strings.Join(lines[:5], ""), "it has been cut off"},
		{"cut off in a line", whole.String()[:whole.Len()-4], "line 14: unexpected end of JSON input"},
		{"twice", whole.String() + whole.String(), "line 15: it is behind the end"},
		{"two experiments", with(1, lines[0]), `line 2: type "experiment", want one`},
		{"a run twice", with(1, lines[1]), "line 3: alg=md5 gnu: round 1, want 2"},
		{"a run lost", strings.Join(slices.Delete(slices.Clone(lines), 12, 13), ""), "line 13: 12 runs were written, 11 are there"},
		{"no time", strings.Replace(whole.String(), `"ns/op":100000000`, `"ns/op":0`, 1), "line 2: alg=md5 gnu: a time of 0 ns"},
	} {
		if _, err := Read(strings.NewReader(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// golden is example with everything that a report can have.
func golden() *Result {
	r := example()
	r.Models[0].Kind, r.Models[1].Kind = Ours, Peer
	r.Conclude([]Claim{claim(Speedup, 3)})
	r.Warnings = []Warning{{Quick, "little"}}
	return r
}

func TestTable(t *testing.T) {
	same(t, "testdata/table.txt", func(w io.Writer) error { return Table(w, golden()) })
}

func TestMarkdown(t *testing.T) {
	same(t, "testdata/report.md", func(w io.Writer) error { return Markdown(w, []*Result{golden(), example()}, ability(), "../") })
}

func TestSummary(t *testing.T) {
	same(t, "testdata/summary.md", func(w io.Writer) error { return Summary(w, []*Result{golden(), wide()}, ability(), "results") })
}

// Links in a report lead from its directory to the tests.
func TestAbove(t *testing.T) {
	top := t.TempDir()
	t.Chdir(top)
	for dir, want := range map[string]string{".": "", "out": "../", "lab/results/a": "../../../", filepath.Join(top, "out"): "../"} {
		if got, err := above(dir); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", dir, got, err, want)
		}
	}
}

func TestCSV(t *testing.T) {
	same(t, "testdata/report.csv", func(w io.Writer) error { return CSV(w, []*Result{golden(), few()}) })
}

// ability is a table of two libraries and two features.
func ability() features.Table {
	at := func(a features.Answer, note string, line int) features.Cell {
		return features.Cell{Answer: a, Note: note, Test: "TestA", File: "lab/features/a_test.go", Line: line}
	}
	return features.Table{
		Libraries: []features.Library{{Name: "a", Version: "v1.2.3"}, {Name: "stint", Version: "(devel)"}},
		Features:  []features.Feature{{Name: "Limit", Doc: "There is one."}, {Name: "Order", Doc: "It is kept."}},
		Cells: [][]features.Cell{
			{at(features.Yes, "", 1), at(features.Yes, "", 2)},
			{at(features.No, `It is "a | b".`, 3), at(features.Partly, "Not always.", 4)},
		},
	}
}

// few is example with too few samples for an interval.
func few() *Result {
	r := example()
	for i := range r.Rows {
		r.Rows[i].Samples = r.Rows[i].Samples[:5]
	}
	return r
}

// wide is a result of several cases and models, of which one is a main case and
// a peer is faster in three, in one of them within the interval only.
func wide() *Result {
	r := example()
	r.Experiment, r.Command, r.Quick = "wide", "go run ./lab run wide", true
	r.Models = append(r.Models, Model{Name: "twin", Kind: Ours, Doc: "a | b"})
	r.Cases, r.Rows = nil, nil
	for _, c := range []struct {
		name             string
		gnu, stint, twin int
	}{{"n=1", 100, 50, 50}, {"n=2", 100, 150, 160}, {"n=3", 100, 120, 90}, {"n=4", 100, 101, 80}} {
		r.Cases = append(r.Cases, Case{Name: c.name, Doc: "an op", Reference: "gnu", Ops: 2, Count: 6, Main: c.name == "n=2"})
		for model, m := range map[string]int{"gnu": c.gnu, "stint": c.stint, "twin": c.twin} {
			r.Rows = append(r.Rows, Row{Case: c.name, Model: model, Samples: samples(m-2, m, m, m+1, m+2, m+4)})
		}
	}
	slices.SortFunc(r.Rows, func(a, b Row) int { return strings.Compare(a.Case+a.Model, b.Case+b.Model) })
	r.Rows[9].Samples = samples(110, 90, 105, 95, 100, 99) // gnu in n=4
	var claims []Claim
	for _, c := range r.Cases {
		for _, model := range []string{"stint", "twin"} {
			claims = append(claims, Claim{Case: c.Name, Model: model, Unit: measure.Time, Form: Ratio, Than: BestPeer, Bar: 1, Conclusion: "Ours is faster."})
		}
	}
	claims = append(claims,
		Claim{Case: "n=1", Model: "stint", Unit: measure.Time, Form: Value, Bar: 60e6, Conclusion: "Ours is faster."},
		Claim{Case: "n=3", Model: "stint", Unit: measure.Time, Form: Ratio, Than: "stint", InCase: "n=1", Bar: 1.5, Conclusion: "Three is as one."},
		Claim{Case: "n=3", Model: "none", Unit: measure.Time, Form: Value, Bar: 1})
	r.Conclude(claims)
	return r
}

// Each claim that does not hold is in the summary, and each case in which a peer
// is faster for sure.
func TestSummaryLeavesNothingOut(t *testing.T) {
	r := wide()
	var b strings.Builder
	if err := Summary(&b, []*Result{r}, ability(), "results"); err != nil {
		t.Fatal(err)
	}
	missed, sure := 0, 0
	for _, v := range r.Verdicts {
		if v.Answer != Yes {
			missed++
			if want := v.inCase(); !strings.Contains(b.String(), want) {
				t.Errorf("%s: %q is not in it", v.Answer, want)
			}
		}
	}
	for _, l := range r.Losses() {
		if l.Sure() {
			sure++
			if want := l.Model + " " + short(l.Ratio, times); !strings.Contains(b.String(), want) {
				t.Errorf("%s: %q is not in it", l.Case, want)
			}
		}
	}
	if missed < 4 || sure < 3 || len(r.Losses()) <= sure {
		t.Errorf("%d claims that do not hold and %d of %d losses are sure: the example is no test", missed, sure, len(r.Losses()))
	}
}

func TestConclusions(t *testing.T) {
	got := each(Conclusions([]*Result{example(), wide()}), func(c Conclusion) string {
		return fmt.Sprint(c.Text, c.Experiments, " ", len(c.Verdicts), " ", c.Tally())
	})
	if want := []string{"Ours is faster.[wide] 9 in part: 5 yes, 3 no, 1 not sure", "Three is as one.[wide] 1 no"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// same compares what is written with a file. To accept it as it is, remove the
// file and run the test again.
func same(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: written, read it", name)
		err = os.WriteFile(name, b.Bytes(), 0o666)
	} else if b.String() != string(want) {
		t.Errorf("got\n%s\nwant, as in %s,\n%s", b.String(), name, want)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestReplace(t *testing.T) {
	const begin, named, end = "<!-- lab:begin -->\n", "<!-- lab:begin costs -->\n", "<!-- lab:end -->\n"
	parts := map[string]string{"": "new\n", "costs": "much\n"}
	for _, c := range []struct{ text, want string }{
		{"head\n" + begin + "old\n" + end + "foot\n", "head\n" + begin + "\nnew\n\n" + end + "foot\n"},
		{named + end + "middle\n" + begin + "old\n" + end, named + "\nmuch\n\n" + end + "middle\n" + begin + "\nnew\n\n" + end},
	} {
		got, err := Replace(c.text, parts)
		if got != c.want || err != nil {
			t.Errorf("%q became %q, %v, want %q", c.text, got, err, c.want)
		}
		if again, err := Replace(got, parts); again != got || err != nil {
			t.Errorf("the second time it became %q, %v", again, err)
		}
	}
	for _, text := range []string{"", begin, end + begin, begin + begin + end, begin + end + end, begin + begin + end + end, "x" + begin + end, "<!-- lab:begin other -->\n" + end} {
		if got, err := Replace(text, parts); err == nil {
			t.Errorf("%q became %q, want an error", text, got)
		}
	}
}

// names are those of the files in a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[a]", "b")
	tiny, other := example(), example()
	tiny.Experiment, other.Experiment = "tiny", "a"
	for _, r := range []*Result{example(), example(), tiny, other} { // replaces its own file
		if err := Files(dir, r); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := names(t, dir), []string{"a.jsonl", "sum.jsonl", "tiny.jsonl"}; !slices.Equal(got, want) {
		t.Errorf("written %q, want %q", got, want)
	}
	for path, want := range map[string][]string{dir: {"tiny", "sum", "a"}, filepath.Join(dir, "a.jsonl"): {"a"}} {
		results, err := Results(path, []string{"tiny", "sum"})
		if err != nil {
			t.Fatal(err)
		}
		if got := each(results, func(r *Result) string { return r.Experiment }); !slices.Equal(got, want) {
			t.Errorf("%s: read in the order %q, want %q", path, got, want)
		}
	}
	twice := t.TempDir()
	for _, name := range []string{"a", "b"} {
		text, err := os.ReadFile(filepath.Join(dir, "sum.jsonl"))
		if err == nil {
			err = os.WriteFile(filepath.Join(twice, name+".jsonl"), text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{filepath.Join(dir, "none"): "no such file", t.TempDir(): "no results in it", twice: "sum is in another file too"} {
		if _, err := Results(path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

// What is written into a directory is each format, and no result of another run.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 { // replaces its own files
		written, err := Write(dir, []*Result{golden()})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(written)
		if want := each(names(t, dir), func(name string) string { return filepath.Join(dir, name) }); !slices.Equal(written, want) {
			t.Errorf("said to have written %q, the directory has %q", written, want)
		}
	}
	if _, err := Results(dir, nil); err == nil {
		t.Error("a report is taken for results")
	}
}
