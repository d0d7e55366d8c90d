package servers

import (
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
	nameRange = "stint.Range"
	nameAgain = "stint.Range-again"
	nameAll   = "goroutines"
)

func limitName(n int) string { return fmt.Sprintf("limit-%d", n) }

// A do runs task i of a call, and reports whether to go on.
type do = func(i int) bool

// A model runs tasks with some limit. If open returns a Limiter, the second of two calls is
// timed.
type model struct {
	result.Model
	open func() (run func(do), l *stint.Limiter)
}

// maxLimit is the largest limit of all models.
const maxLimit = 256

// models are those of a row.
func (r row) models() []model {
	var out []model
	add := func(m result.Model, open func() func(do)) {
		out = append(out, model{m, func() (func(do), *stint.Limiter) { return open(), nil }})
	}
	least := 1
	if r.batch > 0 {
		least = 16 // a batch with a smaller one takes long
		all := result.Peer.Model(nameAll, "a goroutine a task, no limit")
		all.Unbounded = true
		add(all, func() func(do) { return func(f do) { goroutines(r.batch, r.batch, f) } })
	}
	for n := least; n <= maxLimit; n *= r.step {
		m := result.Peer.Model(limitName(n), fmt.Sprintf("Range with Limit(%d)", n))
		m.Sweep, m.At = "limit", float64(n)
		add(m, func() func(do) { return r.ranged(stint.Limit(n)) })
	}
	add(result.Peer.Model("failsafe-adaptive", "failsafe-go v0.9.8, adaptivelimiter from 1 to 256: AcquirePermit and Record, on 256 goroutines"), r.failsafe)
	add(result.Ours.Model(nameRange, "Range without a Limiter"), func() func(do) { return r.ranged() })
	out = append(out, model{result.Ours.Model(nameAgain, "Range, the second call with the same Auto(1, 256)"), func() (func(do), *stint.Limiter) {
		l := stint.Auto(1, maxLimit)
		return r.ranged(l), l
	}})
	return out
}

// errOver ends a call when the time is over.
var errOver = errors.New("the time is over")

// ranged is stint.Range.
func (r row) ranged(opts ...stint.Option) func(do) {
	return func(f do) {
		_ = stint.Range(context.Background(), r.tasks(), func(_ context.Context, i int) error {
			if !f(i) {
				return errOver
			}
			return nil
		}, opts...) // f knows other errors
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

// goroutines calls f for 0 to n-1 on some goroutines, until the time is over.
func goroutines(workers, n int, f do) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && f(i); i = int(next.Add(1)) - 1 {
			}
		})
	}
	wg.Wait()
}

// failsafe is the adaptive limiter of failsafe-go.
func (r row) failsafe() func(do) {
	l := adaptivelimiter.NewBuilder[any]().WithLimits(1, maxLimit, 20).Build()
	return func(f do) {
		goroutines(maxLimit, r.tasks(), func(i int) bool {
			p, err := l.AcquirePermit(context.Background())
			if err != nil {
				return false // never: the context does not end
			}
			defer p.Record()
			return f(i)
		})
	}
}
