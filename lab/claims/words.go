package claims

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchunit"
)

// Source is the article's author, year and link.
func (a Article) Source() string {
	s := a.Author
	if a.Year > 0 {
		s += fmt.Sprintf(", %d", a.Year)
	}
	if a.Link != "" {
		s += fmt.Sprintf(", [the article](%s)", a.Link)
	}
	return s + "."
}

// keys are those of benchmarks that need not be said beside their values.
var keys = map[string]bool{"model": true, "way": true, "tool": true, "row": true, "work": true, "alg": true, "auth": true}

// Word returns a benchmark as sentences have it: "pipeline buffer" for CPUPipelineBuffer, "par.Reduce" for
// CPU/model=par.Reduce, "8 workers" for Sweep/workers=8, "the best limit" for Select/limit=*.
func (a Article) Word(name string) string {
	if s := a.Names[name]; s != "" {
		return s
	}
	first, rest, sub := strings.Cut(name, "/")
	if !sub {
		return spaced(strings.TrimPrefix(strings.TrimPrefix(first, "CPU"), "IO"))
	}
	var words []string
	for part := range strings.SplitSeq(rest, "/") {
		key, value, is := strings.Cut(part, "=")
		switch {
		case !is || keys[key]:
			words = append(words, cmp.Or(value, key))
		case value == "*":
			words = append(words, "the best "+key)
		default:
			if n, err := strconv.Atoi(value); err == nil {
				if n == 1 {
					key = strings.TrimSuffix(key, "s")
				}
				words = append(words, grouped(n)+" "+key)
			} else {
				words = append(words, key+" "+value)
			}
		}
	}
	return strings.Join(words, ", ")
}

// grouped writes a number with commas: 1,000,000.
func grouped(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// spaced returns the words of a name in camel case.
func spaced(name string) string {
	out := ""
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			out += " "
		}
		out += string(unicode.ToLower(c))
	}
	return out
}

// verbs say what benchmarks did with a unit, and what the unit is.
var verbs = map[string][2]string{
	Time: {"took", "time"}, "cpu-sec/op": {"took", "CPU time"}, "B/op": {"allocated", "bytes"}, "allocs/op": {"made", "allocations"},
	"peak-B/op": {"needed", "peak memory"}, "p50-sec": {"had", "median time"}, "p99-sec": {"had", "99th percentile"}, "scheduled/op": {"had", "goroutines scheduled"},
	"switches/op": {"had", "threads switched"}, "GCs/op": {"had", "garbage collections"}, "lines": {"took", "lines"}, "submit-sec/op": {"took", "time until all were submitted"},
	"sec/record": {"took", "time of a record"}, "sec/item": {"took", "time of an item"}, "queued-sec": {"had", "time until a job starts"}, "more-sec": {"took", "time beyond the plain loop"},
	"in-time/s": {"answered", "requests in time, a second,"}, "comparisons/op": {"made", "comparisons"}, "exchanges/op": {"made", "exchanges"},
	"runtime-%": {"had", "share of the runtime, in %,"}, "reading-%": {"had", "share of reading, in %,"},
}

// Told says in words what decides a claim of the article.
func (a Article) Told(c Claim, x Answer, r Results) string {
	if c.Test != "" {
		return "`" + c.Test + "`"
	}
	if x.Measured == 0 {
		return "not measured"
	}
	p, unit := x.Pair, cmp.Or(x.Pair.Unit, Time)
	verb, ok := verbs[unit]
	if !ok {
		verb = [2]string{"had", unit}
	}
	on := where(p.AAll, r.CPUs)
	switch {
	case c.Mean:
		return fmt.Sprintf("the geometric mean of %d ratios is %s", len(c.Pairs), Ratio(x.Figure))
	case p.B == "":
		on = fmt.Sprintf("%s: %s %s%s", a.Word(p.A), verb[1], Median(x.Figure, unit), on)
	case p.A == p.B && p.AAll != p.BAll:
		on = fmt.Sprintf("%s%s %s %s times the %s%s", a.Word(p.A), on, verb[0], Ratio(x.Figure), verb[1], where(p.BAll, r.CPUs))
	case p.AAll != p.BAll:
		on = fmt.Sprintf("%s%s %s %s times the %s of %s%s", a.Word(p.A), on, verb[0], Ratio(x.Figure), verb[1], a.Word(p.B), where(p.BAll, r.CPUs))
	default:
		on = fmt.Sprintf("%s %s %s times the %s of %s%s", a.Word(p.A), verb[0], Ratio(x.Figure), verb[1], a.Word(p.B), on)
	}
	switch {
	case x.Measured < x.Of:
		on += fmt.Sprintf(" (%d of %d figures were measured)", x.Measured, x.Of)
	case x.Verdict == Not && x.Of > 1:
		on += fmt.Sprintf(" (%d of %d beyond the bar, this one farthest)", x.Beyond, x.Of)
	case x.Of > 1:
		on += fmt.Sprintf(" (the least clear of %d)", x.Of)
	}
	return on
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
		if f = x.Figure; !c.Mean && x.Of > 1 && f.Rounds > 0 {
			of = " (" + a.Word(x.Pair.A) + ")"
		}
	}
	switch {
	case f.Rounds == 0:
		return ""
	case x.Pair.B == "":
		return Median(f, cmp.Or(x.Pair.Unit, Time)) + of
	}
	return ratio(f.Center) + of
}

// Ratio formats a ratio, with its interval if it has one.
func Ratio(f Figure) string {
	if f.Rounds < 6 {
		return ratio(f.Center)
	}
	return fmt.Sprintf("%s [%s, %s]", ratio(f.Center), ratio(f.Lo), ratio(f.Hi))
}

// ratio formats a ratio with three digits, and one near 1 with three after the point.
func ratio(x float64) string {
	if math.Abs(x-1) < 0.0995 && x != 1 {
		return strconv.FormatFloat(x, 'f', 3, 64)
	}
	return digits(x)
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
	base := ""
	switch {
	case strings.Contains(unit, "sec"):
		base = "s"
	case strings.Contains(unit, "B/"):
		base = "B"
	default:
		return digits(x)
	}
	s := benchunit.CommonScale([]float64{x}, benchunit.Decimal)
	s.Prec = max(0, s.Prec-1)
	return s.Format(x) + base
}

// digits formats a number with three digits, or as a whole number.
func digits(x float64) string {
	if math.IsInf(x, 1) {
		return "∞" // times zero
	}
	if math.Abs(x) >= 999.5 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
