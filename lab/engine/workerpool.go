package engine

import (
	"github.com/gammazero/workerpool"
	"github.com/stint-go/stint/lab/result"
)

// Workerpool is the pool of gammazero/workerpool: one goroutine dispatches
// tasks from an unbounded queue.
func Workerpool() Open {
	return Open{Model: result.Peer.Model("workerpool", "gammazero/workerpool v1.3.0, New, Do, StopWait"),
		New: func(limit int, t Task) Engine {
			return &workers{pool: workerpool.New(limit), f: t.Plain}
		}}
}

type workers struct {
	noClose
	pool *workerpool.WorkerPool
	f    func()
}

func (w *workers) Go(n int) {
	for range n {
		must(w.pool.Do(w.f))
	}
}

func (w *workers) Wait() { w.pool.StopWait() }
