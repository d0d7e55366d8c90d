package features

import (
	"context"
	"time"

	"github.com/panjf2000/ants/v2"
)

// antsPool returns a pool. Its Wait releases the pool: ants does not wait otherwise.
func antsPool(limit int, opts ...ants.Option) *group {
	p, err := ants.NewPool(limit, opts...)
	if err != nil {
		panic(err)
	}
	submit := func(f task) bool { return p.Submit(func() { _ = f(none) }) == nil }
	release := func() { _ = p.ReleaseContext(ever) } // or it is released already
	return &group{
		Go:     func(_ context.Context, f task) { submit(f) },
		Wait:   func() error { release(); return nil },
		Try:    submit,
		Resize: p.Tune,
		Drop:   release,
		Stats:  func() (int, int) { return p.Running(), p.Waiting() },
		Kill:   p.Release,
	}
}

var antsLibrary = library{
	api: [][2]string{
		{methods[*ants.Pool](), "Cap Free IsClosed Reboot Release ReleaseContext ReleaseTimeout Running Submit Tune Waiting"},
		{signature((*ants.Pool).Submit), "func(*ants.Pool, func()) error"},
		{signature((*ants.PoolWithFunc).Invoke), "func(*ants.PoolWithFunc, interface {}) error"},
		{signature(ants.NewPoolWithFuncGeneric[int]), "func(int, func(int), ...ants.Option) (*ants.PoolWithFuncGeneric[int], error)"},
		{signature((*ants.PoolWithFuncGeneric[int]).Invoke), "func(*ants.PoolWithFuncGeneric[int], int) error"},
	},
	submit: (*ants.Pool).Submit,
	open: func(_ context.Context, limit int) *group {
		g := antsPool(limit)
		g.Try = nil // it waits
		return g
	},
	tight: func(_ context.Context, limit int) *group { return antsPool(limit, ants.WithNonblocking(true)) },
	fixed: func(n int, f func(int)) {
		p, err := ants.NewPoolWithFuncGeneric(1, f)
		for i := 0; i < n && err == nil; i++ {
			err = p.Invoke(i)
		}
		if err != nil {
			panic(err)
		}
		_ = p.ReleaseTimeout(time.Minute) // nil
	},
	zero: func(f func()) {
		ran := make(chan struct{})
		_ = ants.Submit(func() { defer close(ran); f() }) // nil
		<-ran
	},
	hollow: func() { _ = new(ants.Pool).Submit(func() {}) },
	cells: map[string]shown{
		"Worker reuse":        {Yes, "Idle workers end after a second, or after the configured time.", nil},
		"Context":             {No, "A task has no arguments.", nil},
		"Waiting for all":     {Partly, "ReleaseContext and ReleaseTimeout wait and close the pool; otherwise callers need a sync.WaitGroup.", nil},
		"Waiting for one":     {No, "Submit returns when a worker takes the task, and ReleaseContext waits for all.", nil},
		"Errors":              {No, "A task returns nothing; Submit's error means that the task was refused.", nil},
		"Resizing":            {Partly, "Tune; after it shrinks the pool, idle workers still count.", nil},
		"Limit":               {Yes, "", nil},
		"Shared limit":        {Partly, "Callers share a pool; each needs a sync.WaitGroup to wait for its own tasks.", nil},
		"Two limits":          {No, "A pool has one limit, independent of other pools.", nil},
		"Nesting":             {Partly, "With WithNonblocking, if the task itself does refused work. Otherwise Submit waits for the worker that it runs on.", nil},
		"Tasks from tasks":    {Partly, "While workers are free; if all run tasks that submit, they wait for ever, as documented.", nil},
		"Adaptive limit":      {No, "A pool of size 0 has no limit.", nil},
		"Chunks":              {No, "There are no loops: the function of a PoolWithFuncGeneric takes one item a call.", nil},
		"Fixed function":      {Yes, "PoolWithFuncGeneric; PoolWithFunc takes an interface, which allocates most values.", nil},
		"First error cancels": {No, "Tasks return no errors, and nothing can be cancelled.", nil},
		"All errors":          {No, "Tasks return no errors.", nil},
		"Panics":              {No, "PanicHandler receives it, or it is logged; no waiting caller learns of it.", nil},
		"Goexit":              {Partly, "The next task gets a new worker; no caller learns of it.", nil},
		"Bounded queue":       {Partly, "There is no queue: Submit returns when a worker has the task.", nil},
		"Giving up":           {No, "Only releasing the whole pool ends the wait.", nil},
		"Try":                 {Partly, "For a whole pool, by WithNonblocking.", partly(try)},
		"Pausing":             {No, "Tune ignores 0.", nil},
		"Dropping the queue":  {Yes, "ReleaseContext refuses callers that wait in Submit.", nil},
		"Typed results":       {No, "PoolWithFuncGeneric has a typed argument, but no result.", nil},
		"Results in order":    {No, "There are no results.", nil},
		"Ordered stream":      {No, "There are no results.", nil},
		"Batches":             {No, "There is no stream: the function of a PoolWithFuncGeneric takes one argument a call.", nil},
		"Statistics":          {Partly, "Waiting callers are counted; Running includes idle workers.", nil},
		"Bubbles":             {Yes, "The default pool, created on import, has two goroutines outside of any bubble.", nil},
		"Zero value":          {Partly, "The package's Submit uses a default pool, whose limit is 2,147,483,647; a zero Pool panics.", nil},
	},
}
