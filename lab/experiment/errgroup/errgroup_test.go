package errgroup

import (
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{tasks: 200, sleepers: 300}, trial.Want{Processors: 1, Cases: 13, Verdicts: 28}, trial.Want{Processors: 2, Cases: 13, Verdicts: 28})
}

// A group that loses a task, runs one twice or loses the error is detected.
func TestCheck(t *testing.T) {
	sh := shape{tasks: 10}
	for _, g := range groups {
		if err := sh.check(g); err != nil {
			t.Error(err)
		}
	}
	for name, run := range map[string]func(limit, tasks int, f func() error) error{
		"loses a task": func(limit, tasks int, f func() error) error { return groups[0].run(limit, tasks-1, f) },
		"one more":     func(limit, tasks int, f func() error) error { return groups[0].run(limit, tasks+1, f) },
		"no error":     func(limit, tasks int, f func() error) error { groups[0].run(limit, tasks, f); return nil },
	} {
		if err := sh.check(group{run: run}); err == nil || !strings.Contains(err.Error(), "tasks=10") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
