package experiment

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"

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
	quickSampleTime = time.Millisecond
	maxSampleFactor = 20
)

// A Bench measures the cases of one experiment in this process.
type Bench struct {
	*Session
	Result *result.Result

	claims      []result.Claim
	watch       measure.Watch
	cpuBefore   time.Duration // usedCPU at the start
	began       time.Time
	procsBefore int // GOMAXPROCS before
}

// NewBench starts an experiment. Conclude must follow.
func (s *Session) NewBench(name, workload string, notes ...string) *Bench {
	b := &Bench{Session: s, procsBefore: runtime.GOMAXPROCS(0), Result: &result.Result{
		Experiment: name, Command: s.Command, Workload: workload, Quick: s.Quick, Machine: measure.Here(), Notes: notes,
	}}
	if len(s.Procs) > 0 {
		runtime.GOMAXPROCS(slices.Max(s.Procs))
	}
	b.Result.Processors = runtime.GOMAXPROCS(0)
	b.cpuBefore, b.began = usedCPU(), time.Now()
	b.watch.Start()
	return b
}

// usedCPU returns the CPU time of this process and of its ended children.
func usedCPU() time.Duration {
	own, _ := measure.OwnCPU() // known wherever a Watch knows anything
	return own + measure.ChildCPU()
}

// Claim adds claims to be judged at the end.
func (b *Bench) Claim(claims ...result.Claim) { b.claims = append(b.claims, claims...) }

// Conclude ends the experiment and returns its result and err.
func (b *Bench) Conclude(err error) (*result.Result, error) {
	runtime.GOMAXPROCS(b.procsBefore)
	b.watch.Stop(&measure.Usage{Wall: time.Since(b.began), CPU: usedCPU() - b.cpuBefore})
	b.Result.Machine.Others = b.watch.Others()
	if err != nil {
		b.Result.Unfinished = err.Error()
	}
	b.Result.Conclude(b.claims)
	if len(b.Models)+len(b.Cases)+len(b.Procs) > 0 { // claims about what the session does not select say nothing
		b.Result.Verdicts = slices.DeleteFunc(b.Result.Verdicts, func(v result.Verdict) bool {
			return v.Figures.N == 0 || len(b.Models) > 0 && v.IsBest()
		})
	}
	return b.Result, err
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
	cases = slices.DeleteFunc(b.atEachProcs(cases), func(c Case) bool { return !b.SelectsCase(c.Name) })
	items := b.items(cases)
	if len(items) == 0 {
		return ctx.Err()
	}
	label := b.Result.Experiment + " " + cases[0].Name
	if more := len(cases) - 1; more > 0 {
		label += fmt.Sprintf(" and %d more", more)
	}
	ops, err := b.ops(ctx, label, cases[0].Ops, items)
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
	warmup := ops
	switch {
	case !b.Quick:
	case cases[0].Ops == 0:
		warmup = 0 // choosing the number of operations has warmed up
	default:
		warmup = max(1, ops/10) // a quick run has no time for more
	}
	return b.rounds(ctx, label, items, warmup, ops, count)
}

// rounds runs the models in turn, 0 1 2 0 1 2 and so on, so that changes of the machine
// affect all of them: first a warm-up round, numbered -1, unless it has no operations, then
// count rounds. It stops at the first error, or between two runs when ctx ends.
func (b *Bench) rounds(ctx context.Context, label string, items []item, warmup, ops, count int) error {
	for round := -1; round < count; round++ {
		n := ops
		if round < 0 {
			n = warmup
		}
		if n == 0 {
			continue
		}
		for i, it := range items {
			if err := ctx.Err(); err != nil {
				return err
			}
			b.step(label, (round+1)*len(items)+i, (count+1)*len(items))
			sample, err := b.sample(it, n, round)
			if err != nil {
				return err
			}
			if row := &b.Result.Rows[it.row]; round >= 0 {
				row.Samples = append(row.Samples, sample)
			}
		}
	}
	return nil
}

