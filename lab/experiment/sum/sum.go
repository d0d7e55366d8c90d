// Package sum compares "stint sum" with the GNU tools: digests of all files of
// a tree, sorted by name. Each model reads the tree once before it is measured,
// so that the files are in memory, which must be large enough.
package sum

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/tree"
)

// Experiment is the experiment sum. The claims are about two processors, which
// the models use unless the session has Procs.
var Experiment = experiment.New("sum", "stint sum beside sha256sum and md5sum: "+full.String()+", whole processes", full, quick, run)

// full is the tree of the claims: 800 MB in large files, and so many small ones
// that opening them matters. quick is a twentieth of it.
var (
	full  = tree.Tree{Seed: 1, Large: 200, LargeSize: 4_000_000, Small: 5000, SmallMin: 1000, SmallMax: 8000}
	quick = tree.Tree{Seed: 1, Large: 10, LargeSize: 4_000_000, Small: 250, SmallMin: 1000, SmallMax: 8000}
)

// The models. The others are compared with the first.
const (
	gnu         = "gnu"
	gnuParallel = "gnu-parallel"
	stint       = "stint"
)

// run measures any tree.
func run(ctx context.Context, s *experiment.Session, t tree.Tree) (*result.Result, error) {
	versions, err := tools(ctx)
	if err != nil {
		return nil, err
	}
	own := *s
	own.Models = nil
	if len(own.Procs) == 0 {
		own.Procs = []int{2}
	}
	return s.InFolder("sum", func(dir string) (*result.Result, error) {
		s.Logf("sum: building stint and making %s", t)
		w := &workload{dir: dir, files: t.Files(), stint: filepath.Join(dir, "stint.exe")} // Windows needs the extension
		if err := measure.Build(ctx, w.stint, "github.com/stint-go/stint/cmd/stint"); err != nil {
			return nil, err
		}
		if w.launcher, err = measure.NewLauncher(ctx, dir); err != nil {
			return nil, err
		}
		if w.bytes, err = t.Make(ctx, w.tree()); err != nil {
			return nil, err
		}
		b := own.NewBench("sum", fmt.Sprintf("%s, %.1f MB in all", t, float64(w.bytes)/1e6),
			"The GNU tools compute digests with their own code. The column user+sys shows how much of a difference is due to that, and how much to two processors.",
			"GOMAXPROCS is the number of processors of the case, in the environment of all models.")
		b.Result.Tools = versions
		return b.Run(ctx, experiment.One(w.kase(ctx, "sha256"), claims("sha256", 4)...), experiment.One(w.kase(ctx, "md5"), claims("md5", 1.85)...))
	})
}

// claims returns the claims about the full tree on two processors.
func claims(alg string, bar float64) []result.Claim {
	than := func(peer string, bar float64, conclusion string) result.Claim {
		return result.Claim{Case: "alg=" + alg, Model: stint, Unit: measure.Time, Form: result.Speedup, Than: peer, Bar: bar, Conclusion: conclusion}
	}
	return []result.Claim{
		than(gnu, bar, "On two processors stint sum is faster than the GNU tools, one file after the other, and its lines are in order."),
		than(gnuParallel, 1, "On two processors stint sum is faster than two concurrent GNU tools, whose lines are in any order."),
	}
}

// A workload is the tree, the command and the output of the last run.
type workload struct {
	dir      string
	files    int
	bytes    int64
	stint    string // path of the command
	launcher *measure.Launcher
}

func (w *workload) tree() string { return filepath.Join(w.dir, "tree") }

// kase compares the models with one algorithm. The GNU models also find and
// sort the files, as stint does.
func (w *workload) kase(ctx context.Context, alg string) experiment.Case {
	c := experiment.Case{Name: "alg=" + alg, Doc: "an op is a run of the process", Reference: gnu, Ops: 1, Main: true}
	var want []byte // the output of the first model in the warm-up
	add := func(name string, kind result.Kind, ordered bool, args ...string) {
		doc := strings.NewReplacer("sh -c ", "", w.stint, "stint", alg, "ALG").Replace(strings.Join(args, " "))
		if !ordered {
			doc += " (its lines come in any order)"
		}
		c.Models = append(c.Models, experiment.Model{Model: kind.Model(name, doc), Run: func(m *measure.Meter) error {
			got, err := w.run(ctx, m, args)
			if err != nil {
				return err
			}
			if m.Round < 0 && name == gnu {
				want = got
				if lines := bytes.Count(got, []byte("\n")); lines != w.files {
					return fmt.Errorf("%d lines for %d files", lines, w.files)
				}
			}
			return compare(got, want, ordered)
		}})
	}
	const pipe = "find . -type f -print0 | sort -z | "
	add(gnu, result.Peer, true, "sh", "-c", pipe+"xargs -0 "+alg+"sum")
	add(gnuParallel, result.Peer, false, "sh", "-c", pipe+"xargs -0 -P $GOMAXPROCS -n 64 "+alg+"sum")
	add(stint, result.Ours, true, w.stint, "sum", "-a", alg, ".")
	return c
}

// compare returns an error if a model did not print the lines that it should.
func compare(got, want []byte, ordered bool) error {
	sorted := func(text []byte) []byte { return bytes.Join(slices.SortedFunc(bytes.Lines(text), bytes.Compare), nil) }
	switch {
	case bytes.Equal(got, want):
		return nil
	case !bytes.Equal(sorted(got), sorted(want)):
		return fmt.Errorf("other lines than those of %s", gnu)
	case ordered:
		return fmt.Errorf("the lines of %s in another order", gnu)
	}
	return nil
}

// run runs a process on GOMAXPROCS processors and returns its output.
func (w *workload) run(ctx context.Context, m *measure.Meter, args []string) ([]byte, error) {
	file := filepath.Join(w.dir, "output")
	env := []string{"LC_ALL=C", "GOMAXPROCS=" + strconv.Itoa(runtime.GOMAXPROCS(0))}
	usage, err := w.launcher.Run(ctx, measure.Process{Args: args, Dir: w.tree(), Env: env}, file)
	if err != nil {
		return nil, err
	}
	for unit, v := range usage.Sample(w.bytes) {
		m.Report(unit, v)
	}
	return os.ReadFile(file)
}

// tools checks that the GNU tools are installed, and returns a line with the
// version of each package.
func tools(ctx context.Context) (versions []string, err error) {
	for _, of := range []struct{ tool, pkg string }{
		{"sha256sum", "GNU coreutils"}, {"md5sum", "GNU coreutils"}, {"sort", "GNU coreutils"}, {"find", "GNU findutils"}, {"xargs", "GNU findutils"},
	} {
		out, err := exec.CommandContext(ctx, of.tool, "--version").Output()
		line, _, _ := strings.Cut(string(out), "\n")
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || !strings.Contains(line, of.pkg) {
			return nil, fmt.Errorf("%s of %s not found, there is nothing to compare with: "+
				"install coreutils and findutils (on macOS and BSD also put the directories of their unprefixed names first in PATH)", of.tool, of.pkg)
		}
		if of.tool == "sha256sum" || of.tool == "find" {
			versions = append(versions, line)
		}
	}
	return versions, nil
}
