package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/stint-go/stint/lab/child"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

const (
	remoteWait  = 10 * time.Millisecond // of a job
	remoteBytes = 1000                  // that it prints
	workers     = 3
	workerJobs  = 4
)

// cluster runs jobs on workers.
func (l *lab) cluster(ctx context.Context) row {
	r := row{
		name:  fmt.Sprintf("cluster=%d/jobs=%d", workers, l.remote),
		doc:   fmt.Sprintf("%d jobs that wait for %v and print %d bytes", l.remote, remoteWait, remoteBytes),
		tools: l.tools(nil), repeat: remoteBytes / len(numbered(0)+"\n"), counts: true, samples: l.remoteSamples,
		batch: batch{command: []string{l.job, "-wait", remoteWait.String(), "-print", strconv.Itoa(remoteBytes)}, n: l.remote, text: numbered, ordered: true},
	}
	killed := []string{"nothing is", "the server is", "a worker and then the server are"}[l.kills]
	models := []result.Model{
		result.Ours.Model("stint-run-cluster", fmt.Sprintf("stint run --cluster, %d workers with -j %d", workers, workerJobs)),
		result.Ours.Model("stint-run-killed", fmt.Sprintf("the same, and %s killed; the server starts again", killed)),
	}
	r.claims = []result.Claim{atMost(0, measure.Failures, r.name, survives)}
	for i, model := range models {
		r.more = append(r.more, experiment.Model{Model: model, Run: func(m *measure.Meter) error {
			kills := i * l.kills
			if m.Round < 0 {
				kills = 0
			}
			return l.remotely(ctx, m, r, kills)
		}})
		claim := atMost(0, measure.Failures, r.name, survives)
		claim.Model = model.Name
		r.claims = append(r.claims, claim)
	}
	return r
}

// A farm is a server with its workers.
type farm struct {
	*lab
	ctx             context.Context // ending it kills all
	dir, url, token string          // of the server
	server          *child.Process
	workers         []*child.Process
}

// remotely runs the jobs on workers.
func (l *lab) remotely(ctx context.Context, m *measure.Meter, r row, kills int) (err error) {
	const most = 2 * time.Minute
	ctx, cancel := context.WithTimeoutCause(ctx, most, fmt.Errorf("the run has not ended after %v", most))
	defer cancel()
	f := &farm{lab: l, ctx: ctx, token: "STINT_TOKEN=" + rand.Text(), url: "nats://127.0.0.1:0"}
	if f.dir, err = os.MkdirTemp(l.dir, "server-"); err != nil {
		return err
	}
	defer os.RemoveAll(f.dir) // or it goes with the folder of the experiment
	if err := f.serve(); err != nil {
		return err
	}
	defer func() { f.server.End() }()
	for range workers {
		w, err := f.start("work", "--cluster", f.url, "--run", "-j", fmt.Sprint(workerJobs))
		if err != nil {
			return err
		}
		defer w.End()
		f.workers = append(f.workers, w)
	}
	r.flags = []string{"--cluster", f.url}
	r.enter = func(p *measure.Process) (func() error, error) {
		p.Env = append(p.Env, f.token)
		killed := make(chan error, 1)
		over, stop := context.WithCancel(ctx)
		go func() { killed <- f.kill(over, kills, int64(r.n)*remoteBytes) }()
		return func() error { stop(); return <-killed }, nil
	}
	err = l.run(ctx, m, r, l.ours(0))
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return err
}

// serve starts the server.
func (f *farm) serve() (err error) {
	if f.server, err = f.start("serve", "--dir", f.dir, "--listen", strings.TrimPrefix(f.url, "nats://")); err == nil {
		f.url = f.server.Said
	}
	return err
}

// start starts stint, which is killed when this process ends, and waits for its first line,
// which has the URL of the server.
func (f *farm) start(args ...string) (*child.Process, error) {
	cmd := exec.CommandContext(f.ctx, f.job, append([]string{"-guard", f.exe}, args...)...)
	cmd.Env = append(append(os.Environ(), f.env()...), f.token)
	p, err := child.Start(cmd)
	if err == nil && !strings.Contains(p.Said, "nats://") {
		err = errors.Join(errors.New(p.Said), p.End())
	}
	if err != nil {
		return nil, fmt.Errorf("stint %s: %w", args[0], err)
	}
	return p, nil
}

// kill kills a worker when a quarter of the output is there, and the server at a half, which it
// starts again.
func (f *farm) kill(ctx context.Context, kills int, bytes int64) error {
	if kills == 0 {
		return nil
	}
	if kills > 1 {
		if err := f.printed(ctx, bytes/4); err != nil {
			return err
		}
		f.workers[0].End()
	}
	if err := f.printed(ctx, bytes/2); err != nil {
		return err
	}
	f.server.End()
	return f.serve()
}

// printed waits until there are so many bytes of output.
func (f *farm) printed(ctx context.Context, bytes int64) error {
	for ctx.Err() == nil {
		if info, err := os.Stat(f.file("output")); err == nil && info.Size() >= bytes {
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return errors.New("the run has ended before the kill")
}
