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
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// Experiment is the experiment run.
var Experiment = experiment.New("run",
	"stint run beside xargs, GNU parallel and others: start-up, the cost of a job, the limit that it finds, memory, a cluster",
	sizes{
		trues: 5000, gzips: 300, gzipBytes: 2e6, sleeps: 1000, sleep: 100 * time.Millisecond, mixed: 200, half: 50 * time.Millisecond,
		holders: 60, hold: 300e6, room: 2e9, holding: 500 * time.Millisecond, items: 1e6, outputs: 1000, bytes: 1e6,
		remote: 2000, remoteSamples: 6, kills: 2,
	},
	sizes{
		trues: 100, gzips: 6, gzipBytes: 1e5, sleeps: 40, sleep: 10 * time.Millisecond, mixed: 8, half: 5 * time.Millisecond,
		holders: 8, hold: 30e6, room: 2e8, holding: 20 * time.Millisecond, items: 2e4, outputs: 20, bytes: 2e5,
		remote: 100, remoteSamples: 1, kills: 1, few: true,
	}, run)

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
	kills            int           // 1: the server is killed; 2: a worker before, whose jobs wait ten seconds for another
	few              bool          // few fixed limits
	own              bool          // only stint run
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
	return s.InFolder("run", func(dir string) (*result.Result, error) {
		l := &lab{sizes: z, dir: dir, exe: filepath.Join(dir, "stint.exe"), job: filepath.Join(dir, "job.exe")} // Windows needs the extension
		if !z.own {
			l.peers = findPeers(ctx)
		}
		if err := l.build(ctx, s); err != nil {
			return nil, err
		}
		l.Bench = s.NewBench("run", "a command for every item, whole processes",
			"stint-run has no -j where the case has none: it finds its limit. jobs-N is stint run -j N.",
			"peak RSS is that of the largest process, which may be a job.")
		for _, p := range l.peers {
			l.Result.Tools = append(l.Result.Tools, p.version)
		}
		return l.Conclude(l.measure(ctx))
	})
}

// build builds stint, the jobs and the launcher.
func (l *lab) build(ctx context.Context, s *experiment.Session) (err error) {
	s.Logf("run: building stint")
	l.launcher, err = measure.NewLauncher(ctx, l.dir)
	return errors.Join(err,
		measure.Build(ctx, l.exe, "github.com/stint-go/stint/cmd/stint"),
		measure.Build(ctx, l.job, "github.com/stint-go/stint/lab/experiment/run/job"),
		os.Mkdir(l.file("parallel"), 0o777))
}

// file returns the name of a file of the experiment.
func (l *lab) file(name string) string { return filepath.Join(l.dir, name) }

// env is the environment of all processes, beside that of this one.
func (l *lab) env() []string {
	env := []string{"LC_ALL=C", "PARALLEL_HOME=" + l.file("parallel")}
	if len(l.Procs) > 0 {
		env = append(env, fmt.Sprint("GOMAXPROCS=", runtime.GOMAXPROCS(0)))
	}
	return env
}

// measure measures the rows of the table.
func (l *lab) measure(ctx context.Context) error {
	for _, rows := range l.table(ctx) {
		var cases []experiment.Case
		for _, r := range rows {
			if l.SelectsCase(r.name) && r.skip != nil {
				text := fmt.Sprintf("%s is skipped: %v", r.name, r.skip)
				l.Logf("run: %s", text)
				l.Result.Notes = append(l.Result.Notes, text+".")
				continue
			}
			if l.SelectsCase(r.name) {
				if err := l.makeItems(r); err != nil {
					return err
				}
			}
			l.Claim(r.claims...)
			cases = append(cases, l.kase(ctx, r))
		}
		if err := l.Measure(ctx, cases...); err != nil {
			return err
		}
	}
	return nil
}