// atEachProcs returns the cases at each GOMAXPROCS of the session, if it has
// any, each once. Cases at the largest keep their names.
func (b *Bench) atEachProcs(cases []Case) []Case {
	if len(b.Procs) == 0 {
		return slices.Clone(cases)
	}
	var out []Case
	for _, c := range cases {
		for _, procs := range b.Procs {
			one := c
			switch {
			case c.Processors == 0 && procs != b.Result.Processors:
				one.Name, one.Processors = fmt.Sprintf("%s/procs=%d", c.Name, procs), procs
			case c.Processors != 0 && procs != c.Processors:
				continue
			}
			planned := slices.ContainsFunc(out, func(o Case) bool { return o.Name == one.Name })
			measured := slices.ContainsFunc(b.Result.Cases, func(o result.Case) bool { return o.Name == one.Name })
			if !planned && !measured {
				out = append(out, one)
			}
		}
	}
	return out
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
	selected := func(m Model) bool { return len(b.Models) == 0 || slices.Contains(b.Models, m.Name) }
	var items []item
	for i := range cases {
		c := &cases[i]
		for _, m := range c.Models {
			if !slices.Contains(b.Known, m.Name) {
				b.Known = append(b.Known, m.Name)
			}
			if !selected(m) && (m.Name != c.Reference || !slices.ContainsFunc(c.Models, selected)) {
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

// sample takes one sample, and with the first that counts a profile if the session asks
// for it.
func (b *Bench) sample(it item, ops, round int) (measure.Sample, error) {
	if it.Processors > 0 && it.Processors != runtime.GOMAXPROCS(0) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(it.Processors))
	}
	if it.NoGC {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
	}
	m := &measure.Meter{N: ops, Round: round, Peaks: it.Peaks, Scheduling: it.Scheduling}
	var profile bytes.Buffer
	if b.Profiles != "" && round == 0 {
		m.Profile = &profile
	}
	err := it.Run(m)
	if err == nil && profile.Len() > 0 { // a model that measures processes has none
		dir := filepath.Join(b.Profiles, b.Result.Experiment, fileName(it.Case.Name))
		err = cmp.Or(os.MkdirAll(dir, 0o777), os.WriteFile(filepath.Join(dir, fileName(it.Model.Name)+".pprof"), profile.Bytes(), 0o666))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", it.Case.Name, it.Model.Name, err)
	}
	return m.Sample(), nil
}

// fileName replaces what a file's name may not have on every system.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("=-.,+", r) {
			return r
		}
		return '_'
	}, name)
}

// ops returns the number of operations per sample, the same for all models.
func (b *Bench) ops(ctx context.Context, label string, fixed int, items []item) (int, error) {
	if fixed > 0 {
		return fixed, nil
	}
	byDefault := minSampleTime
	if b.Quick {
		byDefault = quickSampleTime
	}
	fastest, slowest := math.Inf(1), 0.0
	for i, it := range items {
		b.step(label+", choosing the sample size", i, len(items))
		cost, err := b.cost(ctx, it, float64(byDefault/5))
		if err != nil {
			return 0, err
		}
		fastest, slowest = min(fastest, cost), max(slowest, cost)
	}
	sample := float64(cmp.Or(b.Time, byDefault))
	return max(1, int(min(sample/fastest, maxSampleFactor*sample/slowest))), nil
}

// trustedFactor is how many times as long as required a sample must be to be
// trusted at once.
const trustedFactor = 100

// cost estimates the time of one operation from samples of growing size. It repeats the
// first sample that is long enough, unless that would take long: another program may have
// slowed the sample, so that more operations are needed. A quick run does not repeat it.
func (b *Bench) cost(ctx context.Context, it item, enough float64) (ns float64, err error) {
	for n, last := 1, math.Inf(1); ; { // last: with the same number of operations
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
		case took > trustedFactor*enough || n > 1e6 || took > enough && (b.Quick || last < math.Inf(1)):
			return least, nil
		case took > enough:
			last = cost
		default:
			n, last = 8*n, math.Inf(1)
		}
	}
}
