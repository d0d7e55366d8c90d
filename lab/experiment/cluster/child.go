package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/embedded"
	"github.com/stint-go/stint/lab/child"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/errgroup"
)

// A role describes one process of a sample: this program, started again.
type role struct {
	Name  string // server, submitter, or the model of a worker
	URL   string // of the server
	Slots int    // of a worker
	Sleep bool   // its tasks do
	Tasks int    // of a submitter
}

// childVar is the environment variable that holds a role.
const childVar = "STINT_LAB_CHILD"

// Child runs this process as a child, if it was started as one, and returns its
// exit status. Programs that run the experiment call it first.
func Child() (status int, ok bool) { return child.Main(childVar, play) }

// play does what the role says until it is done or ctx ends, and prints its sample.
func play(ctx context.Context, r role, say func(line string)) error {
	meter := &measure.Meter{N: 1, Peaks: true}
	meter.Start()
	var err error
	switch {
	case r.Name == "server":
		err = withServer(func(url string) error {
			say(url)
			<-ctx.Done()
			return nil
		})
	case r.Name == "submitter":
		err = r.submit(ctx, say)
	default:
		err = r.work(ctx, say)
	}
	meter.Stop()
	text, _ := json.Marshal(meter.Sample())
	say(string(text))
	return err
}

// withServer calls f while a server runs in this process.
func withServer(f func(url string) error) error {
	e, err := embedded.Open(embedded.Listen("127.0.0.1:0", nil))
	if err != nil {
		return err
	}
	return errors.Join(f(e.URL()), e.Close())
}

// work runs a worker.
func (r role) work(ctx context.Context, say func(string)) error {
	f := double(0)
	if r.Sleep {
		f = double(sleepTime)
	}
	s, err := open(ctx, r.Name, r.URL, f)
	if err != nil {
		return err
	}
	defer s.close()
	say("")
	return s.work(ctx, r.Slots)
}

// submit runs our submitter, which holds neither items nor results.
func (r role) submit(ctx context.Context, say func(string)) error {
	e, err := cluster.Connect(ctx, r.URL)
	if err != nil {
		return err
	}
	defer e.Close()
	say("")
	items := func(yield func(int) bool) {
		for i := 0; i < r.Tasks && yield(i); i++ {
		}
	}
	n := 0
	for v, err := range cluster.MapSeq(ctx, e, cluster.NewTask(taskName, double(0)), items) {
		if err != nil {
			return err
		}
		if v != 2*n {
			return fmt.Errorf("result %d is %d", n, v)
		}
		n++
	}
	if n != r.Tasks {
		return fmt.Errorf("%d results of %d tasks", n, r.Tasks)
	}
	return nil
}

// A system is a connection to a server: it submits tasks, or is a worker until ctx ends.
type system struct {
	run   mapper
	work  func(ctx context.Context, slots int) error
	close func()
}

const taskName = "double/v1"

// open connects a model to a server.
func open(ctx context.Context, model, url string, f task) (system, error) {
	if model == byHand.Name {
		return openLoop(ctx, url, f)
	}
	c, err := cluster.Connect(ctx, url)
	if err != nil {
		return system{}, err
	}
	t := cluster.NewTask(taskName, f)
	c.Handle(t)
	return system{
		run:   func(ctx context.Context, items []int) ([]int, error) { return cluster.Map(ctx, c, t, items) },
		work:  func(ctx context.Context, slots int) error { return cluster.Serve(ctx, c, cluster.Limit(slots)) },
		close: func() { c.Close() },
	}, nil
}

// inOneProcess takes a sample of a model whose server and worker are in this process. An error
// of the worker ends it.
func inOneProcess(ctx context.Context, m *measure.Meter, model result.Model, f task) error {
	return withServer(func(url string) error {
		s, err := open(ctx, model.Name, url, f)
		if err != nil {
			return err
		}
		defer s.close()
		g, ctx := errgroup.WithContext(ctx)
		working, stop := context.WithCancel(ctx)
		g.Go(func() error { return s.work(working, manySlots) })
		g.Go(func() error {
			defer stop()
			return s.run.sample(ctx, m)
		})
		return g.Wait()
	})
}

// onWorkers takes a sample of a model with sleeping tasks on several workers.
func onWorkers(ctx context.Context, m *measure.Meter, model result.Model) error {
	workers := slices.Repeat([]role{{Name: model.Name, Slots: fewSlots, Sleep: true}}, workerProcs)
	_, err := withChildren(ctx, workers, func(ctx context.Context, all []*child.Process) error {
		s, err := open(ctx, model.Name, all[0].Said, double(sleepTime))
		if err != nil {
			return err
		}
		defer s.close()
		return s.run.sample(ctx, m)
	})
	return err
}

// inSeparateProcesses takes a sample of a run in several processes.
func inSeparateProcesses(ctx context.Context, m *measure.Meter, tasks int) error {
	roles := []role{{Name: oursSeq.Name, Slots: manySlots}, {Name: "submitter", Tasks: tasks}}
	samples, err := withChildren(ctx, roles, func(_ context.Context, all []*child.Process) error {
		<-all[2].Ended // the submitter ends by itself
		return nil
	})
	if err != nil {
		return err
	}
	m.Report(measure.Time, samples[2][measure.Time])
	for i, unit := range []measure.Unit{measure.ServerPeak, measure.WorkerPeak, measure.SubmitterPeak} {
		m.Report(unit, samples[i][measure.PeakMemory])
	}
	return nil
}

// withChildren calls f while a server, the first child, and children of some roles run, and
// returns their samples. When one fails, all are killed, and the context of f ends.
func withChildren(ctx context.Context, roles []role, f func(context.Context, []*child.Process) error) ([]measure.Sample, error) {
	g, inner := errgroup.WithContext(ctx)
	var all []*child.Process
	var err error
	for _, r := range append([]role{{Name: "server"}}, roles...) {
		if len(all) > 0 {
			r.URL = all[0].Said
		}
		var p *child.Process
		if p, err = r.start(inner); err != nil {
			break
		}
		all = append(all, p)
		g.Go(func() error {
			if <-p.Ended; p.Err != nil {
				return fmt.Errorf("%s: %w", r.Name, p.Err)
			}
			return nil
		})
	}
	if err == nil {
		err = f(inner, all)
	}
	samples := make([]measure.Sample, len(all))
	for i, p := range slices.Backward(all) { // the server last
		if p.End() == nil {
			err = errors.Join(err, json.Unmarshal(p.Rest, &samples[i]))
		}
	}
	if failed := g.Wait(); failed != nil {
		err = failed
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return samples, err
}

// start starts a child and waits until it is ready.
func (r role) start(ctx context.Context) (*child.Process, error) {
	cmd, err := child.Again(ctx, childVar, r)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, fmt.Sprint("GOMAXPROCS=", runtime.GOMAXPROCS(0)))
	return child.Start(cmd)
}
