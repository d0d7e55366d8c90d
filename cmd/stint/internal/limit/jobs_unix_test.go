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

// TestJobs runs short processes under a limit, and looks at its state when each has ended.
func TestJobs(t *testing.T) {
	e, err := process.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, c := range []struct {
		n     int
		spare int64
	}{{0, 0}, {0, 1}, {1, 0}, {3, 1}, {40, 1 << 20}} {
		l := New(Jobs{n: c.n}, c.spare, nil, nil)
		var running, most, ended atomic.Int64
		job := func(context.Context, int) error {
			now := running.Add(1)
			defer running.Add(-1)
			for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
			}
			var p *process.Process
			command := &process.Command{Path: "/bin/sh", Args: []string{"sh", "-c", "exit 3"}, Env: os.Environ()}
			r, err := e.Run(command, func(it *process.Process) {
				p = it
				l.Started(p)
			})
			if err == nil && !l.Finished(p, r) && r.Exit == 3 && l.State().Limit >= 1 {
				ended.Add(1)
			}
			return err
		}
		if err := stint.Range(t.Context(), 100, job, l.Limiter()); err != nil {
			t.Error(err)
		}
		l.Close()
		if ended.Load() != 100 || c.n > 0 && most.Load() > int64(c.n) || len(l.running) > 0 {
			t.Errorf("%+v: %d jobs have ended, %d ran at once, %d run", c, ended.Load(), most.Load(), len(l.running))
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
