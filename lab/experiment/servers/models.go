package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/result"
)

// The names of our models.
const (
	nameRange    = "stint.Range"
	nameAgain    = "stint.Range-again"
	nameOverload = "stint.Range-overload"
	nameAll      = "goroutines"
)

func limitName(n int) string { return fmt.Sprintf("limit-%d", n) }

// A model calls tasks with some limit.
type model struct {
	result.Model
	cap  bool // a sample ends after the time of the row, whatever is left
	open func(r row) call
}

// A call calls do for 0 to n-1. stats may be nil.
type call struct {
	run   func(do task) error
	stats func() []result.Point
}

// maxLimit is the largest limit of all models.
const maxLimit = 256

// models are those of a row.
func (r row) models() []model {
	var out []model
	for n := r.leastLimit(); n <= maxLimit; n *= max(2, r.step) {
		m := result.Peer.Model(limitName(n), fmt.Sprintf("Range with Limit(%d)", n))
		m.Sweep, m.At = "limit", float64(n)
		out = append(out, model{m, true, func(r row) call { return ranged(r, stint.Limit(n)) }})
	}
	if r.isBatch() {
		all := result.Peer.Model(nameAll, "a goroutine a task, no limit")
		all.Unbounded = true
		out = append(out, model{all, false, func(r row) call {
			return call{run: func(do task) error { return goroutines(r.n, r.n, do, nil) }}
		}})
	}
	out = append(out,
		model{result.Peer.Model("failsafe-adaptive", "failsafe-go v0.9.8, adaptivelimiter from 1 to 256: AcquirePermit, Record and Drop, on 256 goroutines"), true, failsafe},
		model{result.Peer.Model("gradient2", "the algorithm of Netflix's Gradient2Limit, on 256 goroutines"), true, gradients},
		model{result.Ours.Model(nameRange, "Range without a Limiter"), false, func(r row) call { return ranged(r) }},
		model{result.Ours.Model(nameAgain, "Range, the second call with the same Auto(1, 256)"), false, func(r row) call { return again(r, nil) }},
	)
	if r.refuses {
		out = append(out, model{result.Ours.Model(nameOverload, "Range with Auto(1, 256, Overload) that knows refusals"), false, func(r row) call {
			return ranged(r, stint.Auto(1, maxLimit, stint.Overload(isBusy)))
		}})
	}
	return out
}

func isBusy(err error) bool { return errors.Is(err, errBusy) }

// leastLimit is the smallest limit: a batch with a small one takes long.
func (r row) leastLimit() int {
	if r.isBatch() {
		return 16
	}
	return 1
}

// ranged is stint.Range. Where tasks may be refused, it goes on until enough were served.
func ranged(r row, opts ...stint.Option) call {
	if r.refuses {
		opts = append(opts, stint.KeepGoing())
	}
	return call{run: func(do task) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		err := stint.Range(ctx, r.attempts(), func(ctx context.Context, i int) error {
			err := do(ctx, i)
			if err != errCapped {
				return err
			}
			if r.refuses {
				cancel()
			}
			return nil
		}, opts...)
		if isBusy(err) || ctx.Err() != nil {
			return nil
		}
		return err
	}}
}

// again is the second of two calls with one Limiter. The first is not timed.
func again(r row, opts []stint.AutoOption) call {
	l := stint.Auto(1, maxLimit, opts...)
	began := time.Now()
	second := ranged(r, l)
	return call{
		run: func(do task) error {
			first := &calls{row: r}
			if err := cmp.Or(second.run(first.do), first.check()); err != nil {
				return err
			}
			return second.run(do)
		},
		stats: func() []result.Point { return history(l, began) },
	}
}

// history returns what a Limiter recorded, in seconds from the start, and its limit now.
func history(l *stint.Limiter, began time.Time) []result.Point {
	var out []result.Point
	s := l.Stats()
	for _, c := range s.History {
		out = append(out, result.Point{At: c.Time.Sub(began).Seconds(), Limit: c.Limit, Throughput: c.Throughput})
	}
	return append(out, result.Point{At: time.Since(began).Seconds(), Limit: s.Limit})
}

// A gate admits tasks.
type gate interface {
	acquire() (release func(served bool))
}

// goroutines calls do for 0 to n-1 on some goroutines, with a permit each if there is a gate.
func goroutines(workers, n int, do task, g gate) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				release := func(bool) {}
				if g != nil {
					release = g.acquire()
				}
				err := do(context.Background(), i)
				release(err == nil)
				if err == errCapped {
					return
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// failsafe is the adaptive limiter of failsafe-go.
func failsafe(r row) call {
	g := failsafeGate{adaptivelimiter.NewBuilder[any]().WithLimits(1, maxLimit, 20).Build()}
	return call{run: func(do task) error { return goroutines(maxLimit, r.attempts(), do, g) }}
}

type failsafeGate struct {
	adaptivelimiter.AdaptiveLimiter[any]
}

func (g failsafeGate) acquire() func(bool) {
	p, err := g.AcquirePermit(context.Background())
	if err != nil {
		return func(bool) {} // the context does not end
	}
	return func(served bool) {
		if served {
			p.Record()
		} else {
			p.Drop()
		}
	}
}

// gradients is the limiter of gradient.go.
func gradients(r row) call {
	g := newGradient(maxLimit)
	return call{run: func(do task) error { return goroutines(maxLimit, r.attempts(), do, g) }}
}
