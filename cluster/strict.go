package cluster

import (
	"math/rand/v2"
	"time"
)

// executeStrictly runs a task as the option Strict says.
func (w *worker) executeStrictly(l *lease) outcome {
	random := rand.New(rand.NewPCG(w.client.conf.seed, uint64(l.index)))
	delay := time.Duration(random.Int64N(int64(20 * time.Millisecond)))
	twice, secondCounts := random.IntN(2) == 0, random.IntN(2) == 0
	select {
	case <-time.After(delay):
	case <-l.ctx.Done():
	}
	first := w.callWithRetries(l, 0)
	if !twice || l.ctx.Err() != nil {
		return first
	}
	second := w.callWithRetries(l, 1)
	if secondCounts {
		return second
	}
	return first
}
