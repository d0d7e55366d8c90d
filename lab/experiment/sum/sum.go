// Package sum compares "stint sum" with the GNU tools: digests of all files of
// a tree, sorted by name. Each model reads the tree once before it is measured,
// so that the files are in memory, which must be large enough.
package sum

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/tree"
)

// Experiment is the experiment sum. The claims are about two processors, which
// the models use unless the session has Procs.
var Experiment = experiment.New("sum", "stint sum beside sha256sum and md5sum: "+full().String()+", whole processes",
	full(), quick(), run).WithAllModels()

// full is the tree of the claims: 800 MB in large files, and so many small ones
// that opening them matters.
func full() tree.Tree {
	return tree.Tree{Seed: 1, Large: 200, LargeSize: 4_000_000, Small: 5000, SmallMin: 1000, SmallMax: 8000}
}

// quick is a twentieth of it.
func quick() tree.Tree {
	t := full()
	t.Large /= 20
	t.Small /= 20
	return t
}

// run measures any tree.
func run(ctx context.Context, s *experiment.Session, t tree.Tree) (*result.Result, error) {
	s.Machine() // before our own work makes it busy
	tools, err := findTools(ctx)
	if err != nil {
		return nil, err
	}
	return s.InFolder("sum", func(dir string) (*result.Result, error) {
		b := &bench{Session: s, tools: tools, dir: dir, files: t.Files(), procs: processors(s), count: count(s)}
		return b.run(ctx, t)
	})
}

// count returns the number of rounds.
func count(s *experiment.Session) int {
	if s.Quick {
		return cmp.Or(s.Count, 6)
	}
	return cmp.Or(s.Count, 20)
}

// A bench is one run of the experiment.
type bench struct {
	*experiment.Session
	tools    []string // versions
	dir      string   // holds the tree, the command and the output of the last run
	procs    []int    // GOMAXPROCS, ascending
	count    int      // rounds
	files    int
	bytes    int64
	exe      string // path of stint
	launcher *measure.Launcher
	watch    measure.Watch
}

// run creates the tree, builds the command and measures.
func (b *bench) run(ctx context.Context, t tree.Tree) (*result.Result, error) {
	if err := b.prepare(ctx, t); err != nil {
		return nil, err
	}
	r := b.blank(t)
	err := b.measure(ctx, r)
	r.Machine.Others = b.watch.Others()
	if err != nil {
		r.Unfinished = err.Error()
	}
	r.Conclude(claims)
	return r, err
}

// prepare creates the tree and builds the command.
func (b *bench) prepare(ctx context.Context, t tree.Tree) error {
	b.Logf("sum: building stint")
	exe := filepath.Join(b.dir, "stint.exe") // Windows needs the extension
	if err := measure.Build(ctx, exe, "github.com/stint-go/stint/cmd/stint"); err != nil {
		return err
	}
	var err error
	if b.launcher, err = measure.NewLauncher(ctx, b.dir); err != nil {
		return err
	}
	b.exe = exe
	b.Logf("sum: making %s", t)
	b.bytes, err = t.Make(ctx, b.tree())
	return err
}

func (b *bench) tree() string { return filepath.Join(b.dir, "tree") }

// blank returns the result before measuring.
func (b *bench) blank(t tree.Tree) *result.Result {
	r := &result.Result{
		Experiment: "sum",
		Command:    b.Command,
		Workload:   fmt.Sprintf("%s, %.1f MB in all", t, float64(b.bytes)/1e6),
		Quick:      b.Quick,
		Processors: b.maxProcs(),
		Machine:    b.Machine(),
		Tools:      b.tools,
		Notes:      []string{"The GNU tools compute digests with their own code. The column user+sys shows how much of a difference is due to that, and how much to two processors."},
	}
	for _, m := range models(b.exe, b.maxProcs()) {
		r.Models = append(r.Models, m.describe(b.maxProcs()))
	}
	return r
}

// maxProcs returns the largest GOMAXPROCS.
func (b *bench) maxProcs() int { return slices.Max(b.procs) }

// processors returns Procs, or the two that the claims are about.
func processors(s *experiment.Session) []int {
	if len(s.Procs) > 0 {
		return s.Procs
	}
	return []int{2}
}

// measure runs the models of each case in turn.
func (b *bench) measure(ctx context.Context, r *result.Result) error {
	for _, alg := range algorithms {
		for _, procs := range b.procs {
			c := result.Case{Name: "alg=" + alg, Doc: "an op is a run of the process", Reference: gnu, Ops: 1, Count: b.count, Main: true}
			if procs != b.maxProcs() {
				c.Name, c.Processors = fmt.Sprintf("%s/procs=%d", c.Name, procs), procs
			}
			if err := b.kase(ctx, r, c, alg, procs); err != nil {
				return err
			}
		}
	}
	return nil
}

// kase measures one case.
func (b *bench) kase(ctx context.Context, r *result.Result, c result.Case, alg string, procs int) error {
	first, models := len(r.Rows), models(b.exe, procs)
	r.Cases = append(r.Cases, c)
	for _, m := range models {
		r.Rows = append(r.Rows, result.Row{Case: c.Name, Model: m.name})
	}
	rows := r.Rows[first:]
	var want output
	return measure.Rounds(ctx, b.count, len(models), func(round, i int) error {
		b.Step("sum "+c.Name, (round+1)*len(models)+i, (b.count+1)*len(models))
		return b.once(ctx, alg, procs, models[i], round, &want, &rows[i])
	})
}

// once runs a model once. Its output must equal the first model's in the
// warm-up.
func (b *bench) once(ctx context.Context, alg string, procs int, m model, round int, want *output, row *result.Row) error {
	file := filepath.Join(b.dir, "output")
	watched := round >= 0
	if watched {
		b.watch.Start()
	}
	usage, err := b.launcher.Run(ctx, m.process(alg, b.tree(), procs), file)
	if err != nil {
		return err
	}
	if watched {
		b.watch.Stop(&usage)
		row.Samples = append(row.Samples, usage.Sample(b.bytes))
	}
	got, err := readOutput(file)
	if err != nil {
		return err
	}
	if round < 0 && m.name == gnu {
		if got.lines != b.files {
			return fmt.Errorf("%s: %s printed %d lines for %d files", alg, m.name, got.lines, b.files)
		}
		*want = got
	}
	if diff := got.differs(*want, m.ordered); diff != "" {
		return fmt.Errorf("%s: the results of %s and %s differ: %s", alg, m.name, gnu, diff)
	}
	return nil
}
