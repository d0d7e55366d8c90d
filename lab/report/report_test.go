package report

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/features"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/result/resulttest"
	"golang.org/x/perf/benchfmt"
)

func TestDigits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{duration(0.4), "0.400 ns"}, {duration(999.4), "999 ns"}, {duration(999.6), "1.00 µs"}, {duration(12_345), "12.3 µs"},
		{duration(-2e9), "-2.00 s"}, {duration(3.6e12), "3600 s"}, {size(0), "0 B"}, {size(8_388_608), "8.39 MB"},
		{number(0), "0"}, {number(0.0004), "<0.001"}, {number(0.012), "0.012"}, {number(9.994), "9.99"}, {number(9.996), "10.0"}, {number(99.96), "100"},
		{number(50_003), "50003"}, {number(1_234_567), "1.23 M"}, {times(0.5), "0.500"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestBenchmarkIsReadBack(t *testing.T) {
	r := resulttest.Example()
	delete(r.Rows[0].Samples[0], measure.PeakRSS)
	r.Rows[0].Samples[0][measure.PeakRSSBound] = 1 << 20
	var b bytes.Buffer
	if err := writeBenchmark(&b, []*result.Result{r.Summarize(), r}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "# sum: a summary, which has no samples") {
		t.Errorf("a summary is not said to be one: %q", b.String())
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

// golden is example with everything that a report can contain.
func golden() *result.Result {
	r := resulttest.Example()
	r.Models[0].Kind, r.Models[1].Kind = result.Ours, result.Peer
	r.Conclude([]result.Claim{resulttest.Claim(result.Speedup, 3)})
	r.Warnings = []result.Warning{{Kind: result.Quick, Text: "little"}}
	return r
}

func TestTable(t *testing.T) {
	same(t, "testdata/table.txt", func(w io.Writer) error { return Table(w, golden()) })
}

// repeated is wide with an article's table, figures and conclusion.
func repeated() *result.Result {
	r := wide()
	for i := range 2 {
		r.Cases[i].Article, r.Cases[i].Table = result.Channels, "one | two"
		r.Cases[i].Figures = []result.Figure{{Model: "gnu", Text: "8.2 s, 12 MB peak"}, {Model: "other", Text: "9 s"}}
	}
	for i := range r.Verdicts {
		if r.Verdicts[i].Conclusion == "Three is as one." {
			r.Verdicts[i].Article = result.Channels
		}
	}
	return r
}

func TestMarkdown(t *testing.T) {
	same(t, "testdata/report.md", func(w io.Writer) error {
		return writeText(w, "report", []*result.Result{golden(), resulttest.Example()}, ability(), "")
	})
	same(t, "testdata/summary.md", func(w io.Writer) error {
		return Summary(w, []*result.Result{golden(), repeated()}, ability(), "results")
	})
}

// The summary has each conclusion, each figure of an article and each case with
// a peer that is faster than all of ours.
func TestSummaryLeavesNothingOut(t *testing.T) {
	r := repeated()
	var b strings.Builder
	if err := Summary(&b, []*result.Result{r}, ability(), "results"); err != nil {
		t.Fatal(err)
	}
	wanted := []string{"| other |  |  | 9 s |", sourceText(result.Channels), "wide: one | two"}
	for _, c := range result.Conclusions([]*result.Result{r}) {
		wanted = append(wanted, "| **"+answerText(result.AnswersOf(c.Verdicts))+"** | "+c.Text+" |")
	}
	sure, unwanted := 0, 0
	for _, l := range r.Losses() {
		if best := r.Best(l.Case, measure.Time, func(m result.Model) bool { return m.Kind == result.Ours }); l.Sure() && best.Ratio(r.Row(l.Case, l.Peer), measure.Time).Median < 1 {
			unwanted++
			if text := "| wide | " + l.Case + " |"; strings.Contains(b.String(), text) {
				t.Errorf("%q is in it, although %s is faster than %s", text, best.Model, l.Peer)
			}
		} else if l.Sure() {
			sure++
			wanted = append(wanted, "| wide | "+l.Case+" | "+l.Peer+" | ", l.Model+" "+short(l.Ratio, times))
		}
	}
	for _, want := range wanted {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in it", want)
		}
	}
	if sure < 2 || unwanted < 1 || len(r.Losses()) <= sure+unwanted {
		t.Errorf("%d of %d losses are to be named, %d not: the example is no test", sure, len(r.Losses()), unwanted)
	}
}

// ability is a table of two libraries and two features.
func ability() features.Table {
	at := func(a features.Answer, note string, line int) features.Cell {
		return features.Cell{Answer: a, Note: note, Test: "TestA", File: "lab/features/a_test.go", Line: line}
	}
	differs := at(features.No, `It is "a | b".`, 3)
	differs.Survey = features.Survey{Answer: features.Yes, Why: "It counts a | b."}
	return features.Table{
		Libraries: []features.Library{{Name: "a", Version: "v1.2.3"}, {Name: "stint", Version: "(devel)"}},
		Features:  []features.Feature{{Name: "Limit", Doc: "There is one."}, {Name: "Order", Doc: "It is kept."}},
		Cells: [][]features.Cell{
			{at(features.Yes, "", 1), at(features.Yes, "", 2)},
			{differs, at(features.Partly, "Not always.", 4)},
		},
	}
}

// wide has several cases and models. One case is a main case, and a peer is
// faster in three, in one of them undecided.
func wide() *result.Result {
	r := resulttest.Example()
	r.Experiment, r.Command, r.Quick = "wide", "go run ./lab run wide", true
	r.Models = append(r.Models, result.Ours.Model("twin", "a | b"))
	r.Cases, r.Rows = nil, nil
	for _, c := range []struct {
		name             string
		gnu, stint, twin int
	}{{"n=1", 100, 50, 50}, {"n=2", 100, 150, 160}, {"n=3", 100, 120, 90}, {"n=4", 100, 101, 80}} {
		r.Cases = append(r.Cases, result.Case{Name: c.name, Doc: "an op", Reference: "gnu", Ops: 2, Count: 6, Main: c.name == "n=2"})
		for model, m := range map[string]int{"gnu": c.gnu, "stint": c.stint, "twin": c.twin} {
			r.Rows = append(r.Rows, result.Row{Case: c.name, Model: model, Samples: resulttest.Samples(m-2, m, m, m+1, m+2, m+4)})
		}
	}
	slices.SortFunc(r.Rows, func(a, b result.Row) int { return strings.Compare(a.Case+a.Model, b.Case+b.Model) })
	r.Rows[9].Samples = resulttest.Samples(110, 90, 105, 95, 100, 99) // gnu in n=4
	var claims []result.Claim
	for _, c := range r.Cases {
		for _, model := range []string{"stint", "twin"} {
			claims = append(claims, result.Claim{Case: c.Name, Model: model, Unit: measure.Time, Form: result.Ratio, Than: result.BestPeer, Bar: 1, Conclusion: "Ours is faster."})
		}
	}
	claims = append(claims,
		result.Claim{Case: "n=1", Model: "stint", Unit: measure.Time, Form: result.Value, Bar: 60e6, Conclusion: "Ours is faster."},
		result.Claim{Case: "n=3", Model: "stint", Unit: measure.Time, Form: result.Ratio, Than: "stint", InCase: "n=1", Bar: 1.5, Conclusion: "Three is as one."},
		result.Claim{Case: "n=3", Model: "none", Unit: measure.Time, Form: result.Value, Bar: 1})
	r.Conclude(claims)
	return r
}

// same compares output with a file. To accept the output, remove the file and
// run the test again.
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

// names returns the names of the files in a directory.
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

// A directory receives each format, and no result of another run.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 { // replaces its own files
		written, err := Write(dir, []*result.Result{golden()})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(written)
		if want := each(names(t, dir), func(name string) string { return filepath.Join(dir, name) }); !slices.Equal(written, want) {
			t.Errorf("said to have written %q, the directory has %q", written, want)
		}
	}
	if _, err := result.Load(dir, nil); err == nil {
		t.Error("a report is taken for results")
	}
}
