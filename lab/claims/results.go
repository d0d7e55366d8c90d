package claims

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchproc"
)

// Results are what benchmarks reported, round by round: the k-th record of a benchmark is of round k.
type Results struct {
	Machine string
	CPUs    int  // most that a benchmark had
	Exact   bool // each is the one figure that an author gives
	records map[key][]record
}

// A key is a benchmark and its number of CPUs.
type key struct {
	name string
	cpus int
}

// A record is what a benchmark reported in a round, by unit, and its configuration lines.
type record struct {
	values map[string]float64
	config string
}

// Time is the unit that package benchfmt makes of ns/op.
const Time = "sec/op"

// A Figure is the median of the rounds, and an interval that contains the true one with 95 % confidence, by order
// statistics, which takes six rounds. The single figure of an article is taken for exact.
type Figure struct {
	benchmath.Summary
	Rounds int
	values []float64
}

// Read reads the results in files that match the filter, which is benchstat's -filter; "" matches all.
func Read(filter string, dir fs.FS, names ...string) (Results, error) {
	r := Results{CPUs: 1, records: map[key][]record{}}
	match, err := benchproc.NewFilter(cmp.Or(filter, "*"))
	for _, name := range names {
		var text []byte
		if err == nil {
			text, err = fs.ReadFile(dir, name)
		}
		for lines := benchfmt.NewReader(bytes.NewReader(text), name); err == nil && lines.Scan(); {
			switch rec := lines.Result().(type) {
			case *benchfmt.SyntaxError:
				err = rec
			case *benchfmt.Result:
				var ok bool
				if ok, err = match.Apply(rec); ok {
					r.add(rec)
				}
			}
		}
	}
	return r, err
}

func (r *Results) add(rec *benchfmt.Result) {
	name, cpus := split(rec.Name.String())
	r.CPUs = max(r.CPUs, cpus)
	r.Machine = strings.TrimPrefix(fmt.Sprintf("%s, %s/%s, %s",
		rec.GetConfig("cpu"), rec.GetConfig("goos"), rec.GetConfig("goarch"), rec.GetConfig("go")), ", ")
	values, config := map[string]float64{}, ""
	for _, v := range rec.Values {
		values[v.Unit] = v.Value
	}
	for _, c := range rec.Config {
		config += c.Key + ":" + string(c.Value) + "\n"
	}
	k := key{name, cpus}
	r.records[k] = append(r.records[k], record{values, config})
}

// split returns a name without its -N, and that number.
func split(name string) (string, int) {
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil {
			return name[:i], n
		}
	}
	return name, 1
}

// Figure returns the ratio of two benchmarks, paired round by round, or a value. There is none if they were not measured
// in the same rounds, or if it compares all CPUs with one where there is only one.
func (r Results) Figure(p Pair) Figure {
	unit := cmp.Or(p.Unit, Time)
	a := r.of(p.A, p.AAll, unit)
	if p.B == "" {
		return r.summary(values(a, unit))
	}
	b := r.of(p.B, p.BAll, unit)
	if len(a) != len(b) || p.AAll != p.BAll && r.CPUs == 1 {
		return Figure{}
	}
	var ratios []float64
	for k := range a {
		x, ok := a[k].values[unit]
		y, ok2 := b[k].values[unit]
		switch {
		case !ok || !ok2: // such as a peak, which a short op has in some rounds
		case x == y:
			ratios = append(ratios, 1) // also of two zeros
		default:
			ratios = append(ratios, x/y)
		}
	}
	return r.summary(ratios)
}

// mean returns the geometric mean of figures of the same rounds.
func (r Results) mean(figures []Figure) Figure {
	var out []float64
	for i, f := range figures {
		if i == 0 {
			out = make([]float64, f.Rounds)
		}
		if f.Rounds == 0 || f.Rounds != len(out) {
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

// Names returns the benchmarks whose names match a pattern of package path, in which * is also in what it matches.
func (r Results) Names(pattern string) (names []string) {
	for k := range r.records {
		if ok, _ := path.Match(strings.ReplaceAll(pattern, "/", "|"), strings.ReplaceAll(k.name, "/", "|")); ok && !slices.Contains(names, k.name) {
			names = append(names, k.name)
		}
	}
	slices.Sort(names)
	return names
}

// of returns the records of a benchmark, or of the one with the smallest median of those that match a name with *.
func (r Results) of(name string, all bool, unit string) (best []record) {
	cpus := 1
	if all {
		cpus = r.CPUs
	}
	if !strings.Contains(name, "*") {
		records := r.records[key{name, cpus}]
		if !r.Exact && slices.ContainsFunc(records, func(rec record) bool { return rec.config != records[0].config }) {
			return nil // of several settings: the filter leaves more than it may
		}
		return records
	}
	least := math.Inf(1)
	for _, n := range r.Names(name) {
		records := r.of(n, all, unit)
		if f := r.summary(values(records, unit)); f.Rounds > 0 && f.Center < least {
			best, least = records, f.Center
		}
	}
	return best
}

// values returns the values of a unit in the rounds that have it.
func values(records []record, unit string) (out []float64) {
	for _, rec := range records {
		if v, ok := rec.values[unit]; ok {
			out = append(out, v)
		}
	}
	return out
}

func (r Results) summary(values []float64) Figure {
	if len(values) == 0 || slices.ContainsFunc(values, math.IsNaN) {
		return Figure{}
	}
	var rule benchmath.Assumption = benchmath.AssumeNothing
	if r.Exact {
		rule = benchmath.AssumeExact
	}
	return Figure{rule.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds), 0.95), len(values), values}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

// All returns all values of a unit.
func (r Results) All(unit string) (out []float64) {
	for _, records := range r.records {
		out = append(out, values(records, unit)...)
	}
	return out
}
