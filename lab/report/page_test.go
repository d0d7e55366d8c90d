package report

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/browser"
	"github.com/stint-go/stint/lab/chart"
	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/result/resulttest"
)

// pageOf returns the page of results, with a small feature table.
func pageOf(t *testing.T, results ...*result.Result) string {
	t.Helper()
	table := features.Table{
		Libraries: []features.Library{{Name: "lib", Module: "example.org/lib", Version: "v1.2.3"}},
		Features:  []features.Feature{{Name: "Reuse", Doc: "A worker runs the next task too."}},
		Cells:     [][]features.Cell{{{Answer: features.Partly, Note: "Until <Wait>.", Test: "TestLibReuse", File: "lab/features/lib_test.go", Line: 7, Source: "func TestLibReuse(t *testing.T) { _ = 1 < 2 }"}}},
	}
	var b bytes.Buffer
	if err := writePage(&b, results, table); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPageHoldsAll(t *testing.T) {
	r := resulttest.Example()
	c := resulttest.Claim(result.Ratio, 0.6)
	c.Conclusion = "stint needs at most 0.6 of the time."
	r.Conclude([]result.Claim{c, resulttest.Claim(result.Ratio, 0.1)})
	text := pageOf(t, r)
	for _, want := range []string{
		"A CPU: fast", "go run ./lab run sum", "stint needs at most 0.6 of the time.", "alg=md5", "stint: time/op at most 0.1 x gnu",
		"✓ 1 yes", "✗ 1 no", ">gnu<", "50.0 ms", "note", "a 1", "b 2",
		"lib", "v1.2.3", "± partly", "Until &lt;Wait&gt;.", `href="#TestLibReuse"`, `id="TestLibReuse"`, "go test ./lab/features -run TestLibReuse", "1 &lt; 2", "lab/features/lib_test.go:7",
	} {
		if !strings.Contains(strings.NewReplacer("&#43;", "+", `</span> `, " ").Replace(text), want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if text != pageOf(t, r) {
		t.Error("the page is another one the second time")
	}
}

// Anything a page loads has an address in src, in a link or in its style.
func TestPageNeedsNothing(t *testing.T) {
	text := pageOf(t, resulttest.Example())
	for _, bad := range []string{"<script", " src=", "@import", "url(", "<iframe"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q on the page", bad)
		}
	}
	for _, m := range regexp.MustCompile(`<link[^>]*href="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if m[1] != "data:," {
			t.Errorf("a link to %q", m[1])
		}
	}
}

func TestPageSaysWhatIsQuick(t *testing.T) {
	slow, quick := resulttest.Example(), resulttest.Example()
	quick.Experiment, quick.Quick = "tiny", true
	if text := pageOf(t, slow); strings.Contains(text, "A quick run.") {
		t.Error("a full run is said to be quick")
	}
	if text := pageOf(t, slow, quick); !strings.Contains(text, "<code>tiny</code> had smaller sizes, which show") {
		t.Error("a quick run is not said to be one")
	}
}

func TestPageSaysWhatEndedEarly(t *testing.T) {
	whole, short := resulttest.Example(), resulttest.Example()
	short.Experiment, short.Unfinished = "tiny", "interrupted"
	if text := pageOf(t, whole); strings.Contains(text, "Not all of it.") {
		t.Error("a whole run is said to have ended early")
	}
	if text := pageOf(t, whole, short); !strings.Contains(text, "<code>tiny</code> ended early: rows and cases are missing.") {
		t.Error("a run that ended early is not said to be one")
	}
}

func TestPageTellsMachinesApart(t *testing.T) {
	a, b, c := resulttest.Example(), resulttest.Example(), resulttest.Example()
	b.Experiment, b.Machine.CPU = "tiny", "Another CPU"
	busy := 0.5
	c.Experiment, c.Machine.Load = "loops", &busy
	got := machines([]*result.Result{a, b, c})
	if len(got) != 2 || !slices.Equal(got[0].Experiments, []string{"sum", "loops"}) || !slices.Equal(got[1].Experiments, []string{"tiny"}) {
		t.Fatalf("machines %+v, want two, with sum and loops on the first", got)
	}
	if load := got[0].Facts[4][1]; load != "0.00 to 0.50" {
		t.Errorf("load %q, want from the least to the most", load)
	}
	if got := machines([]*result.Result{a, c}); len(got) != 1 || got[0].Experiments != nil {
		t.Errorf("machines %+v, want one, without a list of experiments", got)
	}
}

// of returns a result whose cases have the given models, each slightly slower
// than the one before.
func of(cases []string, models ...result.Model) *result.Result {
	r := resulttest.Example()
	r.Models, r.Cases, r.Rows = models, nil, nil
	for _, name := range cases {
		r.Cases = append(r.Cases, result.Case{Name: name, Doc: "an op", Reference: models[0].Name, Ops: 1, Count: 6})
		for i, m := range models {
			r.Rows = append(r.Rows, result.Row{Case: name, Model: m.Name, Samples: resulttest.Samples(10+i, 10+i, 10+i, 10+i, 10+i, 10+i)})
		}
	}
	return r
}

var gnu, ours, floor = result.Model{Name: "gnu", Kind: result.Peer}, result.Model{Name: "stint", Kind: result.Ours}, result.Model{Name: "none", Kind: result.Floor}

func TestFamilies(t *testing.T) {
	for _, c := range []struct {
		cases []string
		want  map[string]string // family of a case, if it has one
	}{
		{[]string{"n=1", "n=10"}, nil},
		{[]string{"n=1", "n=10", "n=100"}, map[string]string{"n=1": "n=1…100", "n=10": "n=1…100", "n=100": "n=1…100"}},
		{[]string{"n=1/procs=1", "n=10/procs=1", "n=1000/procs=1", "n=1"}, map[string]string{"n=1/procs=1": "n=1…1k/procs=1", "n=10/procs=1": "n=1…1k/procs=1", "n=1000/procs=1": "n=1…1k/procs=1"}},
		{[]string{"row=a/work=50µs", "row=a/work=1ms", "row=a/work=5ms", "row=b/work=1ms"}, map[string]string{"row=a/work=50µs": "row=a/work=50\u00a0µs…5\u00a0ms", "row=a/work=1ms": "row=a/work=50\u00a0µs…5\u00a0ms", "row=a/work=5ms": "row=a/work=50\u00a0µs…5\u00a0ms"}},
		{[]string{"order=up", "order=down", "order=none"}, nil},
		{[]string{"a=1/b=1", "a=1/b=2", "a=1/b=3", "a=2/b=1", "a=3/b=1", "a=4/b=1"}, map[string]string{"a=1/b=1": "a=1…4/b=1", "a=2/b=1": "a=1…4/b=1", "a=3/b=1": "a=1…4/b=1", "a=4/b=1": "a=1…4/b=1"}},
		{[]string{"n=5", "n=5/procs=1", "n=5/procs=4", "n=6"}, map[string]string{"n=5": "n=5/procs=1…4", "n=5/procs=1": "n=5/procs=1…4", "n=5/procs=4": "n=5/procs=1…4"}},
	} {
		d := &drawer{Result: of(c.cases, gnu, ours)}
		for _, kase := range d.Cases {
			got := ""
			if f := d.families().of(kase); f != nil {
				got = f.name()
			}
			if want := c.want[kase.Name]; got != want {
				t.Errorf("%v: %s is in %q, want %q", c.cases, kase.Name, got, want)
			}
		}
	}
}

// Each case is in one figure, with its table.
func TestFiguresHoldEachCaseOnce(t *testing.T) {
	for _, cases := range [][]string{
		{"n=1", "n=10", "n=100", "other"},
		{"a=1/b=1", "a=1/b=2", "a=1/b=3", "a=2/b=1", "a=3/b=1", "a=4/b=1"},
	} {
		d := &drawer{Result: of(cases, gnu, ours)}
		count := map[string]int{}
		for _, f := range d.figures() {
			for _, s := range f.Tables {
				count[s.Name]++
			}
			if len(f.SVG) == 0 {
				t.Errorf("%s: no drawing", f.Name)
			}
		}
		for _, c := range cases {
			if count[c] != 1 {
				t.Errorf("%s is in %d figures, want 1", c, count[c])
			}
		}
	}
}

// The note of a curve over processors does not have the number of its first
// case.
func TestNoteOfProcessors(t *testing.T) {
	r := of([]string{"n=5", "n=5/procs=1", "n=5/procs=4"}, gnu, ours)
	r.Cases[1].Processors, r.Cases[2].Processors = 1, 4
	figures := (&drawer{Result: r}).figures()
	if len(figures) != 1 || figures[0].Note != "an op" {
		t.Errorf("figures %+v, want one with the note %q", figures, "an op")
	}
	r = of([]string{"n=5/procs=1", "n=6/procs=1", "n=7/procs=1"}, gnu, ours)
	for i := range r.Cases {
		r.Cases[i].Processors = 1
	}
	if figures := (&drawer{Result: r}).figures(); len(figures) != 1 || figures[0].Note != "an op; GOMAXPROCS 1" {
		t.Errorf("figures %+v, want one with GOMAXPROCS 1", figures)
	}
}

// drawings returns the drawings of figures as one text.
func drawings(figures []figure) string {
	var b strings.Builder
	for _, f := range figures {
		for _, svg := range f.SVG {
			b.WriteString(string(svg))
		}
	}
	return b.String()
}

// If no time was measured, other units are drawn.
func TestFiguresWithoutTime(t *testing.T) {
	r := of([]string{"records=1", "records=2", "records=4", "idle", "mixed"}, gnu, ours)
	for i := range r.Rows {
		for _, s := range r.Rows[i].Samples {
			switch kase := r.Rows[i].Case; {
			case kase == "idle":
				s[measure.Goroutines], s[measure.IdleCPU] = 0, 1e6
			case kase == "mixed" && r.Rows[i].Model == "stint":
				continue
			case kase != "mixed":
				s[measure.P50], s[measure.P99] = s[measure.Time], 2*s[measure.Time]
			}
			delete(s, measure.Time)
		}
	}
	d := &drawer{Result: r}
	s := d.pairings()
	if s.Timeless != 4 || s.Peers() != 0 {
		t.Errorf("%d cases without a time and %d with a peer, want 4 and 0", s.Timeless, s.Peers())
	}
	figures := d.figures()
	if len(figures) != 3 {
		t.Fatalf("%d figures, want 3", len(figures))
	}
	for i, want := range [][]string{{">p50<", ">p99<"}, {">goroutines<", ">CPU a second<"}, {">time/op<"}} {
		svg := drawings(figures[i : i+1])
		for _, want := range want {
			if !strings.Contains(svg, want) {
				t.Errorf("%s: no drawing of %s", figures[i].Name, want)
			}
		}
		if missing := strings.Count(svg, ">not measured<"); (i == 2) != (missing == 1) {
			t.Errorf("%s: %d times not measured", figures[i].Name, missing)
		}
	}
	if svg := drawings(figures); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
		t.Error("a ratio to nothing is drawn")
	}
	if svg := drawings(figures[2:]); strings.Index(svg, ">stint<") > strings.Index(svg, ">gnu<") {
		t.Error("what was not measured is before what was")
	}
}

// The legend explains each look that occurs, and no other.
func TestLegend(t *testing.T) {
	swept := []result.Model{gnu, ours, floor}
	for _, n := range []float64{1, 2, 4} {
		swept = append(swept, result.Model{Name: fmt.Sprintf("stint.Each-%v", n), Kind: result.Ours, Sweep: "limit", At: n})
	}
	look := regexp.MustCompile(`class="(?:(?:bar|curve|level) \w+|band)`)
	for name, r := range map[string]*result.Result{
		"bars":   of([]string{"a", "b"}, gnu, ours, floor),
		"family": of([]string{"n=1", "n=2", "n=3"}, gnu, result.Model{Name: "two", Kind: result.Peer}, ours, result.Model{Name: "other", Kind: result.Ours}),
		"sweep":  of([]string{"n=1"}, swept...),
	} {
		for i, row := range r.Rows {
			r.Rows[i].Samples[0] = measure.Sample{measure.Time: 2 * row.Samples[0][measure.Time]}
		}
		d := &drawer{Result: r}
		looks := func(text string) []string {
			all := look.FindAllString(text, -1)
			slices.Sort(all)
			return slices.Compact(all)
		}
		mainModels := looks(drawings(d.figures()))
		key := ""
		for _, e := range d.signs.key() {
			key += string(e.SVG)
		}
		maxListed := looks(key)
		if len(mainModels) < 3 || !slices.Equal(mainModels, maxListed) {
			t.Errorf("%s: shown are %q, the legend has %q", name, mainModels, maxListed)
		}
	}
}

// Of many figures only those of main cases are shown, and each of the others is
// in one group.
func TestGroups(t *testing.T) {
	var cases []string
	for i := range 16 {
		cases = append(cases, fmt.Sprintf("row=%c/of=%c", 'a'+i%2, 'a'+i))
	}
	r := of(cases, gnu, ours)
	r.Cases[3].Main = true
	var got []string
	for _, g := range groups(r, (&drawer{Result: r}).figures()) {
		names := each(g.Figures, func(f figure) string { return f.Name })
		got = append(got, fmt.Sprintf("%s: %s", g.Name, strings.Join(names, " ")))
	}
	others := func(part int) string {
		var names []string
		for i, name := range cases {
			if i%2 == part && i != 3 {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	if want := []string{": " + cases[3], "row=a: " + others(0), "row=b: " + others(1)}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if few := groups(r, (&drawer{Result: of(cases[:maxFigures], gnu, ours)}).figures()); len(few) != 1 {
		t.Errorf("%d groups of %d figures, want one", len(few), maxFigures)
	}
}

func TestSteepFamiliesAreRatios(t *testing.T) {
	r := of([]string{"n=1", "n=10", "n=100"}, gnu, ours)
	d := &drawer{Result: r}
	if f := d.families().of(r.Cases[0]); d.relative(f, measure.Time) {
		t.Error("a reference that takes the same time in each case is shown as 1")
	}
	for i := range r.Rows {
		for _, s := range r.Rows[i].Samples {
			s[measure.Time] *= []float64{1, 10, 100}[i/2]
		}
	}
	d = &drawer{Result: r}
	f := d.families().of(r.Cases[0])
	if !d.relative(f, measure.Time) {
		t.Fatal("times that grow by 100 are not shown as ratios")
	}
	lines := d.lines(f, measure.Time, true)
	if len(lines) != 1 || lines[0].Name != "stint" || len(lines[0].Points) != 3 {
		t.Fatalf("lines %+v, want one, of stint, with 3 points", lines)
	}
	for _, p := range lines[0].Points {
		if p.Y.Mid < 1.09 || p.Y.Mid > 1.11 {
			t.Errorf("at %v the ratio is %v, want 1.1", p.X, p.Y.Mid)
		}
	}
}

func TestSweeps(t *testing.T) {
	models := []result.Model{gnu, ours, floor}
	for _, n := range []float64{1, 2, 4, 8} {
		models = append(models, result.Model{Name: fmt.Sprintf("workers-%v", n), Kind: result.Peer, Sweep: "workers", At: n})
		models = append(models, result.Model{Name: fmt.Sprintf("stint.Each-%v", n), Kind: result.Ours, Sweep: "limit", At: n})
	}
	r := of([]string{"n=5"}, models...)
	d := &drawer{Result: r}
	c := d.sweeps(r.Cases[0])
	var names []string
	for _, l := range c.Lines {
		names = append(names, fmt.Sprint(l.Name, len(l.Points)))
	}
	if want := []string{"workers-N4", "stint.Each-N4"}; !slices.Equal(names, want) {
		t.Errorf("lines %v, want %v", names, want)
	}
	if len(c.Levels) != 3 {
		t.Errorf("levels %+v, want those of gnu, stint and none", c.Levels)
	}
	if c.X.Label != "N: workers, limit" {
		t.Errorf("the axis is of %q", c.X.Label)
	}
	r.Models[3].Sweep, r.Models[5].Sweep, r.Models[7].Sweep = "", "", "" // one worker is no curve
	for _, l := range d.sweeps(r.Cases[0]).Lines {
		if strings.HasPrefix(l.Name, "workers") {
			t.Errorf("%s is a curve of %d points", l.Name, len(l.Points))
		}
	}
}

// Traces are two curves over the same time: the limit stays until it changes, and the
// throughput was measured before the change.
func TestTraces(t *testing.T) {
	r := of([]string{"n=5"}, gnu, ours)
	r.Traces = []result.Trace{
		{Case: "n=5", Model: ours.Name, Points: []result.Point{{At: 1, Limit: 4}, {At: 2, Limit: 8, Throughput: 100}, {At: 3, Limit: 8}}},
		{Case: "another", Model: ours.Name, Points: []result.Point{{At: 1, Limit: 4}}},
		{Case: "n=5", Model: ours.Name},
	}
	d := &drawer{Result: r}
	if n := len(d.traces(r.Cases[0])); n != 2 {
		t.Errorf("%d drawings, want the limit and the throughput", n)
	}
	xy := func(points []chart.Point) (out [][2]float64) {
		for _, p := range points {
			if !math.IsNaN(p.Y.Mid) {
				out = append(out, [2]float64{p.X / 1e9, p.Y.Mid})
			}
		}
		return out
	}
	if got, want := xy(limitSteps(r.Traces[0].Points)), [][2]float64{{0, 4}, {1, 4}, {2, 4}, {2, 8}, {3, 8}, {3, 8}}; !slices.Equal(got, want) {
		t.Errorf("the limit is %v, want %v", got, want)
	}
	if got, want := xy(throughputSteps(r.Traces[0].Points)), [][2]float64{{1, 100}, {2, 100}}; !slices.Equal(got, want) {
		t.Errorf("the throughput is %v, want %v", got, want)
	}
	r.Traces[0].Points = r.Traces[0].Points[:1]
	if n := len(d.traces(r.Cases[0])); n != 1 {
		t.Errorf("%d drawings, want the limit alone", n)
	}
}

func TestStanding(t *testing.T) {
	r := of([]string{"faster", "even", "slower", "floor"}, gnu, ours, floor)
	set := func(kase, model string, ms ...int) { r.Row(kase, model).Samples = resulttest.Samples(ms...) }
	set("faster", "stint", 5, 5, 5, 5, 5, 5)
	set("even", "stint", 8, 12, 9, 11, 10, 10)
	r.Rows = slices.DeleteFunc(r.Rows, func(row result.Row) bool { return row.Case == "floor" && row.Model == "gnu" })
	d := &drawer{Result: r}
	s := d.pairings()
	if s.Faster != 1 || s.Open != 1 || s.TooFew != 0 || s.Slower != 1 || s.Floors != 1 {
		t.Errorf("%d faster, %d undecided, %d slower, %d floors; want 1 of each", s.Faster, s.Undecided(), s.Slower, s.Floors)
	}
	if len(s.SVG) != 1 || len(s.Tables) != 1 || len(s.Tables[0].rows) != 4 {
		t.Errorf("%d drawings and tables %v, want one with 4 rows", len(s.SVG), s.Tables)
	}
}

// Undecided is not equal.
func TestContestWords(t *testing.T) {
	r := of([]string{"a"}, gnu, ours)
	for want, ms := range map[string][]int{
		"ours is faster":         {5, 5, 5, 5, 5, 5},
		"ours is slower":         {50, 50, 50, 50, 50, 50},
		"undecided":              {5, 50, 5, 50, 5, 50},
		"too few runs to decide": {5},
	} {
		r.Row("a", "stint").Samples = resulttest.Samples(ms...)
		all := newPairings(r)
		if len(all) != 1 || all[0].word() != want || !strings.HasSuffix(all[0].text(), " times as long as gnu: "+want) {
			t.Errorf("%v: %v, want %q", ms, each(all, pairing.text), want)
		}
	}
	r.Rows[0].Samples, r.Rows[1].Samples = resulttest.Samples(10), resulttest.Samples(10)
	if s := (&drawer{Result: r}).pairings(); s.TooFew != 1 || s.Undecided() != 1 {
		t.Errorf("%d of too few runs, %d undecided, want 1 of each", s.TooFew, s.Undecided())
	}
}

// The scale of an overview contains the intervals, up to a bound.
func TestEnds(t *testing.T) {
	rows := []chart.DotRow{{Dots: []chart.Dot{{Value: chart.Value{Mid: 1.1, Lo: 0.6, Hi: 3}}, {Value: chart.At(2)}}}}
	if smallest, most := ends(rows); smallest != 0.6 || most != 3 {
		t.Errorf("from %v to %v, want the ends of the interval", smallest, most)
	}
	rows[0].Dots[0].Value = chart.Value{Mid: 1.1, Lo: 0.01, Hi: 90}
	if smallest, most := ends(rows); smallest != 1/maxRatio || most != maxRatio {
		t.Errorf("from %v to %v, want the bounds", smallest, most)
	}
}

func TestTitled(t *testing.T) {
	var rows []chart.DotRow
	for i := range 7 {
		rows = append(rows, chart.DotRow{Name: fmt.Sprintf("row=a/sort=x/n=%d", i)}, chart.DotRow{Name: fmt.Sprintf("row=b/n=%d", i)})
	}
	rows = append(rows, chart.DotRow{Name: "row=c"}, chart.DotRow{Name: "row=c/n=1"})
	titles := map[string]int{}
	for _, row := range titled(rows) {
		titles[row.Title]++
		if row.Title != "" && strings.HasPrefix(row.Name, "row=") {
			t.Errorf("%q below %q", row.Name, row.Title)
		}
	}
	if want := fmt.Sprint(map[string]int{"row=a/sort=x": 7, "row=b": 7, "": 2}); fmt.Sprint(titles) != want {
		t.Errorf("titles %v, want %v", titles, want)
	}
}

// committed returns some cases of each result in the repository.
func committed(t *testing.T) []*result.Result {
	t.Helper()
	dirs, err := filepath.Glob("../results/*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no results: %v", err)
	}
	results, err := result.Load(dirs[len(dirs)-1], nil)
	if err != nil {
		t.Fatal(err)
	}
	var long *result.Result // enough figures for groups, with the fewest cases
	for _, r := range results {
		if n := enough(r); n > 0 && (long == nil || n < enough(long)) {
			long = r
		}
	}
	for _, r := range results {
		n := min(len(r.Cases), 12)
		if r == long {
			n = enough(r)
		}
		r.Cases = r.Cases[:n]
		r.Verdicts = r.Verdicts[:min(len(r.Verdicts), 20)]
	}
	return results
}

// enough returns how many of the first cases of a result exceed maxFigures, or
// 0.
func enough(r *result.Result) int {
	for n := maxFigures + 1; n <= len(r.Cases); n++ {
		part := *r
		part.Cases = r.Cases[:n]
		families, figures := (&drawer{Result: &part}).families(), 0
		for _, c := range part.Cases {
			if f := families.of(c); f == nil || f.cases[0].Name == c.Name {
				figures++
			}
		}
		if figures > maxFigures {
			return n
		}
	}
	return 0
}

// Window widths.
const phone, desk = 390, 1280

func TestPageInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	b := browser.Start(t)
	table, err := features.All()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := writePage(&text, committed(t), table); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), `<details class="group">`) {
		t.Error("no group of figures on the page: the browser does not see any")
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []browser.Scheme{browser.Light, browser.Dark} {
		for _, width := range []int{phone, desk} {
			t.Run(fmt.Sprint(scheme, width), func(t *testing.T) {
				p := b.Open(t, "file://"+filepath.ToSlash(file), scheme, width)
				check := func(state string) {
					for _, f := range p.Faults() {
						t.Errorf("%s: %s", state, f)
					}
				}
				check("folded")
				if (scheme == browser.Dark) == (width == phone) { // each scheme and each width once, to save time
					p.OpenDetails()
					check("unfolded")
				}
				if got := p.Messages(); len(got) > 0 {
					t.Errorf("messages %q", got)
				}
				if got := p.Requests(); len(got) != 1 {
					t.Errorf("requests %q, want the page alone", got)
				}
			})
		}
	}
}
