package cluster

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/child"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/trial"
)

func TestMain(m *testing.M) {
	if status, ok := Child(); ok {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{empty: 50, sleeping: 24, fewTasks: 20, manyTasks: 200}, trial.Want{Processors: 2, Cases: 4, Verdicts: 6})
}

// Wrong results are detected.
func TestWrong(t *testing.T) {
	for name, c := range map[string]struct {
		run   mapper
		wrong bool
	}{
		"right": {func(_ context.Context, items []int) ([]int, error) { return doubled(items), nil }, false},
		"order": {func(_ context.Context, items []int) ([]int, error) {
			r := doubled(items)
			slices.Reverse(r)
			return r, nil
		}, true},
		"few": {func(_ context.Context, items []int) ([]int, error) { return doubled(items)[1:], nil }, true},
	} {
		if err := c.run.sample(t.Context(), &measure.Meter{N: 3}); (err != nil) != c.wrong {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func doubled(items []int) []int {
	out := slices.Clone(items)
	for i := range out {
		out[i] *= 2
	}
	return out
}

// A failing worker ends the sample, in this process and in others, and its error is returned.
func TestFailureEndsTheSample(t *testing.T) {
	wrong := errors.New("wrong")
	fails := func(context.Context, int) (int, error) { return 0, wrong }
	if err := inOneProcess(t.Context(), &measure.Meter{N: 10}, byHand, fails); !errors.Is(err, wrong) {
		t.Errorf("the loop by hand returned %v", err)
	}
	t.Setenv("TMPDIR", t.TempDir())                                                // a killed server leaves a directory
	roles := []role{{Name: "submitter", Tasks: 1e9}, {Name: ours.Name, Slots: -1}} // a limit that panics
	_, err := withChildren(t.Context(), roles, func(_ context.Context, all []*child.Process) error {
		<-all[1].Ended
		return nil
	})
	if err == nil || !strings.HasPrefix(err.Error(), ours.Name+": ") {
		t.Errorf("the processes returned %v", err)
	}
}

// The end of the context ends all processes, and is the error.
func TestInterrupt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	_, err := withChildren(ctx, []role{{Name: "submitter", Tasks: 1}}, func(_ context.Context, all []*child.Process) error {
		cancel()
		<-all[1].Ended // it has no worker
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
