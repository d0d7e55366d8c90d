package engine

import (
	"github.com/gammazero/workerpool"
	"github.com/stint-go/stint/lab/result"
)

// Workerpool is the pool of gammazero/workerpool: one goroutine deals the tasks
// out, from a queue without an end.
func Workerpool() Open {
	return Open{Name: "workerpool", Doc: "gammazero/workerpool v1.3.0, New, Do, StopWait", Kind: result.Peer,
		New: func(limit int, t Task) Engine {
			return &workers{pool: workerpool.New(limit), f: t.Plain}
		}}
}

type workers struct {
	keeper
	pool *workerpool.WorkerPool
	f    func()
}

func (w *workers) Go(n int) {
	for range n {
		must(w.pool.Do(w.f))
	}
}

func (w *workers) Wait() { w.pool.StopWait() }
