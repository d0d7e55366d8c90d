package cluster

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

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
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		results []int
		wrong   bool
	}{{[]int{0, 2, 4}, false}, {[]int{0, 2}, true}, {[]int{0, 2, 4, 6}, true}, {[]int{0, 4, 2}, true}, {nil, true}} {
		if err := check(c.results, 3); (err != nil) != c.wrong {
			t.Errorf("%v: %v", c.results, err)
		}
	}
}

// A failing worker ends the sample, in process and in other processes.
func TestFailureEndsTheSample(t *testing.T) {
	wrong := errors.New("wrong")
	err := withBaseline(t.Context(), func(h *baseline) error {
		return withWorker(t.Context(),
			func(ctx context.Context) error {
				return h.work(ctx, 2, func(context.Context, int) (int, error) { return 0, wrong })
			},
			func(ctx context.Context) error { return h.sample(ctx, &measure.Meter{N: 10}) })
	})
	if !errors.Is(err, wrong) {
		t.Errorf("the loop by hand returned %v", err)
	}

	t.Setenv("TMPDIR", t.TempDir()) // a killed server leaves a directory
	c, err := newProcesses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	worker, err := c.add(child{Role: "worker", Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	submitter, err := c.add(child{Role: "submitter", Tasks: 1e9})
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-submitter.ended
	if _, err := c.end(nil); err == nil || !strings.HasPrefix(err.Error(), "worker: ") {
		t.Errorf("the processes returned %v", err)
	}
}

// The error of a child includes its message.
func TestMemberThatCannotStart(t *testing.T) {
	c, err := newProcesses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []struct {
		child
		says string
	}{
		{child{Role: "nobody"}, "unknown role"},
		{child{Role: "server", URL: "x"}, ""},
	} {
		_, err := c.add(m.child)
		if err == nil != (m.says == "") || err != nil && !strings.Contains(err.Error(), m.says) {
			t.Errorf("%s: got %v, want %q", m.Role, err, m.says)
		}
	}
	if samples, err := c.end(nil); err != nil || len(samples) != 2 || samples[1][measure.PeakMemory] == 0 {
		t.Errorf("got %v, %v, want two samples with a peak", samples, err)
	}
}

// The end of the context ends all processes, and is the error.
func TestInterrupt(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	c, err := newProcesses(ctx)
	if err != nil {
		t.Fatal(err)
	}
	submitter, err := c.add(child{Role: "submitter", Tasks: 1}) // it has no worker
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-submitter.ended
	if _, err := c.end(nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := inSeparateProcesses(ctx, new(measure.Meter), 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a sample after the end: got %v, want %v", err, context.Canceled)
	}
}
