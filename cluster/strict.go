package cluster

import (
	"math/rand/v2"
	"time"
)

// strictly runs a task as Strict says.
func (w *worker) strictly(l *lease) outcome {
	random := rand.New(rand.NewPCG(w.e.conf.Seed, uint64(l.index)))
	delay := time.Duration(random.Int64N(int64(20 * time.Millisecond)))
	twice, second := random.IntN(2) == 0, random.IntN(2) == 0
	select {
	case <-time.After(delay):
	case <-l.ctx.Done():
	}
	first := w.call(l, 0)
	if !twice || l.ctx.Err() != nil {
		return first
	}
	again := w.call(l, 1)
	if second {
		return again
	}
	return first
}
