package features

import (
	"context"
	"errors"
	"testing"

	"github.com/alitto/pond/v2"
)

// pondGroup returns a group of a pool.
func pondGroup(p pond.Pool, g pond.TaskGroup) *group {
	return &group{
		Go:     func(_ context.Context, f task) { g.SubmitErr(func() error { return f(g.Context()) }) },
		Wait:   g.Wait,
		Fork:   func(ctx context.Context) *group { return pondGroup(p, p.NewGroupContext(ctx)) },
		Try:    func(f task) bool { _, ok := p.TrySubmit(func() { _ = f(none) }); return ok },
		Resize: p.Resize,
		Drop:   g.Stop,
		Stats:  func() (int, int) { return int(p.RunningWorkers()), int(p.WaitingTasks()) },
	}
}

var pondLibrary = library{
	api: [][2]string{
		{methods[pond.Pool](), "CanceledTasks CompletedTasks Context DroppedTasks FailedTasks Go MaxConcurrency NewGroup NewGroupContext NewSubpool " +
			"NonBlocking QueueSize Resize RunningWorkers Stop StopAndWait Stopped Submit SubmitErr SubmittedTasks SuccessfulTasks TrySubmit TrySubmitErr WaitingTasks"},
		{methods[pond.ResultTaskGroup[int]](), "Done Stop Submit SubmitErr Wait"},
		{methods[pond.ResultTask[int]](), "Done Wait"},
		{signature(pond.Pool.Submit), "func(pond.Pool, func()) pond.Task"},
		{signature(pond.TaskGroup.SubmitErr), "func(pond.TaskGroup, ...func() error) pond.TaskGroup"},
		{signature(pond.ResultTaskGroup[int].Wait), "func(pond.ResultTaskGroup[int]) ([]int, error)"},
	},
	submit: pond.TaskGroup.SubmitErr,
	value:  pond.ResultPool[string].Submit,
	open: func(ctx context.Context, limit int) *group {
		p := pond.NewPool(limit)
		return pondGroup(p, p.NewGroupContext(ctx))
	},
	tight: func(_ context.Context, limit int) *group {
		p := pond.NewPool(limit, pond.WithQueueSize(0))
		return pondGroup(p, p.NewGroup())
	},
	queue: func(ctx context.Context, limit, room int) *group {
		p := pond.NewPool(limit, pond.WithQueueSize(room), pond.WithContext(ctx))
		return pondGroup(p, p.NewGroup())
	},
	two: func(small, large int) (*group, *group) {
		p := pond.NewPool(large)
		return pondGroup(p, p.NewSubpool(small).NewGroup()), pondGroup(p, p.NewGroup())
	},
	single: func(limit int) (func(func() string) func() string, func()) {
		p := pond.NewResultPool[string](limit)
		return func(f func() string) func() string {
			result := p.Submit(f)
			return func() string { value, _ := result.Wait(); return value } // no error
		}, func() {}
	},
	mapped: func(n int, f func(int) string) []string {
		g := pond.NewResultPool[string](n).NewGroup()
		for i := range n {
			g.Submit(func() string { return f(i) })
		}
		values, _ := g.Wait() // no error
		return values
	},
	outside: func(f func()) {
		p := pond.NewPool(2)
		_, _ = p.Go(f), p.Go(f) // nil
		p.StopAndWait()
	},
	zero:   func(f func()) { _ = pond.Submit(f).Wait() }, // nil
	hollow: func() { var p pond.Pool; _ = p.Go(func() {}) },
	cells: map[string]shown{
		"Worker reuse":        {Partly, "A goroutine continues while tasks are queued, and ends when the queue is empty.", nil},
		"Context":             {Partly, "TaskGroup.Context, which tasks must capture; groups with results have none.", nil},
		"Waiting for all":     {Yes, "In groups.", nil},
		"Waiting for one":     {Yes, "Submit of a pool returns the task.", nil},
		"Errors":              {Yes, "", nil},
		"Resizing":            {Yes, "", nil},
		"Limit":               {Yes, "", nil},
		"Shared limit":        {Yes, "Groups on a pool, and pools on a pool.", nil},
		"Two limits":          {Yes, "NewSubpool.", nil},
		"Nesting":             {Partly, "By TrySubmit in a pool without a queue, if the task itself does refused work. Waiting blocks a goroutine.", nil},
		"Tasks from tasks":    {Yes, "Unless the queue is bounded and full.", nil},
		"Adaptive limit":      {No, "A pool with a limit of 0 has no limit.", nil},
		"Chunks":              {No, "There are no loops: a group's Submit takes several functions, and makes a task of each.", nil},
		"Fixed function":      {No, "A task is a closure, wrapped in others.", nil},
		"First error cancels": {Yes, "In groups; running tasks notice if they have captured the context, which groups with results lack.", nil},
		"All errors": {Partly, "Each task submitted on its own has an error; a group returns the first.", func(t *testing.T, l *library) Answer {
			p, second := pond.NewPool(1), errors.New("second")
			a, b := p.SubmitErr(func() error { return errTask }), p.SubmitErr(func() error { return second })
			return grade(a.Wait() == errTask && b.Wait() == second, allErrors(t, l) == Yes)
		}},
		"Panics":             {Yes, "As an error, with the stack in its text. For Pool.Go, whose tasks nobody waits for, it is only counted.", nil},
		"Goexit":             {Partly, "The pool continues and counts a failure, but waiting for the task or its group never ends.", nil},
		"Bounded queue":      {Yes, "WithQueueSize; the default is unbounded.", nil},
		"Giving up":          {Partly, "When the context of the whole pool ends.", nil},
		"Try":                {Yes, "TrySubmit, or WithNonBlocking for a whole pool.", nil},
		"Pausing":            {No, "Resize(0) removes the limit.", nil},
		"Dropping the queue": {Yes, "Stop of a group, or the end of its context; Stop of a pool runs the queued tasks.", nil},
		"Typed results":      {Yes, "In a ResultPool.", nil},
		"Results in order":   {Yes, "In groups of a ResultPool.", nil},
		"Ordered stream":     {No, "A group returns the results when all tasks have finished.", nil},
		"Batches":            {No, "There is no stream: a group's Submit takes several functions, and makes a task of each.", nil},
		"Statistics":         {Yes, "", nil},
		"Bubbles":            {Partly, "Pools and groups; Stop and StopAndWait crash in the second bubble, by a default pool with a channel of the first.", nil},
		"Zero value":         {Partly, "The package's Submit and NewGroup use a default pool without a limit; Pool is an interface, whose zero value is nil.", nil},
	},
}
