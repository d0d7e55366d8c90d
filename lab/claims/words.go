package claims

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"
)

// keys are those of benchmarks that need not be said beside their values.
var keys = map[string]bool{"model": true, "way": true, "tool": true, "row": true, "work": true, "alg": true, "auth": true}

// Word returns a benchmark as sentences have it: "par.Reduce" for CPU/model=par.Reduce, "8 workers" for Sweep/workers=8,
// "the best limit" for Select/limit=*.
func (a Article) Word(name string) string {
	if s := a.Names[name]; s != "" {
		return s
	}
	var words []string
	for _, part := range strings.Split(name, "/")[1:] {
		key, value, is := strings.Cut(part, "=")
		n, err := strconv.Atoi(value)
		switch {
		case !is || keys[key]:
			words = append(words, cmp.Or(value, key))
		case value == "*":
			words = append(words, "the best "+key)
		case err != nil:
			words = append(words, key+" "+value)
		case n == 1:
			words = append(words, "1 "+strings.TrimSuffix(key, "s"))
		default:
			words = append(words, grouped(n)+" "+key)
		}
	}
	return cmp.Or(strings.Join(words, ", "), name)
}

// families say what the benchmarks of several models are about.
var families = map[string]string{
	"CPU": "powers of a long list", "FewCPU": "powers of a hundred numbers", "IO": "a hundred items that wait", "Stages": "two stages",
	"Add": "a sum in chunks", "Find": "finding in documents", "Sleepers": "tasks that sleep", "List": "digests", "Tasks": "a thousand tasks",
	"MD5All": "MD5 sums of a tree", "EmptyTask": "an empty task", "Permit": "a permit for a moment", "Loop": "a loop of a function of 2 ns",
	"Errgroup": "tasks of an errgroup", "Wait": "a hundred items that wait, no limit given", "Batch": "a batch at a server",
	"Fit": "items that fit on command lines, by `xargs` without -P", "Limit": "programs, no number given", "Start": "one program",
	"Run": "a program for each item", "Adaptive": "a list of tasks, no limit given", "Keys": "messages by key", "Hop": "a record handed over",
}

// Task says what a benchmark of several models is about, from its name without the model: "Loop/items=10".
func Task(name string) string {
	family, rest, _ := strings.Cut(strings.TrimSuffix(name, "/"), "/")
	said := cmp.Or(families[family], family)
	if rest != "" {
		said += ": " + Article{}.Word("/"+rest)
	}
	return said
}

// grouped writes a number with commas: 1,000,000.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// nouns say what a unit is, where its name does not.
var nouns = map[string]string{
	Time: "time", "cpu-sec/op": "CPU time", "p50-sec": "median time", "p99-sec": "p99 time", "queued-sec": "time until a job starts",
	"submit-sec/op": "time until all were submitted", "sec/record": "time of a record", "sec/item": "time of an item",
	"steady-sec": "time of a task", "more-sec": "time beyond the plain loop", "in-time/s": "requests in time, a second,",
	"B/op": "bytes allocated", "allocs/op": "allocations", "peak-B/op": "peak memory", "GCs/op": "garbage collections",
	"scheduled/op": "goroutines scheduled", "switches/op": "threads switched",
	"runtime-%": "share of the runtime, in %,", "reading-%": "share of reading, in %,",
}

// Told says in words what decides a claim of the article.
func (a Article) Told(c Claim, x Answer, r Results) string {
	switch {
	case c.Test != "":
		return "`" + c.Test + "`"
	case x.Measured == 0:
		return "not measured"
	case c.Mean:
		return fmt.Sprintf("the geometric mean of %d ratios is %s", len(c.Pairs), Ratio(x.Figure))
	}
	p, unit, verb := x.Pair, cmp.Or(x.Pair.Unit, Time), "had"
	if strings.Contains(unit, "sec") {
		verb = "took"
	}
	noun := cmp.Or(nouns[unit], strings.TrimSuffix(unit, "/op"))
	on, than := where(p.AAll, r.CPUs), where(p.BAll, r.CPUs)
	if p.A != p.B {
		than = " of " + a.Word(p.B) + than
	}
	said := fmt.Sprintf("%s: %s %s%s", a.Word(p.A), noun, Median(x.Figure, unit), on)
	if p.B != "" {
		if p.AAll == p.BAll {
			on = ""
		}
		said = fmt.Sprintf("%s%s %s %s times the %s%s", a.Word(p.A), on, verb, Ratio(x.Figure), noun, than)
	}
	switch {
	case x.Measured < x.Of:
		said += fmt.Sprintf(" (%d of %d figures were measured)", x.Measured, x.Of)
	case x.Verdict == Not && x.Of > 1:
		said += fmt.Sprintf(" (%d of %d beyond the bar, this one farthest)", x.Beyond, x.Of)
	case x.Of > 1:
		said += fmt.Sprintf(" (the least clear of %d)", x.Of)
	}
	return said
}

func where(all bool, cpus int) string {
	if all && cpus > 1 {
		return fmt.Sprintf(" on %d CPUs", cpus)
	}
	return " on one CPU"
}

// Said returns the author's figure for what decides a claim here, or "" if there is none. If the author has no figure for
// that, it is the one that decides by the author's own figures.
func (a Article) Said(c Claim, x Answer, theirs Results) string {
	f, of := theirs.Figure(x.Pair), ""
	if c.Mean || x.Measured == 0 || f.Rounds == 0 {
		x = c.Judge(theirs)
		if f = x.Figure; !c.Mean && x.Of > 1 {
			of = " (" + a.Word(x.Pair.A) + ")"
		}
	}
	switch {
	case f.Rounds == 0:
		return ""
	case x.Pair.B == "":
		return Median(f, cmp.Or(x.Pair.Unit, Time)) + of
	}
	return digits(f.Center) + of
}

// Ratio formats a ratio, with its interval if it has one.
func Ratio(f Figure) string {
	if f.Rounds < 6 {
		return digits(f.Center)
	}
	return fmt.Sprintf("%s [%s, %s]", digits(f.Center), digits(f.Lo), digits(f.Hi))
}

// Median formats a median of a unit, with half of its interval in per cent.
func Median(f Figure, unit string) string {
	if f.Rounds == 0 {
		return ""
	}
	s := Quantity(f.Center, unit)
	if f.Rounds >= 6 && f.Lo < f.Hi && f.Center > 0 {
		s += fmt.Sprintf(" ±%.0f %%", 50*(f.Hi-f.Lo)/f.Center)
	}
	return s
}

// Quantity formats a value of a unit with three digits: "48.7ms", "96.0MB", "14".
func Quantity(x float64, unit string) string {
	for part, base := range map[string]string{"sec": "s", "B/": "B"} {
		if strings.Contains(unit, part) {
			s := benchunit.CommonScale([]float64{x}, benchunit.Decimal)
			s.Prec = max(0, s.Prec-1)
			return s.Format(x) + base
		}
	}
	return digits(x)
}

// digits formats a number with three digits, as a whole number or, near 1, with three digits after the point.
func digits(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "∞" // times zero
	case math.Abs(x) >= 999.5:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x != 1 && math.Abs(x-1) < 0.0995:
		return strconv.FormatFloat(x, 'f', 3, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
