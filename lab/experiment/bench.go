package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Default numbers of samples.
const (
	fullCount  = 20
	quickCount = 6 // the fewest that give an interval
)

// Default lengths of a sample. All models of a case run the same number of
// operations, so the fastest model sets the minimum, and the slowest the
// maximum, maxSampleFactor times as long.
const (
	minSampleTime   = 5 * time.Millisecond
	maxSampleFactor = 20
)

// A Bench measures the cases of one experiment in this process.
type Bench struct {
	*Session
	Result *result.Result

	claims      []result.Claim
	skipped     []string // cases, or a GOMAXPROCS, that the session does not measure
	watch       measure.Watch
	cpuBefore   time.Duration // usedCPU at the start
	began       time.Time
	procsBefore int // GOMAXPROCS before
}

// NewBench starts an experiment. Conclude must follow.
func (s *Session) NewBench(name, workload string, notes ...string) *Bench {
	b := &Bench{Session: s, procsBefore: runtime.GOMAXPROCS(0)}
	machine := s.Machine()
	runtime.GOMAXPROCS(s.processors())
	b.Result = &result.Result{
		Experiment: name,
		Command:    s.Command,
		Workload:   workload,
		Quick:      s.Quick,
		Processors: runtime.GOMAXPROCS(0),
		Machine:    machine,
		Notes:      notes,
	}
	b.cpuBefore, _ = usedCPU()
	b.began = time.Now()
	b.watch.Start()
	return b
}

// usedCPU returns the CPU time of this process and of its ended children, or false
// if it is not known.
func usedCPU() (time.Duration, bool) {
	own, ok := measure.OwnCPU()
	return own + measure.ChildCPU(), ok
}

// Claim adds claims to be judged at the end.
func (b *Bench) Claim(claims ...result.Claim) { b.claims = append(b.claims, claims...) }

// Conclude ends the experiment and returns its result and err.
func (b *Bench) Conclude(err error) (*result.Result, error) {
	runtime.GOMAXPROCS(b.procsBefore)
	if now, ok := usedCPU(); ok {
		b.watch.Stop(&measure.Usage{Wall: time.Since(b.began), CPU: now - b.cpuBefore})
		b.Result.Machine.Others = b.watch.Others()
	}
	if err != nil {
		b.Result.Unfinished = err.Error()
	}
	b.Result.Conclude(slices.DeleteFunc(b.claims, b.unmeasured))
	return b.Result, err
}

// unmeasured reports whether a claim is about a case or model that the session
// does not select.
func (b *Bench) unmeasured(c result.Claim) bool {
	if slices.Contains(b.skipped, c.Case) || slices.Contains(b.skipped, c.InCase) {
		return true
	}
	missing := func(kase, name string) bool {
		return name != "" && !b.selected(name) && !slices.ContainsFunc(b.Result.Rows, func(r result.Row) bool { return r.Case == kase && r.Model == name })
	}
	if len(c.Cases) > 0 {
		return slices.ContainsFunc(c.Cases, func(kase string) bool {
			c.Case, c.Cases = kase, nil
			return b.unmeasured(c)
		})
	}
	return missing(c.Case, c.Model) || missing(cmp.Or(c.InCase, c.Case), c.Than)
}

// selected reports whether the session includes a model.
func (s *Session) selected(model string) bool {
	return len(s.Models) == 0 || slices.Contains(s.Models, model)
}

// An item is a model in a case.
type item struct {
	*Case
	Model
	row int // index in the result
}

// Measure measures cases, at each GOMAXPROCS of the session. All their models
// run in turn, so that claims may compare models across these cases.
func (b *Bench) Measure(ctx context.Context, cases ...Case) error {
	cases = b.selectedCases(b.atEachProcs(cases))
	if b.listing {
		b.addNames(cases)
		return ctx.Err()
	}
	items := b.items(cases)
	if len(items) == 0 {
		return nil
	}
	ops, err := b.ops(ctx, cases[0].Ops, items)
	if err != nil {
		return err
	}
	count := b.count(cases[0])
	for _, c := range cases {
		b.Logf("%s: %s: %d ops a sample, %d rounds", b.Result.Experiment, c.Name, ops, count)
		b.Result.Cases = append(b.Result.Cases, result.Case{
			Name: c.Name, Doc: c.Doc, Reference: c.Reference, Ops: ops, Count: count, Processors: c.Processors, Main: c.Main,
			Article: c.Article, Table: c.Table, Figures: c.Figures,
		})
	}
	label := b.label(cases)
	return measure.Rounds(ctx, count, len(items), func(round, i int) error {
		b.Step(label, (round+1)*len(items)+i, (count+1)*len(items))
		sample, err := b.sample(items[i], ops, round)
		if err == nil && round >= 0 {
			row := &b.Result.Rows[items[i].row]
			row.Samples = append(row.Samples, sample)
		}
		return err
	})
}

// selectedCases returns the cases that the session selects, and notes the others.
func (b *Bench) selectedCases(cases []Case) []Case {
	var out []Case
	for _, c := range cases {
		if b.SelectsCase(c.Name) {
			out = append(out, c)
		} else {
			b.skipped = append(b.skipped, c.Name)
		}
	}
	return out
}

