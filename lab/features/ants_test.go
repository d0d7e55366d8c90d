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
	submit := func(f task) bool { return p.Submit(func() { _ = f(ever) }) == nil }
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
	open: func(_ context.Context, limit int) *group {
		g := antsPool(limit)
		g.Try = nil // it waits
		return g
	},
	queue: func(_ context.Context, limit, room int) *group {
		return antsPool(limit, ants.WithNonblocking(room == 0))
	},
	each: func(limit, n int, f func(int)) {
		p, err := ants.NewPoolWithFuncGeneric(limit, f)
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
	shows: map[string]demonstration{
		"Try": partly(try),
	},
}
