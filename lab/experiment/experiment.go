// Package experiment says what an experiment is: a workload, the models that
// do it, a check that they do the same, and claims to be judged.
package experiment

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// An Experiment measures the models of one workload.
type Experiment struct {
	Name string // one lower-case word
	Doc  string // one line that says what is measured
	Few  bool   // so few models that Session.Models does not count: all are measured

	// Run measures. It returns when all rounds are done, when a model fails or
	// gives a wrong result, or when ctx ends; in the last case the error is
	// that of ctx and the result holds what was measured until then.
	Run func(ctx context.Context, s *Session) (*result.Result, error)
}

// A Session is what the command line says about a run.
type Session struct {
	Quick   bool          // smaller sizes: to see that it runs
	Count   int           // samples of each model; 0: as many as the experiment finds right
	Time    time.Duration // of a sample, where the number of operations is free; 0: 5 ms
	Models  []string      // those to measure, besides what they are compared with; none: all
	Procs   []int         // GOMAXPROCS to measure at, ascending; none: the experiment decides
	Keep    bool          // leave the temporary folder
	Command string        // what to type for the same run
	Log     io.Writer     // remarks

	// Progress, unless nil, is told before each run what is measured, how many of
	// its runs are done, and how many there will be.
	Progress func(what string, done, total int)

	machine *measure.Machine
	looking bool     // only for the names of models: nothing is measured
	choices []string // that were found, each once
}

// Choices returns the models among which Models can choose in some experiments. It
// measures nothing, but to see the cases it makes the workloads of a quick run, and
// files too. An error is that of an experiment, or of ctx.
func (s *Session) Choices(ctx context.Context, experiments []Experiment) ([]string, error) {
	s.Machine() // before our own work makes it busy
	look := &Session{Quick: true, Procs: s.Procs, Log: io.Discard, looking: true}
	for _, e := range experiments {
		if e.Few {
			continue
		}
		if _, err := e.Run(ctx, look); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
	}
	return look.choices, nil
}

// see keeps the names of the models of cases.
func (s *Session) see(cases []Case) {
	for _, c := range cases {
		for _, m := range c.Models {
			if !slices.Contains(s.choices, m.Name) {
				s.choices = append(s.choices, m.Name)
			}
		}
	}
}

// Machine describes the machine before the first experiment of the session: the
// load of the later ones would be that of the first.
func (s *Session) Machine() measure.Machine {
	if s.machine == nil {
		here := measure.Here()
		s.machine = &here
	}
	return *s.machine
}

// processors is the largest GOMAXPROCS of the session: that of cases which do not
// say another.
func (s *Session) processors() int {
	if len(s.Procs) == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return slices.Max(s.Procs)
}

// InFolder measures in a temporary folder, which it removes unless the session is
// to keep it.
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

// Step tells where the session is, if anyone wants to know.
func (s *Session) Step(what string, done, total int) {
	if s.Progress != nil {
		s.Progress(what, done, total)
	}
}

// Logf writes one line to s.Log.
func (s *Session) Logf(format string, args ...any) {
	fmt.Fprintf(s.Log, format+"\n", args...)
}
