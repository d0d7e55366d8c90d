package experiment

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Samples of an experiment in this process, unless the session says otherwise.
const (
	fullCount  = 20
	quickCount = 6 // the fewest that give an interval
)

// How long a sample should be, unless the session says otherwise. The models of a
// case do the operation equally often, so the fastest sets the least, and the
// slowest the most, which is so many times longer.
const (
	shortest = 5 * time.Millisecond
	longest  = 20
)

// A Bench measures the cases of one experiment in this process.
type Bench struct {
	*Session
	Result *result.Result

	claims    []result.Claim
	elsewhere []string // cases that the session does not measure: at another GOMAXPROCS
	watch     measure.Watch
	own       time.Duration // processor time of this process at the start
	began     time.Time
	restored  int // GOMAXPROCS before
}

// NewBench begins an experiment. Each that was begun is ended by Conclude.
func (s *Session) NewBench(name, workload string, notes ...string) *Bench {
	b := &Bench{Session: s, restored: runtime.GOMAXPROCS(0)}
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
	b.own, _ = measure.OwnCPU()
	b.began = time.Now()
	b.watch.Start()
	return b
}

// Claim adds claims, to be judged in the end.
func (b *Bench) Claim(claims ...result.Claim) { b.claims = append(b.claims, claims...) }

// Conclude ends the experiment and returns its result, with the error of ctx
// or of a model.
func (b *Bench) Conclude(err error) (*result.Result, error) {
	runtime.GOMAXPROCS(b.restored)
	if now, ok := measure.OwnCPU(); ok {
		b.watch.Stop(&measure.Usage{Wall: time.Since(b.began), CPU: now - b.own})
		b.Result.Machine.Others = b.watch.Others()
	}
	if err != nil {
		b.Result.Unfinished = err.Error()
	}
	b.Result.Conclude(slices.DeleteFunc(b.claims, b.leftOut))
	return b.Result, err
}

// leftOut reports whether a claim is about a case that was not measured, or a
// model that was not measured in its case, because the session is about others.
func (b *Bench) leftOut(c result.Claim) bool {
	if slices.Contains(b.elsewhere, c.Case) || slices.Contains(b.elsewhere, c.InCase) {
		return true
	}
	missing := func(kase, name string) bool {
		return name != "" && !b.wanted(name) && !slices.ContainsFunc(b.Result.Rows, func(r result.Row) bool { return r.Case == kase && r.Model == name })
	}
	return missing(c.Case, c.Model) || missing(cmp.Or(c.InCase, c.Case), c.Than)
}

// wanted reports whether the session is about a model.
func (s *Session) wanted(model string) bool {
	return len(s.Models) == 0 || slices.Contains(s.Models, model)
}

// An item is a model in a case, and its row.
type item struct {
	*Case
	Model
	row int // in the result
}

// Measure measures cases, at each GOMAXPROCS of the session. All their models run
// in turn, so that a claim may compare a model with one of another case among them.
func (b *Bench) Measure(ctx context.Context, cases ...Case) error {
	cases = b.spread(cases)
	if b.looking {
		b.see(cases)
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
		})
	}
	what := b.what(cases)
	return measure.Rounds(ctx, count, len(items), func(round, i int) error {
		b.Step(what, (round+1)*len(items)+i, (count+1)*len(items))
		sample, err := b.once(items[i], ops, round)
		if err == nil && round >= 0 {
			row := &b.Result.Rows[items[i].row]
			row.Samples = append(row.Samples, sample)
		}
		return err
	})
}

// what names cases for the one who waits for them.
func (b *Bench) what(cases []Case) string {
	what := b.Result.Experiment + " " + cases[0].Name
	if more := len(cases) - 1; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return what
}

// spread returns the cases at each GOMAXPROCS that the session is about, if it
// says so. Those at the largest keep their names.
func (b *Bench) spread(cases []Case) []Case {
	if len(b.Procs) == 0 {
		return cases
	}
	var out []Case
	for _, c := range cases {
		switch {
		case c.Processors == 0:
			out = append(out, b.atEach(c, cases)...)
		case !slices.Contains(b.Procs, c.Processors):
			b.elsewhere = append(b.elsewhere, c.Name)
		case !b.measured(c.Name):
			out = append(out, c)
		}
	}
	return out
}

// atEach is a case at each GOMAXPROCS of the session, without those that the
// experiment has in a case of its own.
func (b *Bench) atEach(c Case, others []Case) []Case {
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

// measured reports whether a case of that name was.
func (b *Bench) measured(name string) bool {
	return slices.ContainsFunc(b.Result.Cases, func(c result.Case) bool { return c.Name == name })
}

// count is how many samples are taken of each model of a case.
func (s *Session) count(c Case) int {
	byDefault := cmp.Or(c.Count, fullCount)
	if s.Quick {
		byDefault = min(byDefault, quickCount)
	}
	return cmp.Or(s.Count, byDefault)
}

// items returns the models of cases that the session is about, and makes a row
// for each.
func (b *Bench) items(cases []Case) []item {
	var items []item
	for i := range cases {
		c := &cases[i]
		if !slices.ContainsFunc(c.Models, func(m Model) bool { return b.wanted(m.Name) }) {
			continue
		}
		for _, m := range c.Models {
			if !b.wanted(m.Name) && m.Name != c.Reference {
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

// once takes one sample.
func (b *Bench) once(it item, ops, round int) (measure.Sample, error) {
	if it.Processors > 0 && it.Processors != runtime.GOMAXPROCS(0) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(it.Processors))
	}
	m := &measure.Meter{N: ops, Round: round, Peaks: it.Peaks}
	if err := it.Run(m); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", it.Case.Name, it.Model.Name, err)
	}
	return m.Sample(), nil
}

// ops finds how many operations make a sample of the right length, the same
// number for all models.
func (b *Bench) ops(ctx context.Context, fixed int, items []item) (int, error) {
	if fixed > 0 {
		return fixed, nil
	}
	fastest, slowest := 0.0, 0.0
	for i, it := range items {
		b.Step(b.Result.Experiment+" "+items[0].Case.Name+", how many make a sample", i, len(items))
		cost, err := b.cost(ctx, it)
		if err != nil {
			return 0, err
		}
		slowest = max(slowest, cost)
		if i == 0 || cost < fastest {
			fastest = cost
		}
	}
	byDefault := shortest
	if b.Quick {
		byDefault /= 5
	}
	sample := float64(cmp.Or(b.Time, byDefault))
	n := min(sample/fastest, longest*sample/slowest)
	return max(1, int(n)), nil
}

// patience is how many times as long as enough a sample must be to be believed
// the first time.
const patience = 100

// cost estimates the time of one operation, from samples of more and more. One that
// is long enough is taken again, unless that would take long: it may have been long
// because something else ran, and then there are to be more operations.
func (b *Bench) cost(ctx context.Context, it item) (ns float64, err error) {
	enough := float64(time.Millisecond)
	if b.Quick {
		enough /= 5
	}
	last := math.Inf(1) // of as many operations
	for n := 1; ; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		sample, err := b.once(it, n, -1)
		if err != nil {
			return 0, err
		}
		cost := max(sample[measure.Time], 0.1)
		least := min(cost, last)
		switch took := least * float64(n); {
		case took > patience*enough || n > 1e6:
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
