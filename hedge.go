package stint

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// HedgeAfter makes First start its items one by one. The first item starts at once. The next
// starts when d has passed since the last start, or as soon as a call has failed. If no permit
// is free then, the item starts when it gets a permit. HedgeAfter panics unless d is positive.
func HedgeAfter(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("stint: HedgeAfter(%v): want more than 0", d))
	}
	return option.Func(func(o *option.Options) { o.Given |= option.HedgeAfter; o.Hedge = d })
}

// runHedged is run for a First with HedgeAfter. Its items are tasks, as those of runItems are.
func (c *call) runHedged(ctx context.Context, by string, n int, o *option.Options) error {
	h := &hedged{items: items{calls: c.calls}, delay: o.Hedge}
	c.outcome = &h.outcome
	if o.Shared() == nil {
		o.Limiter = limit.New(n)
	}
	h.init(ctx, by, o, h, math.MaxInt)
	h.executor.Source.Finite = true // no task yet
	h.left.Store(int64(n))
	h.timer = time.AfterFunc(time.Hour, func() { h.next(); h.timed.Done() })
	h.timer.Stop() // until the first item starts
	h.answered(h.next())
	h.executor.Wait()
	if h.timer.Stop() {
		h.timed.Done()
	}
	h.timed.Wait()
	return h.end(n)
}

// hedged are items that start one by one.
type hedged struct {
	items
	delay time.Duration
	left  atomic.Int64   // items that were not offered
	timer *time.Timer    // offers the next item
	timed sync.WaitGroup // the timer, from when it is set until its function has returned
}

// next offers the next item, if there is one.
func (h *hedged) next() work.Answer {
	if h.left.Add(-1) < 0 {
		return work.Full
	}
	return h.executor.Source.Offer(nil, h.executor.Parent)
}

func (h *hedged) Run(ctx context.Context, w work.Task) error {
	h.timed.Add(1) // before the timer fires
	if h.timer.Reset(h.delay) {
		h.timed.Done() // it was set already
	}
	return h.items.Run(ctx, w)
}

func (h *hedged) Failed(w work.Task, o task.Outcome) {
	h.items.Failed(w, o)
	h.next()
}
