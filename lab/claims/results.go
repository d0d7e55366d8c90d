package claims

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"math"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
)

// Results are what benchmarks reported, round by round: the k-th record of a benchmark is of round k.
type Results struct {
	CPUs    int  // most that a benchmark had
	Exact   bool // each is the one figure that an author gives
	records []*benchfmt.Result
}

// Time is the unit that package benchfmt makes of ns/op.
const Time = "sec/op"

// A Figure is the median of the rounds, and an interval that contains the true one with 95 % confidence, by order
// statistics, which takes six rounds. The single figure of an article is taken for exact.
type Figure struct {
	benchmath.Summary
	Rounds int       // that have a value
	values []float64 // of all rounds, NaN for none
}

// Read reads the results in the files that match a pattern.
func Read(dir fs.FS, pattern string) (Results, error) {
	r := Results{CPUs: 1}
	names, err := fs.Glob(dir, pattern)
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			return r, err
		}
		for lines := benchfmt.NewReader(bytes.NewReader(text), name); lines.Scan(); {
			switch rec := lines.Result().(type) {
			case *benchfmt.SyntaxError:
				return r, rec
			case *benchfmt.Result:
				r.add(rec.Clone())
			}
		}
	}
	return r, err
}

// cpus is the end of a name, if its number of CPUs is not 1.
var cpus = regexp.MustCompile(`-\d+$`)

func (r *Results) add(rec *benchfmt.Result) {
	r.records = append(r.records, rec)
	if n, err := strconv.Atoi(strings.TrimPrefix(cpus.FindString(rec.Name.String()), "-")); err == nil {
		r.CPUs = max(r.CPUs, n)
	}
}

// Matching returns the results that match a filter, which is benchstat's -filter; "" matches all.
func (r Results) Matching(filter string) Results {
	match, err := benchproc.NewFilter(cmp.Or(filter, "*"))
	if err != nil {
		panic(err) // a filter is written in this package
	}
	out := Results{CPUs: 1, Exact: r.Exact}
	for _, rec := range r.records {
		if m, _ := match.Match(rec); m.All() {
			out.add(rec)
		}
	}
	return out
}

// The authors' own figures, in the Go benchmark format.
//
//go:embed articles
var articles embed.FS

// Theirs returns the author's results that match a filter.
func (a Article) Theirs(filter string) Results {
	r, err := Read(articles, "articles/"+a.File)
	if err != nil {
		panic(err) // a test reads them all
	}
	r.Exact = true
	return r.Matching(filter)
}

// Machine describes where and how the results were made.
func (r Results) Machine() string {
	if len(r.records) == 0 {
		return "nothing was measured"
	}
	var others []float64
	for _, rec := range r.records {
		if v, ok := rec.Value("others-%"); ok {
			others = append(others, v)
		}
	}
	last := r.records[len(r.records)-1]
	text := fmt.Sprintf("%s, %s/%s, %s, CPUs: %d", cmp.Or(last.GetConfig("cpu"), "a processor without a name"),
		last.GetConfig("goos"), last.GetConfig("goarch"), last.GetConfig("go"), r.CPUs)
	if slices.Sort(others); len(others) > 0 {
		text += fmt.Sprintf("; other programs used %.0f %% of the CPU time at the median, and more than %.0f %% in one of twenty "+
			"measurements", others[len(others)/2], others[len(others)*19/20])
	}
	return text
}

// Figure returns the ratio of two benchmarks, paired round by round, or a value. There is none if they were not measured
// in the same rounds, or if it compares all CPUs with one where there is only one.
func (r Results) Figure(p Pair) Figure {
	unit := cmp.Or(p.Unit, Time)
	a := r.of(p.A, p.AAll, unit)
	if p.B == "" {
		return r.summary(a)
	}
	b := r.of(p.B, p.BAll, unit)
	if len(a) != len(b) || p.AAll != p.BAll && r.CPUs == 1 {
		return Figure{}
	}
	for k := range a {
		if a[k] == b[k] {
			a[k] = 1 // also of two zeros
		} else {
			a[k] /= b[k]
		}
	}
	return r.summary(a)
}

// mean returns the geometric mean of figures of the same rounds.
func (r Results) mean(figures []Figure) Figure {
	out := make([]float64, len(figures[0].values))
	for _, f := range figures {
		if len(f.values) != len(out) {
			return Figure{}
		}
		for k, v := range f.values {
			out[k] += math.Log(v) / float64(len(figures))
		}
	}
	for k := range out {
		out[k] = math.Exp(out[k])
	}
	return r.summary(out)
}

// Median returns a unit of a benchmark.
func (r Results) Median(name string, all bool, unit string) Figure {
	return r.Figure(Pair{A: name, AAll: all, Unit: unit})
}

// Least returns the benchmark with the smallest median, or "" if none was measured.
func (r Results) Least(names []string, all bool, unit string) (best string) {
	least := math.Inf(1)
	for _, name := range names {
		if f := r.Median(name, all, unit); f.Rounds > 0 && f.Center < least {
			best, least = name, f.Center
		}
	}
	return best
}

// Names returns the benchmarks whose names match a pattern of package path, in which * is also in what it matches.
func (r Results) Names(pattern string) (names []string) {
	for _, rec := range r.records {
		name := cpus.ReplaceAllString(rec.Name.String(), "")
		if ok, _ := path.Match(strings.ReplaceAll(pattern, "/", "|"), strings.ReplaceAll(name, "/", "|")); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// of returns a unit of a benchmark in each round, NaN where it is missing, such as a peak, which a short op has in some
// rounds. A name with * is that with the smallest median of those that match.
func (r Results) of(name string, all bool, unit string) (out []float64) {
	if strings.Contains(name, "*") {
		return r.of(r.Least(r.Names(name), all, unit), all, unit)
	}
	if all && r.CPUs > 1 {
		name += fmt.Sprintf("-%d", r.CPUs)
	}
	var first *benchfmt.Result
	for _, rec := range r.records {
		if rec.Name.String() != name {
			continue
		}
		if first = cmp.Or(first, rec); !r.Exact && !reflect.DeepEqual(rec.Config, first.Config) {
			return nil // of several settings: the filter leaves more than it may
		}
		v, ok := rec.Value(unit)
		if !ok {
			v = math.NaN()
		}
		out = append(out, v)
	}
	return out
}

func (r Results) summary(values []float64) Figure {
	measured := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(measured) == 0 {
		return Figure{}
	}
	var rule benchmath.Assumption = benchmath.AssumeNothing
	if r.Exact {
		rule = benchmath.AssumeExact
	}
	return Figure{rule.Summary(benchmath.NewSample(measured, &benchmath.DefaultThresholds), 0.95), len(measured), values}
}
