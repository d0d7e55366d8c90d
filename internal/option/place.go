package option

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/work"
)

// expiry is how long a worker stays without work.
const expiry = time.Second

// Config returns what an engine that is made for o needs to know. labels is as in
// work.Config.
func (o *Options) Config(labels context.Context) work.Config {
	c := work.Config{Limiter: o.Limiter, Tuner: o.Tuner, Expiry: expiry, Name: o.Name, Labels: labels}
	if c.Limiter == nil {
		c.Auto = o.Search(runtime.GOMAXPROCS(0))
	}
	return c
}

// A Place is where the tasks of one call run: a source of tasks, on an engine of its
// own or on a pool's. Use Open and, when no task is left, Close.
type Place struct {
	Engine *work.Engine
	Source *work.Source // nil before Open
	Home   *limit.Link  // of the call, if a task made it, or nil

	private bool // Engine ends with the tasks
	unwatch func() bool
	watched sync.WaitGroup // the goroutine that unwatch keeps from starting
}

// Open makes p ready as o says. ctx is what tasks are given, made from parent, which
// the call was given. job says what a task does; room is the length of the queue.
//
// When ctx ends because parent does, Open sees to it that what is queued is dropped.
// Who ends ctx otherwise must call Source.Stop: where parent cannot end, nothing is
// asked of ctx, which may be made only when somebody asks.
func (p *Place) Open(parent, ctx context.Context, o *Options, job work.Job, room int) {
	p.Home = limit.From(parent).Call()
	s := work.SourceConfig{Context: ctx, Room: room, Job: job, Home: p.Home}
	if o.Engine != nil {
		p.Engine = o.Engine
		s.Shared = true
		p.Source = p.Engine.NewSource(s)
	} else {
		p.Engine, p.Source = work.New(o.Config(labels(ctx, o)), s)
		p.private = true
	}
	if parent.Done() == nil {
		return
	}
	p.watched.Add(1)
	p.unwatch = context.AfterFunc(ctx, func() { // its own: it must have ended when Stop tells
		defer p.watched.Done()
		p.Source.Stop()
	})
}

// labels returns the context whose labels the workers of a call alone have. One may be
// started by whoever frees a permit of a shared limiter: it is given those of ctx then.
func labels(ctx context.Context, o *Options) context.Context {
	if o.Limiter != nil || o.Name != "" {
		return limit.Labelled(ctx)
	}
	return nil
}

// Closed reports whether p is on a pool that takes no more tasks.
func (p *Place) Closed() bool { return !p.private && p.Engine.Closed() }

// Wait waits until no task is queued, running or being submitted. Workers of p alone
// that find nothing to do leave from now on.
func (p *Place) Wait() {
	if p.private {
		p.Engine.Drain()
	}
	p.Source.Wait()
}

// Close ends what p has begun, and waits for it: its workers and the watch of the
// context. It is called once, after Wait or Source.Wait.
func (p *Place) Close() {
	if p.private {
		p.Engine.Drain()
		p.Engine.Quiet(nil)
	}
	if p.unwatch == nil {
		return
	}
	if p.unwatch() {
		p.watched.Done()
	}
	p.watched.Wait()
}
