// Package experiment defines experiments: a workload, the models that do it, a
// check that they do the same, and claims to be judged.
package experiment

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stint-go/stint/lab/result"
)

// An Experiment measures the models of one workload.
type Experiment struct {
	Name string // one lower-case word
	Doc  string // one line

	// Run measures until all rounds are done, a model fails or gives a wrong
	// result, or ctx ends. After an error the result holds what was measured
	// before it.
	Run func(ctx context.Context, s *Session) (*result.Result, error)
}

// New returns an experiment that calls run with the full or the quick sizes.
func New[S any](name, doc string, full, quick S, run func(context.Context, *Session, S) (*result.Result, error)) Experiment {
	return Experiment{Name: name, Doc: doc, Run: func(ctx context.Context, s *Session) (*result.Result, error) {
		if s.Quick {
			return run(ctx, s, quick)
		}
		return run(ctx, s, full)
	}}
}

// A Session holds the command line's settings for a run.
type Session struct {
	Quick    bool          // smaller sizes, to see that everything runs
	Count    int           // samples per model; 0: chosen by the experiment
	Time     time.Duration // of a sample, where the number of operations is free; 0: 5 ms
	Models   []string      // models to measure, with those they are compared with; none: all
	Cases    []string      // parts of the names of the cases to measure; none: all
	Procs    []int         // GOMAXPROCS to measure at, ascending; none: chosen by the experiment
	Workers  int           // goroutines of the articles' fans and pools; 0: chosen by the experiment
	Profiles string        // directory for CPU profiles; "": none
	Keep     bool          // keep the temporary directory
	Command  string        // to repeat the run
	Log      io.Writer     // messages

	// Progress, unless nil, is called before each run with what is measured,
	// how many runs are done, and how many there are.
	Progress func(label string, done, total int)

	// Known are the names of the models of the measured cases, selected or not.
	Known []string
}

// SelectsCase reports whether the session measures a case. Experiments whose
// preparations take long ask before them.
func (s *Session) SelectsCase(name string) bool {
	return len(s.Cases) == 0 || slices.ContainsFunc(s.Cases, func(part string) bool { return strings.Contains(name, part) })
}

// InFolder calls run with a temporary directory, which it then removes unless
// the session keeps it.
func (s *Session) InFolder(name string, run func(dir string) (*result.Result, error)) (r *result.Result, err error) {
	dir, err := os.MkdirTemp("", "stint-lab-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if s.Keep {
			s.Logf("%s: kept %s", name, dir)
		} else if e := os.RemoveAll(dir); err == nil {
			err = e
		}
	}()
	return run(dir)
}

// step reports progress.
func (s *Session) step(label string, done, total int) {
	if s.Progress != nil {
		s.Progress(label, done, total)
	}
}

// Logf writes one line to s.Log.
func (s *Session) Logf(format string, args ...any) {
	fmt.Fprintf(s.Log, format+"\n", args...)
}
