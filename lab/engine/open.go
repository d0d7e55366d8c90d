package engine

import (
	"context"
	"sync"
	"time"

	"github.com/alitto/pond/v2"
	"github.com/bytedance/gopkg/util/gopool"
	"github.com/gammazero/workerpool"
	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/pool"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/errgroup"
)

// The default pool that ants creates on import runs a clock, which would tick
// during all other measurements.
func init() { ants.Release() }

// Opens returns the open-ended engines, stint's last.
func Opens() []Open {
	return []Open{Goroutines(), Semaphore(), Channel(), Errgroup(), Conc(), Ants(), Pond(), Gopool(), Workerpool(), Pool(), Group()}
}

// Reused returns an engine that is kept although its own wait ends it: it waits for tasks
// by a sync.WaitGroup.
func Reused(o Open) Open {
	of := o.New
	o.Name, o.Doc, o.Kept = o.Name+"-reused", o.Doc+"; kept, and a sync.WaitGroup", true
	o.New = func(limit int, t Task) Engine {
		c := count(t.Plain)
		x := of(limit, TaskOf(c.f))
		return &adapter{tasks: c, start: func() { x.Go(1) }, close: func() { x.Wait(); x.Close() }}
	}
	return o
}

// open returns a function that returns an engine.
func open(k result.Kind, name, doc string, start func(limit int, t Task) *adapter, traits ...func(*Open)) func() Open {
	o := Open{Model: k.Model(name, doc), New: func(limit int, t Task) Engine { return start(limit, t) }}
	for _, t := range traits {
		t(&o)
	}
	return func() Open { return o }
}

func kept(o *Open)      { o.Kept = true }
func unbounded(o *Open) { o.Unbounded = true }

// The open-ended engines. Those that are kept and have no wait use a sync.WaitGroup.
var (
	Goroutines = open(result.Peer, "goroutines", "go f() and a sync.WaitGroup, no limit", func(_ int, t Task) *adapter {
		c := count(t.Plain)
		return &adapter{tasks: c, start: func() { go c.f() }}
	}, kept, unbounded)

	Semaphore = open(result.Peer, "semaphore", "go f() behind a channel with limit slots", func(limit int, t Task) *adapter {
		slots := make(chan struct{}, limit)
		c := count(func() {
			defer func() { <-slots }()
			t.Plain()
		})
		return &adapter{tasks: c, start: func() { slots <- struct{}{}; go c.f() }}
	})

	Channel = open(result.Peer, "channel", "limit goroutines, started first, on a channel of 1,024 functions", func(limit int, t Task) *adapter {
		var wg sync.WaitGroup
		tasks := make(chan func(), 1024)
		for range limit {
			wg.Go(func() {
				for f := range tasks {
					f()
				}
			})
		}
		return &adapter{start: func() { tasks <- t.Plain }, wait: func() { close(tasks); wg.Wait() }}
	})

	Errgroup = open(result.Peer, "errgroup", "x/sync v0.24.0, errgroup.SetLimit", func(limit int, t Task) *adapter {
		g, f := new(errgroup.Group), func() error { t.Plain(); return nil }
		g.SetLimit(limit)
		return &adapter{start: func() { g.Go(f) }, wait: func() { must(g.Wait()) }}
	})

	Conc = open(result.Peer, "conc", "sourcegraph/conc v0.3.0, pool.New().WithMaxGoroutines", func(limit int, t Task) *adapter {
		p := pool.New().WithMaxGoroutines(limit)
		return &adapter{start: func() { p.Go(t.Plain) }, wait: p.Wait}
	})

	// Closing it waits for the workers, to keep them out of the next measurement.
	Ants = open(result.Peer, "ants", "panjf2000/ants/v2 v2.12.1, NewPool with an expiry of 10 s, and a sync.WaitGroup", func(limit int, t Task) *adapter {
		c := count(t.Plain)
		p, err := ants.NewPool(limit, ants.WithExpiryDuration(10*time.Second))
		must(err)
		return &adapter{tasks: c, start: func() { must(p.Submit(c.f)) }, close: func() { must(p.ReleaseTimeout(time.Minute)) }}
	}, kept)

	// Its queue is unbounded by default.
	Pond = open(result.Peer, "pond", "alitto/pond/v2 v2.7.1, NewPool, Go, StopAndWait", func(limit int, t Task) *adapter {
		p := pond.NewPool(limit)
		return &adapter{start: func() { must(p.Go(t.Plain)) }, wait: p.StopAndWait}
	})

	Gopool = open(result.Peer, "gopool", "bytedance/gopkg v0.1.4, gopool.NewPool, and a sync.WaitGroup", func(limit int, t Task) *adapter {
		c, p := count(t.Plain), gopool.NewPool("lab", int32(limit), gopool.NewConfig())
		return &adapter{tasks: c, start: func() { p.Go(c.f) }}
	})

	// One goroutine dispatches tasks from an unbounded queue.
	Workerpool = open(result.Peer, "workerpool", "gammazero/workerpool v1.3.0, New, Do, StopWait", func(limit int, t Task) *adapter {
		p := workerpool.New(limit)
		return &adapter{start: func() { must(p.Do(t.Plain)) }, wait: p.StopWait}
	})

	// Closing it is measured, as for conc, pond and workerpool, whose workers have also ended then.
	Pool = open(result.Ours, "stint.Pool", "NewPool with a Limit, Go, Close", func(limit int, t Task) *adapter {
		p := stint.NewPool(bound(limit)...)
		return &adapter{start: func() { must(p.Go(t.Pool)) }, wait: p.Close}
	})

	Group = open(result.Ours, "stint.Group", "NewGroup with a Limit, Go, Wait", func(limit int, t Task) *adapter {
		g := stint.NewGroup(context.Background(), bound(limit)...)
		return &adapter{start: func() { g.Go(t.Group) }, wait: func() { must(g.Wait()) }}
	})
)
