// Package run measures "stint run" beside xargs, GNU parallel and others of their kind:
// whole processes, whose jobs are processes too.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment run.
var Experiment = experiment.New("run", "stint run beside xargs, GNU parallel and others: start-up, the cost of a job, the limit that it finds, memory, a cluster",
	full(), quick(), run)

// sizes are smaller in quick runs and tests.
type sizes struct {
	trues            int // jobs that do nothing
	gzips, gzipBytes int // files, and the size of each
	sleeps           int // jobs that wait
	sleep            time.Duration
	mixed            int           // jobs that compute and wait
	half             time.Duration // for each of both
	holders          int           // jobs that need memory
	hold, room       int64         // for each of them, and for all
	holding          time.Duration // for so long
	items            int           // of one command, and of a dry run
	outputs, bytes   int           // jobs that print, and how much
	remote           int           // jobs on a cluster
	remoteSamples    int           // which take long
	samples          int           // of each model; six give an interval
	few              bool          // few fixed limits
	own              bool          // only stint run
	spare            bool          // no worker and no server is killed
}

func full() sizes {
	return sizes{
		trues: 5000, gzips: 300, gzipBytes: 2e6, sleeps: 1000, sleep: 100 * time.Millisecond, mixed: 200, half: 50 * time.Millisecond,
		holders: 60, hold: 300e6, room: 2e9, holding: 500 * time.Millisecond, items: 1e6, outputs: 1000, bytes: 1e6,
		remote: 2000, remoteSamples: 6, samples: 6,
	}
}

func quick() sizes {
	return sizes{
		trues: 500, gzips: 20, gzipBytes: 2e5, sleeps: 100, sleep: 20 * time.Millisecond, mixed: 20, half: 5 * time.Millisecond,
		holders: 10, hold: 30e6, room: 2e8, holding: 50 * time.Millisecond, items: 4e4, outputs: 100, bytes: 1e6,
		remote: 100, remoteSamples: 1, samples: 6, few: true,
	}
}

// A lab measures the rows of the experiment.
type lab struct {
	sizes
	*experiment.Bench
	dir      string
	exe, job string // stint, and the program of jobs
	launcher *measure.Launcher
	peers    []tool
}

func run(ctx context.Context, s *experiment.Session, z sizes) (*result.Result, error) {
	s.Machine() // before our own work makes it busy
	return s.InFolder("run", func(dir string) (*result.Result, error) {
		l := &lab{sizes: z, dir: dir, exe: filepath.Join(dir, "stint.exe"), job: filepath.Join(dir, "job.exe")} // Windows needs the extension
		if !z.own {
			l.peers = findPeers(ctx)
		}
		if !s.Listing() {
			if err := l.build(ctx, s); err != nil {
				return nil, err
			}
		}
		l.Bench = s.NewBench("run", "a command for every item, whole processes",
			"stint-run has no -j where the case has none: it finds its limit. jobs-N is stint run -j N.",
			"peak RSS is that of the largest process, which may be a job.")
		for _, p := range l.peers {
			l.Result.Tools = append(l.Result.Tools, p.version)
		}
		return l.Conclude(l.rows(ctx))
	})
}

// build builds stint, the jobs and the launcher.
func (l *lab) build(ctx context.Context, s *experiment.Session) (err error) {
	s.Logf("run: building stint")
	if err := measure.Build(ctx, l.exe, "github.com/stint-go/stint/cmd/stint"); err != nil {
		return err
	}
	if err := measure.Build(ctx, l.job, "github.com/stint-go/stint/lab/experiment/run/job"); err != nil {
		return err
	}
	if l.launcher, err = measure.NewLauncher(ctx, l.dir); err != nil {
		return err
	}
	return os.Mkdir(filepath.Join(l.dir, "parallel"), 0o777)
}

// A skipped row cannot be measured here.
type skipped struct{ error }

// rows measures one row after the other.
func (l *lab) rows(ctx context.Context) error {
	for _, row := range []func(context.Context) (experiment.Study, error){
		l.startUp, l.nothing, l.gzip, l.sleeping, l.halves, l.memory, l.arguments, l.dryRun, l.output, l.cluster,
	} {
		st, err := row(ctx)
		var skip skipped
		switch {
		case errors.As(err, &skip):
			l.Logf("run: %v", skip)
			l.Result.Notes = append(l.Result.Notes, skip.Error()+".")
			continue
		case err != nil:
			return err
		}
		l.Claim(st.Claims...)
		if err := l.Measure(ctx, st.Cases...); err != nil {
			return err
		}
	}
	return nil
}

// prepares reports whether a row needs its files: it is measured.
func (l *lab) prepares(kase string) bool { return !l.Listing() && l.SelectsCase(kase) }

// file returns the name of a file of the experiment.
func (l *lab) file(name string) string { return filepath.Join(l.dir, name) }

// env is the environment of all processes, beside that of this one.
func (l *lab) env() []string {
	env := []string{"LC_ALL=C", "PARALLEL_HOME=" + l.file("parallel")}
	if len(l.Procs) > 0 {
		env = append(env, "GOMAXPROCS="+strconv.Itoa(runtime.GOMAXPROCS(0)))
	}
	return env
}

// kase is a case with the usual settings.
func (l *lab) kase(name, doc string, models ...experiment.Model) experiment.Case {
	return experiment.Case{Name: name, Doc: "an op is a run of the process: " + doc, Reference: nameOurs, Ops: 1, Count: l.samples, Main: true, Models: models}
}

// fewer returns a part of the limits in a run with few.
func (l *lab) fewer(limits ...int) []int {
	if l.few {
		return []int{limits[1], limits[len(limits)-1]}
	}
	return limits
}

// megabytes formats a size.
func megabytes(n int64) string { return fmt.Sprintf("%dMB", n/1e6) }
