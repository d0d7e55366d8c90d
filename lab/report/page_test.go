package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/browser"
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
		Cells:     [][]features.Cell{{{Answer: features.Partly, Note: "Until <Wait>.", Test: "TestLibReuse", File: "lab/features/lib_test.go", Line: 7, Source: "func TestLibReuse(t *testing.T) { _ = 1 < 2 }", Survey: features.Survey{Answer: features.No, Why: "Not <before> v1."}}}},
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
		"✓ yes<", "✗ no<", ">gnu<", "50.0 ms", "note", "a 1", "b 2",
		"lib", "v1.2.3", "± Partly", "Until &lt;Wait&gt;.", "the article: no. Not &lt;before&gt; v1.", `href="#TestLibReuse"`, `id="TestLibReuse"`, "go test ./lab/features -run TestLibReuse", "1 &lt; 2", "lab/features/lib_test.go:7",
	} {
		if !strings.Contains(strings.NewReplacer("&#43;", "+", `</span> `, " ").Replace(text), want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if text != pageOf(t, r) {
		t.Error("the page is another one the second time")
	}
}

// A quick run and one that ended early are said to be so.
func TestPageWarns(t *testing.T) {
	whole, odd := resulttest.Example(), resulttest.Example()
	odd.Experiment, odd.Quick, odd.Unfinished = "tiny", true, "interrupted"
	for _, want := range []string{"<code>tiny</code> had smaller sizes", "<code>tiny</code> ended early"} {
		if strings.Contains(pageOf(t, whole), want) || !strings.Contains(pageOf(t, whole, odd), want) {
			t.Errorf("%q is not where it belongs", want)
		}
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

var gnu, ours = result.Model{Name: "gnu", Kind: result.Peer}, result.Model{Name: "stint", Kind: result.Ours}

// figuresOf returns the names of the figures of a result, with the lines of
// their curves.
func figuresOf(r *result.Result) string {
	c := newChapter(r)
	c.draw()
	return strings.Join(each(c.Figures, func(f figure) string {
		return fmt.Sprint(f.Name, " ", strings.Count(string(f.SVG), `class="curve `)/2)
	}), ", ")
}

func TestFamilies(t *testing.T) {
	for _, c := range []struct {
		cases []string
		want  string
	}{
		{[]string{"n=1", "n=10"}, "n=1 0"},
		{[]string{"n=1", "n=10", "n=100"}, "n=1 0, n=N 2"},
		{[]string{"n=1/procs=1", "n=10/procs=1", "n=1000/procs=1", "n=1"}, "n=1/procs=1 0, n=N/procs=1 2"},
		{[]string{"row=a/work=50µs", "row=a/work=1ms", "row=a/work=5ms", "row=b/work=1ms"}, "row=a/work=50µs 0, row=a/work=N 2"},
		{[]string{"order=up", "order=down", "order=none"}, "order=up 0"},
		{[]string{"load=10%", "load=50%", "load=120%"}, "load=10% 0, load=N 2"},
		{[]string{"a=1/b=1", "a=1/b=2", "a=1/b=3", "a=2/b=1", "a=3/b=1", "a=4/b=1"}, "a=1/b=1 0, a=N/b=1 2"},
	} {
		if got := figuresOf(of(c.cases, gnu, ours)); got != c.want {
			t.Errorf("%v: got %s, want %s", c.cases, got, c.want)
		}
	}
}

func TestSweeps(t *testing.T) {
	models := []result.Model{gnu, ours}
	for _, n := range []float64{1, 2, 4} {
		models = append(models, result.Model{Name: fmt.Sprint("workers-", n), Kind: result.Peer, Sweep: "workers", At: n})
	}
	r := of([]string{"a", "b"}, models...)
	r.Traces = []result.Trace{{Case: "b", Model: "stint", Points: []result.Point{{At: 0.1, Limit: 2}, {At: 0.2, Limit: 4}, {At: 0.3, Limit: 3}}}}
	if got, want := figuresOf(r), "a 0, a 3, b 3, b 1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r = of([]string{"a"}, models[:4]...)
	for i := range r.Rows {
		r.Rows[i].Samples = []measure.Sample{{measure.P50: 2, measure.P99: 3}}
	}
	if got, want := figuresOf(r), "a 0, a 0"; got != want { // p50 and p99
		t.Errorf("without a time: got %s, want %s", got, want)
	}
}

// committed returns some cases of each result in the repository, those of one
// as if they repeated an article's table.
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
	for i, r := range results {
		r.Cases = r.Cases[:min(len(r.Cases), 12)]
		r.Verdicts = r.Verdicts[:min(len(r.Verdicts), 20)]
		for j := range r.Cases {
			c := &r.Cases[j]
			if c.Article == "" && j < 2 {
				c.Article, c.Table = result.Articles()[i%5], "a table"
				for _, row := range r.In(c.Name) {
					c.Figures = append(c.Figures, result.Figure{Model: row.Model, Text: "512 ms on 1 core, 865 on 8; 6 MB"})
				}
			}
		}
		for j := range r.Verdicts {
			r.Verdicts[j].Article = result.Articles()[i%5]
		}
	}
	return results
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
