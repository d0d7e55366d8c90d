package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// The models of jobs on workers.
const (
	nameRemote = "stint-run-cluster"
	nameKilled = "stint-run-killed"
)

// survives is our conclusion about a cluster.
const survives = "On a cluster every output comes once and in order, also if a worker and the server are killed."

const (
	remoteWait  = 10 * time.Millisecond // of a job
	remoteBytes = 1000                  // that it prints
	workers     = 3
	workerJobs  = 4
	remoteLimit = 2 * time.Minute // for a run that takes seconds
)

// cluster runs jobs on workers.
func (l *lab) cluster(ctx context.Context) (experiment.Study, error) {
	name := fmt.Sprintf("cluster=%d/jobs=%d", workers, l.remote)
	it, err := l.newItems(name, l.remote, numbered)
	b := batch{items: it, command: []string{l.job, "-wait", remoteWait.String(), "-print", strconv.Itoa(remoteBytes)}, ordered: true}
	models := []experiment.Model{
		l.model(ctx, l.ours(0), b, b.failures),
		{Model: result.Ours.Model(nameRemote, fmt.Sprintf("stint run --cluster, %d workers with -j %d", workers, workerJobs)), Run: func(m *measure.Meter) error {
			return l.remotely(ctx, m, b, false)
		}},
		{Model: result.Ours.Model(nameKilled, "the same, and a worker and then the server are killed, which starts again"), Run: func(m *measure.Meter) error {
			return l.remotely(ctx, m, b, !l.spare && m.Round >= 0)
		}},
	}
	c := l.kase(name, fmt.Sprintf("%d jobs that wait for %v and print %d bytes", l.remote, remoteWait, remoteBytes), models...)
	c.Count = l.remoteSamples
	st := experiment.One(c)
	for _, m := range models {
		claim := atMost(0, measure.Failures, name, survives)
		claim.Model = m.Name
		st.Claims = append(st.Claims, claim)
	}
	return st, err
}

// failures reports how many outputs are not there once and in order.
func (b batch) failures(m *measure.Meter, output string) error {
	n, err := b.items.wrong(output, remoteBytes/(len(numbered(0))+1), true)
	m.Report(measure.Failures, float64(n))
	return err
}

// remotely runs the jobs on workers.
func (l *lab) remotely(ctx context.Context, m *measure.Meter, b batch, kill bool) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, remoteLimit, fmt.Errorf("the run has not ended after %v", remoteLimit))
	defer cancel()
	f, err := l.newFarm(ctx)
	defer f.close()
	if err != nil {
		return err
	}
	b.flags = []string{"--cluster", f.url}
	p := l.process(l.ours(0), b)
	p.Env = append(p.Env, f.token)
	killed := make(chan error, 1)
	over, stop := context.WithCancel(ctx)
	go func() {
		if kill {
			killed <- f.kill(over, int64(b.items.n)*remoteBytes)
		}
		close(killed)
	}()
	err = l.measure(ctx, m, p, b.failures)
	stop()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return errors.Join(err, <-killed)
}

// kill kills a worker when a quarter of the output is there, and the server at a half,
// which it starts again.
func (f *farm) kill(ctx context.Context, bytes int64) error {
	if err := f.printed(ctx, bytes/4); err != nil {
		return err
	}
	f.workers[0].kill()
	if err := f.printed(ctx, bytes/2); err != nil {
		return err
	}
	f.server.kill()
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
