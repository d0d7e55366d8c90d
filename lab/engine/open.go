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

func peer(name, doc string, open func(limit int, t Task) *adapter) Open {
	return Open{Model: result.Peer.Model(name, doc), New: func(limit int, t Task) Engine { return open(limit, t) }}
}

func ours(name, doc string, open func(limit int, t Task) *adapter) Open {
	o := peer(name, doc, open)
	o.Kind = result.Ours
	return o
}

// kept is peer for an engine that is Kept.
func kept(name, doc string, open func(limit int, t Task) *adapter) Open {
	o := peer(name, doc, open)
	o.Kept = true
	return o
}

// Goroutines is a goroutine per task, without a limit.
func Goroutines() Open {
	o := kept("goroutines", "go f() and a sync.WaitGroup, no limit", func(_ int, t Task) *adapter {
		c := count(t)
		return &adapter{tasks: c, start: func() { go c.f() }}
	})
	o.Unbounded = true
	return o
}

// Semaphore is a goroutine per task behind a channel with limit slots.
func Semaphore() Open {
	return peer("semaphore", "go f() behind a channel with limit slots", func(limit int, t Task) *adapter {
		slots := make(chan struct{}, limit)
		c := count(Task{Plain: func() {
			defer func() { <-slots }()
			t.Plain()
		}})
		return &adapter{tasks: c, start: func() { slots <- struct{}{}; go c.f() }}
	})
}

// Channel is the common hand-written worker pool.
func Channel() Open {
	return peer("channel", "limit goroutines, started first, on a channel of 1,024 functions", func(limit int, t Task) *adapter {
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
}

// Errgroup is golang.org/x/sync/errgroup with SetLimit.
func Errgroup() Open {
	return peer("errgroup", "x/sync v0.24.0, errgroup.SetLimit", func(limit int, t Task) *adapter {
		g, f := new(errgroup.Group), withoutError(t.Plain)
		g.SetLimit(limit)
		return &adapter{start: func() { g.Go(f) }, wait: func() { must(g.Wait()) }}
	})
}

// ErrgroupReused is one errgroup.Group for all tasks, whose Wait is not used.
func ErrgroupReused() Open {
	return kept("errgroup-reused", "x/sync v0.24.0, errgroup.SetLimit, a group that is kept, and a sync.WaitGroup", func(limit int, t Task) *adapter {
		c, g := count(t), new(errgroup.Group)
		f := withoutError(c.f)
		g.SetLimit(limit)
		return &adapter{tasks: c, start: func() { g.Go(f) }, close: func() { must(g.Wait()) }}
	})
}

func withoutError(f func()) func() error { return func() error { f(); return nil } }

// Conc is the pool of sourcegraph/conc.
func Conc() Open {
	return peer("conc", "sourcegraph/conc v0.3.0, pool.New().WithMaxGoroutines", func(limit int, t Task) *adapter {
		p := pool.New().WithMaxGoroutines(limit)
		return &adapter{start: func() { p.Go(t.Plain) }, wait: p.Wait}
	})
}

// ConcReused is one pool of sourcegraph/conc for all tasks. Its own Wait would end it.
func ConcReused() Open {
	return kept("conc-reused", "sourcegraph/conc v0.3.0, a pool that is kept, and a sync.WaitGroup", func(limit int, t Task) *adapter {
		c, p := count(t), pool.New().WithMaxGoroutines(limit)
		return &adapter{tasks: c, start: func() { p.Go(c.f) }, close: p.Wait}
	})
}

// Ants is the pool of panjf2000/ants, with workers that stay for ten seconds.
// Closing it is not measured, since a program would keep it.
func Ants() Open {
	return kept("ants", "panjf2000/ants/v2 v2.12.1, NewPool with an expiry of 10 s, and a sync.WaitGroup", func(limit int, t Task) *adapter {
		c := count(t)
		p, err := ants.NewPool(limit, ants.WithExpiryDuration(10*time.Second))
		must(err)
		// The end of the workers keeps them out of the next measurement.
		return &adapter{tasks: c, start: func() { must(p.Submit(c.f)) }, close: func() { must(p.ReleaseTimeout(time.Minute)) }}
	})
}

// Pond is the pool of alitto/pond with its default, unbounded queue.
func Pond() Open {
	return peer("pond", "alitto/pond/v2 v2.7.1, NewPool, Go, StopAndWait", func(limit int, t Task) *adapter {
		p := pond.NewPool(limit)
		return &adapter{start: func() { must(p.Go(t.Plain)) }, wait: p.StopAndWait}
	})
}

// Gopool is the pool of bytedance/gopkg. It counts and adds workers in two steps, so
// concurrent submitters can exceed the limit.
func Gopool() Open {
	o := peer("gopool", "bytedance/gopkg v0.1.4, gopool.NewPool, and a sync.WaitGroup", func(limit int, t Task) *adapter {
		c, p := count(t), gopool.NewPool("lab", int32(limit), gopool.NewConfig())
		return &adapter{tasks: c, start: func() { p.Go(c.f) }}
	})
	o.OneSubmitter = true
	return o
}

// Workerpool is the pool of gammazero/workerpool: one goroutine dispatches
// tasks from an unbounded queue.
func Workerpool() Open {
	return peer("workerpool", "gammazero/workerpool v1.3.0, New, Do, StopWait", func(limit int, t Task) *adapter {
		p := workerpool.New(limit)
		return &adapter{start: func() { must(p.Do(t.Plain)) }, wait: p.StopWait}
	})
}

// Pool is stint.Pool. Closing it is measured, as for conc, pond and workerpool,
// whose workers have also ended then.
func Pool() Open {
	return ours("stint.Pool", "NewPool with a Limit, Go, Close", func(limit int, t Task) *adapter {
		p := stint.NewPool(bound(limit)...)
		return &adapter{start: func() { must(p.Go(t.Pool)) }, wait: p.Close}
	})
}

// PoolReused is one stint.Pool for all tasks.
func PoolReused() Open {
	o := ours("stint.Pool-reused", "NewPool with a Limit, kept, Go, Idle", func(limit int, t Task) *adapter {
		p := stint.NewPool(bound(limit)...)
		return &adapter{start: func() { must(p.Go(t.Pool)) }, wait: func() { must(p.Idle(context.Background())) }, close: p.Close}
	})
	o.Kept = true
	return o
}

// Group is stint.Group.
func Group() Open {
	return ours("stint.Group", "NewGroup with a Limit, Go, Wait", func(limit int, t Task) *adapter {
		g := stint.NewGroup(context.Background(), bound(limit)...)
		return &adapter{start: func() { g.Go(t.Group) }, wait: func() { must(g.Wait()) }}
	})
}

func bound(limit int) []stint.Option {
	if limit == 0 {
		return nil
	}
	return []stint.Option{stint.Limit(limit)}
}
