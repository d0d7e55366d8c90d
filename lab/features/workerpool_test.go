package features

import (
	"context"
	"testing"

	"github.com/gammazero/workerpool"
)

// workerpoolNew returns a pool that keeps its workers: one that checks for idle workers periodically never blocks for good.
func workerpoolNew(size int) *workerpool.WorkerPool {
	return workerpool.New(size, workerpool.WithIdleTimeout(-1))
}

var workerpoolLibrary = library{
	open: func(_ context.Context, limit int) *group {
		p := workerpoolNew(limit)
		return &group{
			Go:    func(_ context.Context, f task) { _ = p.Do(func() { _ = f(ever) }) }, // or the pool is stopped
			Wait:  func() error { p.StopWait(); return nil },
			Pause: func() func() { ctx, resume := context.WithCancel(ever); p.Pause(ctx); return resume },
			Drop:  p.Stop,
			Stats: func() (int, int) { return -1, p.WaitingQueueSize() },
		}
	},
	single: func(limit int) func(func() string) func() string {
		p := workerpoolNew(limit)
		return func(f func() string) func() string {
			var value string
			done := start(func() { _ = p.DoWait(func() { value = f() }) }) // nil
			return func() string { <-done; return value }
		}
	},
	shows: map[string]demonstration{
		"Waiting for one": partly(waitingForOne),
		"Zero value": func(t *testing.T, _ *library) Answer {
			answer, _ := bubble(t, func() Answer { return grade(new(workerpool.WorkerPool).Do(func() {}) == nil, true) })
			return answer
		},
	},
}
