//go:build unix

package limit

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

// TestJobs runs short processes under a limit, as a runner does, and looks at its state
// meanwhile.
func TestJobs(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	e, err := process.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, c := range []struct {
		n     int
		spare int64
	}{{0, 0}, {0, 1}, {1, 0}, {3, 0}, {3, 1}, {40, 1 << 20}} {
		l := New(c.n, c.spare)
		var running, most, ended atomic.Int64
		job := func(ctx context.Context, i int) error {
			return l.Run(ctx, func(context.Context) error {
				now := running.Add(1)
				defer running.Add(-1)
				for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
				}
				var p *process.Process
				command := &process.Command{Path: sh, Args: []string{"sh", "-c", "exit 3"}, Env: os.Environ()}
				r, err := e.Run(command, func(it *process.Process) {
					p = it
					l.Started(p)
				})
				if l.Finished(p, r); r.Exit == 3 {
					ended.Add(1)
				}
				if s := l.State(); s.Limit < 1 {
					t.Errorf("%+v", s)
				}
				return err
			})
		}
		if err := stint.Range(t.Context(), 100, job, l.Limiter()); err != nil {
			t.Error(err)
		}
		l.Close()
		if ended.Load() != 100 || len(l.running) > 0 || c.n > 0 && most.Load() > int64(c.n) || l.demand.life <= 0 {
			t.Errorf("%+v: %d jobs have ended, %d at once, %d run, %+v", c, ended.Load(), most.Load(), len(l.running), l.demand)
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
	l := New(0, 0)
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
