package features

import (
	"context"
	"testing"

	"github.com/gammazero/workerpool"
)

// workerpoolNew returns a pool that keeps its workers: one that checks for idle workers
// periodically never blocks for good.
func workerpoolNew(size int) *workerpool.WorkerPool {
	return workerpool.New(size, workerpool.WithIdleTimeout(-1))
}

var workerpoolLibrary = library{
	api: [][2]string{
		{methods[*workerpool.WorkerPool](), "Do DoWait Pause Size Stop StopWait Stopped Submit SubmitWait WaitingQueueSize"},
		{signature(workerpool.New), "func(int, ...workerpool.Option) *workerpool.WorkerPool"},
		{signature((*workerpool.WorkerPool).Do), "func(*workerpool.WorkerPool, func()) error"},
		{signature((*workerpool.WorkerPool).DoWait), "func(*workerpool.WorkerPool, func()) error"},
		{signature((*workerpool.WorkerPool).Size), "func(*workerpool.WorkerPool) int"},
	},
	submit: (*workerpool.WorkerPool).Do,
	value:  (*workerpool.WorkerPool).DoWait,
	open: func(_ context.Context, limit int) *group {
		p := workerpoolNew(limit)
		return &group{
			Go:    func(_ context.Context, f task) { _ = p.Do(func() { _ = f(none) }) }, // or the pool is stopped
			Wait:  func() error { p.StopWait(); return nil },
			Pause: func() func() { ctx, resume := context.WithCancel(ever); p.Pause(ctx); return resume },
			Drop:  p.Stop,
			Stats: func() (int, int) { return -1, p.WaitingQueueSize() },
		}
	},
	single: func(limit int) (func(func() string) func() string, func()) {
		p := workerpoolNew(limit)
		return func(f func() string) func() string {
			var value string
			done := start(func() { _ = p.DoWait(func() { value = f() }) }) // nil
			return func() string { <-done; return value }
		}, p.StopWait
	},
	cells: map[string]shown{
		"Worker reuse":        {Yes, "An idle worker ends every two seconds, or at the configured interval.", nil},
		"Context":             {No, "A task has no arguments.", nil},
		"Waiting for all":     {Partly, "StopWait waits and ends the pool; DoWait waits for one task.", nil},
		"Waiting for one":     {Partly, "DoWait starts a task and waits for it, in one call; there is no result.", nil},
		"Errors":              {No, "A task returns nothing; Do's error means that the pool is stopped.", nil},
		"Resizing":            {No, "The size is fixed by New.", nil},
		"Limit":               {Yes, "", nil},
		"Shared limit":        {Partly, "Callers share a pool; each needs a sync.WaitGroup to wait for its own tasks.", nil},
		"Two limits":          {No, "A pool has one size, independent of other pools.", nil},
		"Nesting":             {No, "Waiting in a task waits for the worker that it runs on.", nil},
		"Tasks from tasks":    {Yes, "Do never waits.", nil},
		"Adaptive limit":      {No, "A pool of size 0 has one worker.", nil},
		"Chunks":              {No, "There are no loops: an item is a task.", nil},
		"Fixed function":      {No, "A task is a closure.", nil},
		"First error cancels": {No, "Tasks return no errors; Stop drops the queue.", nil},
		"All errors":          {No, "Tasks return no errors.", nil},
		"Panics":              {No, "It crashes the process, as documented.", nil},
		"Goexit":              {No, "Its worker is lost, and StopWait waits for ever.", nil},
		"Bounded queue":       {No, "The queue is unbounded.", nil},
		"Giving up":           {Partly, "Do never waits, since the queue is unbounded; DoWait, which waits until the task has finished, takes no context.", nil},
		"Try":                 {No, "Do also accepts a task without a free worker, and does not report it.", nil},
		"Pausing":             {Yes, "Pause, until a context ends; it waits for running and queued tasks.", nil},
		"Dropping the queue":  {Yes, "Stop.", nil},
		"Typed results":       {No, "Tasks store their results in variables of the caller.", nil},
		"Results in order":    {No, "There are no results.", nil},
		"Ordered stream":      {No, "There are no results.", nil},
		"Batches":             {No, "There is no stream: an item is a task.", nil},
		"Statistics":          {Partly, "WaitingQueueSize counts waiting tasks; the number of running ones is not available.", nil},
		"Bubbles":             {Yes, "An open pool keeps the bubble from ending.", nil},
		"Zero value": {No, "A task in a zero WorkerPool waits for ever.", func(t *testing.T, _ *library) Answer {
			return grade(bubble(t, func() { _ = new(workerpool.WorkerPool).Do(func() {}) }), true)
		}},
	},
}
