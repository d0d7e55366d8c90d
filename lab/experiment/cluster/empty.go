package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/embedded"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/errgroup"
)

// manySlots is the limit for tasks that do nothing.
const manySlots = 64

// Our conclusions about tasks that do nothing.
const (
	nearBaseline = "A task through cluster.Map takes at most a quarter more than through a hand-written loop."
	fastSubmit   = "One process sends 10,000 tasks a second to its own worker, with an embedded server."
)

// emptyTasks measures tasks that do nothing, with submitter, server and worker
// in one process.
func (z sizes) emptyTasks(ctx context.Context) experiment.Study {
	c := experiment.Case{
		Name: fmt.Sprintf("task=empty/slots=%d", manySlots),
		Doc:  "an op is a task that does nothing, with the server and the worker in the same process", Reference: nameBaseline, Ops: z.empty, Main: true,
	}
	c.Models = []experiment.Model{
		{Model: describe(nameMap), Run: func(m *measure.Meter) error { return inProcess(ctx, m) }},
		{Model: describe(nameBaseline), Run: func(m *measure.Meter) error { return baselineInProcess(ctx, m) }},
		{Model: describe(nameLocal), Run: func(m *measure.Meter) error { return locally(ctx, m, double, manySlots) }},
	}
	return experiment.One(c,
		experiment.AtMost(1.25, c.Name, nameMap, nameBaseline, nearBaseline),
		result.Claim{Case: c.Name, Model: nameMap, Unit: measure.Time, Form: result.Value, Bar: 100_000, Note: "10,000 tasks a second", Conclusion: fastSubmit})
}

// inProcess takes our sample.
func inProcess(ctx context.Context, m *measure.Meter) error {
	e, err := embedded.Open()
	if err != nil {
		return err
	}
	defer e.Close()
	task := cluster.NewTask("double/v1", double)
	e.Handle(task)
	return withWorker(ctx,
		func(ctx context.Context) error { return cluster.Serve(ctx, e, cluster.Limit(manySlots)) },
		func(ctx context.Context) error { return mapped(ctx, m, e, task) })
}

// withWorker runs a worker while it takes a sample. An error of either ends
// both.
func withWorker(ctx context.Context, work, sample func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	working, stop := context.WithCancel(ctx)
	g.Go(func() error { return work(working) })
	g.Go(func() error {
		defer stop()
		return sample(ctx)
	})
	return g.Wait()
}

// mapped takes a sample of a client whose workers are connected, or will be.
func mapped(ctx context.Context, m *measure.Meter, c *cluster.Client, task *cluster.Task[int, int]) error {
	items := numbers(m.N)
	if _, err := cluster.Map(ctx, c, task, items[:1]); err != nil { // so that the worker is ready
		return err
	}
	m.Start()
	results, err := cluster.Map(ctx, c, task, items)
	m.Stop()
	if err != nil {
		return err
	}
	return check(results, m.N)
}

// baselineInProcess takes a sample of the hand-written loop.
func baselineInProcess(ctx context.Context, m *measure.Meter) error {
	return withBaseline(ctx, func(h *baseline) error {
		return withWorker(ctx,
			func(ctx context.Context) error { return h.work(ctx, manySlots, double) },
			func(ctx context.Context) error { return h.sample(ctx, m) })
	})
}

// withBaseline calls f with a loop whose server is in this process, as that of
// embedded.Open is.
func withBaseline(ctx context.Context, f func(*baseline) error) error {
	dir, err := os.MkdirTemp("", "stint-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	srv, err := server.NewServer(&server.Options{JetStream: true, StoreDir: dir, DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		return err
	}
	srv.Start()
	defer srv.WaitForShutdown()
	defer srv.Shutdown()
	if !srv.ReadyForConnections(10 * time.Second) {
		return errors.New("the server is not ready")
	}
	nc, err := nats.Connect("", nats.InProcessServer(srv))
	if err != nil {
		return err
	}
	defer nc.Close()
	h, err := newBaseline(ctx, nc)
	if err != nil {
		return err
	}
	return f(h)
}

// sample takes a sample of a loop whose workers are connected, or will be.
func (h *baseline) sample(ctx context.Context, m *measure.Meter) error {
	items := numbers(m.N)
	if _, err := h.run(ctx, "first", items[:1]); err != nil {
		return err
	}
	m.Start()
	results, err := h.run(ctx, "all", items)
	m.Stop()
	if err != nil {
		return err
	}
	return check(results, m.N)
}

// locally takes a sample without a server.
func locally(ctx context.Context, m *measure.Meter, f func(context.Context, int) (int, error), limit int) error {
	items := numbers(m.N)
	m.Start()
	results, err := stint.Map(ctx, items, f, stint.Limit(limit))
	m.Stop()
	if err != nil {
		return err
	}
	return check(results, m.N)
}
