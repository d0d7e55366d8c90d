package features

import (
	"context"

	"golang.org/x/sync/errgroup"
)

var errgroupLibrary = library{
	api: [][2]string{
		{methods[*errgroup.Group](), "Go SetLimit TryGo Wait"},
		{signature((*errgroup.Group).Go), "func(*errgroup.Group, func() error)"},
		{signature((*errgroup.Group).Wait), "func(*errgroup.Group) error"},
	},
	submit: (*errgroup.Group).Go,
	open: func(ctx context.Context, limit int) *group {
		g, ctx := errgroup.WithContext(ctx)
		if limit > 0 {
			g.SetLimit(limit)
		}
		return &group{
			Go:     func(_ context.Context, f task) { g.Go(func() error { return f(ctx) }) },
			Wait:   g.Wait,
			Try:    func(f task) bool { return g.TryGo(func() error { return f(ctx) }) },
			Resize: g.SetLimit,
		}
	},
	zero: func(f func()) {
		var g errgroup.Group
		g.Go(func() error { f(); return nil })
		_ = g.Wait() // nil
	},
	cells: map[string]shown{
		"Worker reuse":        {No, "Each task is a goroutine of its own.", nil},
		"Context":             {Partly, "WithContext returns one, which tasks must capture.", nil},
		"Waiting for all":     {Yes, "", nil},
		"Waiting for one":     {No, "Wait waits for all tasks of the group, and Go returns nothing.", nil},
		"Errors":              {Yes, "", nil},
		"Resizing":            {No, "SetLimit panics while tasks run.", nil},
		"Limit":               {Yes, "", nil},
		"Shared limit":        {Partly, "Callers share a group; each needs a sync.WaitGroup to wait for its own tasks, since Wait waits for all.", nil},
		"Two limits":          {No, "A group has one limit, independent of other groups.", nil},
		"Nesting":             {Partly, "By TryGo, if the task itself does refused work. Go waits for the slot of the task that calls it.", nil},
		"Tasks from tasks":    {Partly, "While the limit is not reached; at the limit, Go in a task waits for ever if all tasks do so.", nil},
		"Adaptive limit":      {No, "The default is no limit.", nil},
		"Chunks":              {No, "There are no loops: an item is a task, and a goroutine.", nil},
		"Fixed function":      {No, "A task is a closure, and a goroutine.", nil},
		"First error cancels": {Partly, "The context of WithContext is cancelled; tasks that have not started run all the same.", nil},
		"All errors":          {No, "Wait returns the first one.", nil},
		"Panics":              {No, "It crashes the process, on purpose: the source gives the reasons.", nil},
		"Goexit":              {Partly, "The slot is free again and Wait returns, but without an error.", nil},
		"Bounded queue":       {Partly, "There is no queue: Go returns when the task starts.", nil},
		"Giving up":           {No, "Go continues to wait when the context ends.", nil},
		"Try":                 {Yes, "TryGo.", nil},
		"Pausing":             {No, "SetLimit panics while tasks run.", nil},
		"Dropping the queue":  {No, "There is no queue, and tasks waiting in Go start in any case, also after cancellation.", nil},
		"Typed results":       {No, "Tasks store their results in variables of the caller.", nil},
		"Results in order":    {No, "There are no results; tasks store them in a slice.", nil},
		"Ordered stream":      {No, "Wait returns nothing but an error, at the end.", nil},
		"Batches":             {No, "There is no stream: Go takes a task.", nil},
		"Statistics":          {No, "No method returns a number.", nil},
		"Bubbles":             {Yes, "", nil},
		"Zero value":          {Yes, "", nil},
	},
}
