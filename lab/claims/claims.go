// Package claims holds the conclusions of the articles and our own, and judges them by results in the Go benchmark
// format: the authors' and ours alike.
package claims

import (
	"math"
	"slices"
	"strconv"
)

// Articles are the sections of BENCHMARKS.md, in its order; our own conclusions are the last.
var Articles = []Article{Pools, Scheduling, Survey, Workerpool, Channels, Ours}

// An Article is a section of BENCHMARKS.md.
type Article struct {
	Title  string
	Author string // with the year and a link; empty: ours

	In     string            // directory of its benchmarks
	Filter string            // our results to read, as benchstat's -filter
	File   string            // of the author's results, in the directory articles
	Names  map[string]string // what a benchmark is called in sentences, where Word does not find it

	Claims []Claim
	Tables []Table
	Curves []Curve
	Write  string // what to write with stint
}

// A Claim is a conclusion: ratios or values that meet a bar.
type Claim struct {
	Says  string // a sentence, as the article means it
	Bar   Bar
	Pairs []Pair
	Mean  bool // judge the geometric mean of the ratios, not each

	In     string // directory of its benchmarks, if it is not the article's
	Filter string // our results to read, if not the article's
	There  string // which of the author's results to read: those of one of several machines
	CPUs   int    // fewer cannot decide it, nor one a ratio of all CPUs to one
	Test   string // the test that shows it, if no benchmark does

	Cause *Cause // why it does not hold; the gate wants one where the answer is no
	Note  string // what else there is to say
	Ours  bool   // not a statement of the article
}

// A Cause is printed only if what shows it holds too.
type Cause struct {
	Says  string
	Shown Claim // without Says
}

// A Pair is the ratio of A to B, or the value of A if B is empty. A name that ends in * means the benchmark of this
// beginning with the smallest median.
type Pair struct {
	A, B       string
	AAll, BAll bool   // on all CPUs, not on one
	Unit       string // Time if empty
}

// A Bar is what an author means: a ratio is from the one to the other. A direction has the bar 1, so that a
// smaller difference than the author's is enough; a number that the author gives is a magnitude and its own bar.
// "Does not help" allows 5 %.
type Bar struct {
	Text   string
	Lo, Hi float64
}

// Bars of directions.
var (
	More   = Bar{"more than 1", math.Nextafter(1, 2), inf}
	Less   = Bar{"less than 1", -1, math.Nextafter(1, 0)}
	NoGain = Bar{"more than 0.95", 0.95, inf}
)

var inf = math.Inf(1)

// AtLeast is the bar of a magnitude.
func AtLeast(x float64) Bar { return Bar{"at least " + number(x), x, inf} }

// AtMost is the bar of a magnitude.
func AtMost(x float64) Bar { return Bar{"at most " + number(x), -1, x} }

// Between is the bar of a magnitude that an author gives as a range.
func Between(lo, hi float64) Bar { return Bar{number(lo) + " to " + number(hi), lo, hi} }

// A Table shows benchmarks.
type Table struct {
	Title   string
	Main    bool // also in BENCHMARKS.md, not on the page alone
	In      string
	Filter  string
	Rows    []string // benchmarks, empty: all whose names begin with Prefix
	Prefix  string
	Columns []Column
}

// A Column is a unit of the benchmarks of a table. An empty column is left out.
type Column struct {
	Title string
	There string // a filter for the author's figures; empty: those here
	All   bool   // on all CPUs
	Unit  string // Time if empty
}

// A Curve shows a unit over a number in the names of benchmarks.
type Curve struct {
	Title, X string
	Main     bool // also in BENCHMARKS.md
	In       string
	Filter   string
	Lines    []string // names with * for the number: "Sweep/workers=*"
	Unit     string   // Time if empty
}

// Than compares benchmarks with b, on one CPU and on all.
func Than(b string, as ...string) []Pair { return slices.Concat(OnOne(b, as...), OnAll(b, as...)) }

// OnOne compares benchmarks with b on one CPU.
func OnOne(b string, as ...string) []Pair { return pairs(as, Pair{B: b}) }

// OnAll compares benchmarks with b on all CPUs.
func OnAll(b string, as ...string) []Pair { return pairs(as, Pair{B: b, AAll: true, BAll: true}) }

func pairs(as []string, p Pair) (out []Pair) {
	for _, p.A = range as {
		out = append(out, p)
	}
	return out
}

// AllToOne compares each benchmark on all CPUs with itself on one.
func AllToOne(names ...string) (pairs []Pair) {
	for _, n := range names {
		pairs = append(pairs, Pair{A: n, B: n, AAll: true})
	}
	return pairs
}

// In returns the pairs in a unit other than time.
func In(unit string, pairs ...Pair) (out []Pair) {
	for _, p := range pairs {
		p.Unit = unit
		out = append(out, p)
	}
	return out
}

// A Verdict says whether a claim holds.
type Verdict string

// The verdicts.
const (
	Holds     Verdict = "holds"
	Not       Verdict = "does not hold here"
	Undecided Verdict = "undecided"
)

// An Answer is a verdict and the figure behind it.
type Answer struct {
	Verdict
	Pair     Pair   // the one that decides: the farthest beyond the bar, or the nearest to it
	Figure   Figure // of Pair, or of the mean
	Of       int    // how many figures there are,
	Measured int    // how many of them were measured,
	Beyond   int    // and how many are all beyond the bar
}

// Judge returns what results say about the claim. It holds if the whole interval of each figure meets the bar, and does
// not if the whole interval of one is beyond it.
func (c Claim) Judge(r Results) Answer {
	var figures []Figure
	for _, p := range c.Pairs {
		figures = append(figures, r.Figure(p))
	}
	if c.Mean {
		figures = []Figure{r.mean(figures)}
	}
	a := Answer{Verdict: Undecided, Of: len(figures)}
	met, worst, farthest := 0, -1, 0.0
	for i, x := range figures {
		if x.Rounds == 0 {
			continue
		}
		a.Measured++
		// What is beyond the bar decides before what may be, and that before what meets it.
		rank := 1
		if x.Hi < c.Bar.Lo || x.Lo > c.Bar.Hi {
			rank = 2
			a.Beyond++
		} else if x.Lo >= c.Bar.Lo && x.Hi <= c.Bar.Hi {
			rank = 0
			met++
		}
		if far := c.Bar.far(x.Center); rank > worst || rank == worst && far > farthest {
			worst, farthest, a.Pair, a.Figure = rank, far, c.Pairs[i], x
		}
	}
	switch {
	case c.Test != "":
		a.Verdict = Holds
	case r.CPUs < c.CPUs:
	case a.Beyond > 0:
		a.Verdict = Not
	case met == a.Of && met > 0:
		a.Verdict = Holds
	}
	return a
}

// far is how far a figure is on the wrong side of the bar: above 1 there, and below 1 on the right side.
func (b Bar) far(x float64) float64 {
	above := 0.0
	if b.Hi < inf {
		above = x / b.Hi
	}
	return max(above, b.Lo/max(x, math.SmallestNonzeroFloat64))
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }
