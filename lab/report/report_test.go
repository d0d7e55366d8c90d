package report

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/stats"
	"golang.org/x/perf/benchfmt"
)

// samples are runs of so many milliseconds.
func samples(ms ...int) []measure.Usage {
	var out []measure.Usage
	for _, m := range ms {
		d := time.Duration(m) * time.Millisecond
		out = append(out, measure.Usage{Wall: d, CPU: 2 * d, PeakRSS: 8 << 20, Floor: 2 << 20})
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
		Count:      6,
		Processors: 2,
		Machine:    measure.Machine{GOOS: "linux", GOARCH: "amd64", CPU: "A CPU: fast", Go: "go1", Processors: 2, Load: &idle, Others: &idle},
		Tools:      []string{"a 1", "b 2"},
		Models:     []Model{{"gnu", "a"}, {"stint", "b"}},
		Rows: []Row{
			{Case: "alg=md5", Model: "gnu", Against: "gnu", Bytes: 1e6, Samples: samples(100, 102, 104, 100, 101, 100)},
			{Case: "alg=md5", Model: "stint", Against: "gnu", Bytes: 1e6, Samples: samples(50, 51, 52, 50, 50, 50)},
		},
	}
}

func claim(bar float64) Claim {
	return Claim{Text: "as fast", Case: "alg=md5", Model: "stint", Bar: bar}
}

func TestVerdicts(t *testing.T) {
	interval := &stats.Interval{Lo: 1.9, Hi: 2.1, Confidence: 0.97}
	for _, c := range []struct {
		name    string
		bar     float64
		speedup stats.Estimate
		want    Answer
	}{
		{"above", 1.85, stats.Estimate{N: 6, Median: 2, Interval: interval}, Yes},
		{"at the lower end", 1.9, stats.Estimate{N: 6, Median: 2, Interval: interval}, Yes},
		{"inside", 2, stats.Estimate{N: 6, Median: 2, Interval: interval}, NotSure},
		{"at the upper end", 2.1, stats.Estimate{N: 6, Median: 2, Interval: interval}, NotSure},
		{"below", 2.2, stats.Estimate{N: 6, Median: 2, Interval: interval}, No},
		{"no interval", 1, stats.Estimate{N: 5, Median: 2}, NotSure},
		{"no samples", 1, stats.Estimate{}, NotSure},
	} {
		if got := claim(c.bar).judge(c.speedup); got.Answer != c.want || got.Speedup != c.speedup {
			t.Errorf("%s: got %+v, want %q with the same figures", c.name, got, c.want)
		}
	}
}

func TestConclude(t *testing.T) {
	r := example()
	r.Rows = append(r.Rows, Row{Case: "alg=sha256", Model: "gnu", Against: "gnu"})
	r.Conclude([]Claim{claim(1.85), {Text: "other", Case: "alg=sha256", Model: "stint", Bar: 4}})
	if len(r.Rows) != 2 {
		t.Errorf("%d rows, want 2: the one without samples is dropped", len(r.Rows))
	}
	if got := r.Rows[1].Speedup; got.N != 6 || got.Median != 2 || got.Interval == nil {
		t.Errorf("speedup %+v, want 2 of 6 pairs with an interval", got)
	}
	if got := []Answer{r.Verdicts[0].Answer, r.Verdicts[1].Answer}; !slices.Equal(got, []Answer{Yes, NotSure}) {
		t.Errorf("answers %q, want yes, and not sure for what was not measured", got)
	}
	if len(r.Warnings) > 0 {
		t.Errorf("warnings %v, want none", r.Warnings)
	}
}

func TestWarnings(t *testing.T) {
	half, much := 0.5, 0.6
	for _, c := range []struct {
		kind   string
		change func(*Result)
	}{
		{"", func(r *Result) { r.Machine.Load, r.Machine.Others = &half, nil }},
		{Interrupted, func(r *Result) { r.Count = 7 }},
		{Quick, func(r *Result) { r.Quick = true }},
		{Processors, func(r *Result) { r.Machine.Processors = 1 }},
		{Busy, func(r *Result) { r.Machine.Load = &much }},
		{Busy, func(r *Result) { r.Machine.Others = &much }},
		{Samples, func(r *Result) { r.Count, r.Rows[1].Samples = 5, r.Rows[1].Samples[:5] }},
		{Spread, func(r *Result) { r.Rows[0].Samples[0].Wall = time.Second }},
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

func TestBenchmarkIsReadBack(t *testing.T) {
	r := example()
	r.Rows[0].Samples[0].PeakRSS = 1 << 20 // below the floor: a bound only
	var b bytes.Buffer
	if err := Benchmark(&b, r); err != nil {
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
		usage := r.Rows[i%2].Samples[i/2]
		if sec, _ := line.Value("sec/op"); math.Round(sec*1e9) != float64(usage.Wall.Nanoseconds()) {
			t.Errorf("line %d: %v sec/op, want %v", i, sec, usage.Wall.Seconds())
		}
		if _, ok := line.Value("peak-RSS-bytes"); ok == usage.Hidden() {
			t.Errorf("line %d: peak written: %v, want %v", i, ok, !usage.Hidden())
		}
		for key, want := range map[string]string{"goos": "linux", "goarch": "amd64", "cpu": "A CPU: fast", "command": r.Command, "tools": "a 1; b 2"} {
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

func TestLinesAreObjects(t *testing.T) {
	r := example()
	r.Conclude([]Claim{claim(1.85)})
	r.Warnings = []Warning{{Quick, "a > b"}}
	var b bytes.Buffer
	if err := Lines(&b, r); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for line := range strings.Lines(b.String()) {
		var v struct {
			Type, Answer, Text string
			Processors         int
			Round, N           int
			Wall               int64 `json:"wall_ns"`
			Median             int64 `json:"median_ns"`
		}
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		count[v.Type]++
		switch {
		case v.Type == "experiment" && v.Processors != 2, v.Type == "run" && v.Wall == 0, v.Type == "row" && (v.N != 6 || v.Median == 0),
			v.Type == "verdict" && v.Answer != "yes", v.Type == "warning" && v.Text != "a > b":
			t.Errorf("a member is missing: %s", line)
		}
	}
	for kind, want := range map[string]int{"experiment": 1, "run": 12, "row": 2, "verdict": 1, "warning": 1} {
		if count[kind] != want {
			t.Errorf("%d lines of type %s, want %d", count[kind], kind, want)
		}
	}
}

func TestTable(t *testing.T) {
	r := example()
	r.Conclude([]Claim{claim(3)})
	r.Warnings = []Warning{{Quick, "little"}}
	var b strings.Builder
	if err := Table(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"sum: 2 files\n", "command  go run ./lab run sum\n", "model    stint: b\n",
		"  alg=md5      gnu  6  100.5 ms  100.0 ms  104.0 ms  201.0 ms    8.4 MB    10                              1\n",
		"  alg=md5  * stint  6   50.0 ms   50.0 ms   52.0 ms  100.0 ms    8.4 MB    20  2.00 [2.00, 2.02] 97 %, n = 6\n",
		"  no        as fast: 2.00 [2.00, 2.02] 97 %, n = 6\n", "  quick: little\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 { // replaces its own files
		if err := Files(dir, example()); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sum.txt", "sum.jsonl"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