// label names cases for the progress display.
func (b *Bench) label(cases []Case) string {
	label := b.Result.Experiment + " " + cases[0].Name
	if more := len(cases) - 1; more > 0 {
		label += fmt.Sprintf(" and %d more", more)
	}
	return label
}

// atEachProcs returns the cases at each GOMAXPROCS of the session, if it has
// any. Cases at the largest keep their names.
func (b *Bench) atEachProcs(cases []Case) []Case {
	if len(b.Procs) == 0 {
		return cases
	}
	var out []Case
	for _, c := range cases {
		switch {
		case c.Processors == 0:
			out = append(out, b.caseAtProcs(c, cases)...)
		case !slices.Contains(b.Procs, c.Processors):
			b.skipped = append(b.skipped, c.Name)
		case !b.measured(c.Name):
			out = append(out, c)
		}
	}
	return out
}

// caseAtProcs returns a case at each GOMAXPROCS of the session, without those
// that the experiment has as separate cases.
func (b *Bench) caseAtProcs(c Case, others []Case) []Case {
	out := []Case{}
	for _, procs := range b.Procs {
		if procs == b.Result.Processors {
			out = append(out, c)
			continue
		}
		one := c
		one.Name, one.Processors = fmt.Sprintf("%s/procs=%d", c.Name, procs), procs
		if !b.measured(one.Name) && !slices.ContainsFunc(others, func(o Case) bool { return o.Name == one.Name }) {
			out = append(out, one)
		}
	}
	return out
}

// measured reports whether the named case was measured.
func (b *Bench) measured(name string) bool {
	return slices.ContainsFunc(b.Result.Cases, func(c result.Case) bool { return c.Name == name })
}

// count returns the number of samples per model.
func (s *Session) count(c Case) int {
	byDefault := cmp.Or(c.Count, fullCount)
	if s.Quick {
		byDefault = min(byDefault, quickCount)
	}
	return cmp.Or(s.Count, byDefault)
}

// items returns the selected models of cases, and adds a row for each.
func (b *Bench) items(cases []Case) []item {
	var items []item
	for i := range cases {
		c := &cases[i]
		if !slices.ContainsFunc(c.Models, func(m Model) bool { return b.selected(m.Name) }) {
			continue
		}
		for _, m := range c.Models {
			if !b.selected(m.Name) && m.Name != c.Reference {
				continue
			}
			if !slices.Contains(b.Result.Models, m.Model) {
				b.Result.Models = append(b.Result.Models, m.Model)
			}
			items = append(items, item{c, m, len(b.Result.Rows)})
			b.Result.Rows = append(b.Result.Rows, result.Row{Case: c.Name, Model: m.Name})
		}
	}
	return items
}

// sample takes one sample.
func (b *Bench) sample(it item, ops, round int) (measure.Sample, error) {
	if it.Processors > 0 && it.Processors != runtime.GOMAXPROCS(0) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(it.Processors))
	}
	if it.NoGC {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
	}
	m := &measure.Meter{N: ops, Round: round, Peaks: it.Peaks, Scheduling: it.Scheduling}
	if err := it.Run(m); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", it.Case.Name, it.Model.Name, err)
	}
	return m.Sample(), nil
}

// ops returns the number of operations per sample, the same for all models.
func (b *Bench) ops(ctx context.Context, fixed int, items []item) (int, error) {
	if fixed > 0 {
		return fixed, nil
	}
	fastest, slowest := 0.0, 0.0
	for i, it := range items {
		b.Step(b.Result.Experiment+" "+items[0].Case.Name+", choosing the sample size", i, len(items))
		cost, err := b.cost(ctx, it)
		if err != nil {
			return 0, err
		}
		slowest = max(slowest, cost)
		if i == 0 || cost < fastest {
			fastest = cost
		}
	}
	byDefault := minSampleTime
	if b.Quick {
		byDefault /= 5
	}
	sample := float64(cmp.Or(b.Time, byDefault))
	n := min(sample/fastest, maxSampleFactor*sample/slowest)
	return max(1, int(n)), nil
}

// trustedFactor is how many times as long as required a sample must be to be
// trusted at once.
const trustedFactor = 100

// cost estimates the time of one operation from samples of growing size. It repeats the
// first sample that is long enough, unless that would take long: another program may have
// slowed the sample, so that more operations are needed.
func (b *Bench) cost(ctx context.Context, it item) (ns float64, err error) {
	enough := float64(time.Millisecond)
	if b.Quick {
		enough /= 5
	}
	last := math.Inf(1) // with the same number of operations
	for n := 1; ; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		sample, err := b.sample(it, n, -1)
		if err != nil {
			return 0, err
		}
		cost := max(sample[measure.Time], 0.1)
		least := min(cost, last)
		switch took := least * float64(n); {
		case took > trustedFactor*enough || n > 1e6:
			return least, nil
		case took <= enough:
			n, last = 8*n, math.Inf(1)
		case math.IsInf(last, 1):
			last = cost
		default:
			return least, nil
		}
	}
}
