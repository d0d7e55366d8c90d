//go:build unix

package limit

import (
	"context"
	"os"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

// A runner runs short processes under a limit.
type runner struct {
	*Limit
	engine         *process.Engine
	running, ended atomic.Int64
	most           atomic.Int64 // that ran at once
}

// job runs a process, and looks at the state of the limit when it has ended.
func (r *runner) job(context.Context) error {
	now := r.running.Add(1)
	defer r.running.Add(-1)
	for old := r.most.Load(); now > old && !r.most.CompareAndSwap(old, now); old = r.most.Load() {
	}
	var p *process.Process
	command := &process.Command{Path: "/bin/sh", Args: []string{"sh", "-c", "exit 3"}, Env: os.Environ()}
	result, err := r.engine.Run(command, func(it *process.Process) {
		p = it
		r.Started(p)
	})
	if err != nil {
		return err
	}
	if r.Finished(p, result); result.Exit == 3 && r.State().Limit >= 1 {
		r.ended.Add(1)
	}
	return nil
}

func TestJobs(t *testing.T) {
	e, err := process.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, c := range []struct {
		n     int
		spare int64
	}{{0, 0}, {0, 1}, {1, 0}, {3, 0}, {3, 1}, {40, 1 << 20}} {
		r := &runner{Limit: New(Jobs{n: c.n}, c.spare, nil, nil), engine: e}
		job := func(ctx context.Context, _ int) error { return r.job(ctx) }
		if err := stint.Range(t.Context(), 100, job, r.Limiter()); err != nil {
			t.Error(err)
		}
		r.Close()
		if r.ended.Load() != 100 || c.n > 0 && r.most.Load() > int64(c.n) {
			t.Errorf("%+v: %d jobs have ended, %d ran at once", c, r.ended.Load(), r.most.Load())
		}
		if len(r.Limit.running) > 0 || r.demand.life <= 0 {
			t.Errorf("%+v: %d run, %+v", c, len(r.Limit.running), r.demand)
		}
	}
}

// TestSensorsOfJob looks at a process that computes until it is seen.
func TestSensorsOfJob(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not say what processes use")
	}
	e, err := process.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	l := New(Jobs{}, 0, nil, nil)
	defer l.Close()
	command := &process.Command{Path: "/bin/sh", Args: []string{"sh", "-c", "while :; do :; done"}}
	r, err := e.Run(command, func(p *process.Process) {
		l.Started(p)
		go func() {
			defer p.Kill()
			for used := 0.0; used == 0; {
				l.mu.Lock()
				used = l.demand.wall
				l.mu.Unlock()
			}
		}()
	})
	if err != nil || r.Signal == 0 {
		t.Errorf("%+v, %v", r, err)
	}
}
