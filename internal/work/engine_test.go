package work

import (
	"context"
	"flag"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/testkit"
)

// seed is that of the first round of TestRandom; a failure names the one to give.
var seed = flag.Uint64("stint.seed", 1, "seed of the first round of random operations")

// record is a runner whose tasks are functions. It records what it is called with.
type record struct {
	mu        sync.Mutex
	failed    []task.Outcome
	abandoned int
}

func (r *record) Run(ctx context.Context, t Task) error {
	return t.Payload.(func(context.Context) error)(ctx)
}

func (r *record) Failed(_ Task, o task.Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = append(r.failed, o)
}

func (r *record) Abandoned() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.abandoned++
}

// does is a task that calls f.
func does(f func()) any {
	return func(context.Context) error { f(); return nil }
}

// nothing is a task that does nothing.
var nothing = does(func() {})

// engine returns an engine on a limiter of n permits, which end checks.
func engine(n int) (*Engine, *limit.Limiter) {
	l := limit.New(n)
	return bare(l, time.Second), l
}

// bare returns an engine without a source.
func bare(l *limit.Limiter, expiry time.Duration) *Engine {
	e, _ := New(Config{Limiter: l, IdleTimeout: expiry}, SourceConfig{})
	return e
}

// sharing returns n sources of an engine that share room: its first and others.
func sharing(l *limit.Limiter, room, n int, expiry time.Duration) (*Engine, []*Source) {
	e, s := New(Config{Limiter: l, IdleTimeout: expiry}, SourceConfig{
		Context: context.Background(), Room: room, Runner: new(record),
	})
	ss := []*Source{s}
	for range n - 1 {
		s, _ := source(e, SharedRoom)
		ss = append(ss, s)
	}
	return e, ss
}

// source returns a shared source of e with a runner of its own.
func source(e *Engine, room int) (*Source, *record) {
	r := new(record)
	return e.NewSource(SourceConfig{Context: context.Background(), Room: room, Runner: r}), r
}

// end closes engines that share a limiter and checks that nothing is left: no
// task, worker or permit.
func end(t *testing.T, engines ...*Engine) {
	t.Helper()
	for _, e := range engines {
		e.Close()
		e.WaitIdle(nil)
		c := e.Counts()
		if c.Running+c.Queued+c.Blocked+c.Workers+c.Idle != 0 {
			t.Errorf("a closed engine has %+v", c)
		}
	}
	l := engines[0].Limiter()
	_, out, waiting := l.Counts()
	for range 1000 { // a permit may be on its way from one engine to the next
		if out+waiting == 0 {
			return
		}
		runtime.Gosched()
		_, out, waiting = l.Counts()
	}
	t.Errorf("%d permits are out and %d wait after the end", out, waiting)
}

// bubble runs f in a bubble, on an engine of n permits that it ends.
func bubble(t *testing.T, n int, f func(t *testing.T, e *Engine)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e, _ := engine(n)
		f(t, e)
		end(t, e)
	})
}

// Workers that park because they lost the permit end with the last task when the
// engine drains, not with their expiry.
func TestDrainAfterLosingPermits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(2)
		s, _ := source(e, 10)
		hold := make(chan struct{})
		for range 2 {
			s.Offer(does(func() { <-hold }), nil)
		}
		synctest.Wait()
		s.Offer(does(func() { time.Sleep(time.Minute / 100) }), nil)
		l.Set(1) // one of them parks with work left
		e.Drain()
		start := time.Now()
		close(hold)
		e.WaitIdle(nil)
		if got := time.Since(start); got != time.Minute/100 {
			t.Errorf("the last worker ended after %v", got)
		}
		end(t, e)
	})
}

// dropless is a record that looks at its source's engine in Abandoned.
type dropless struct {
	record
	t *testing.T
	e *Engine
}

func (d *dropless) Abandoned() {
	if c := d.e.Counts(); c.Queued != 1 || c.Dropped != 0 {
		d.t.Errorf("called when the queue was dropped: %+v", c)
	}
	d.record.Abandoned()
}

// Abandoned is called before the queue is dropped: a goroutine that finds it empty can look for
// the reason.
func TestAbandonTellsFirst(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		d := &dropless{t: t, e: e}
		s := e.NewSource(SourceConfig{Context: context.Background(), Room: 1, Runner: d})
		s.Offer(does(func() { time.Sleep(time.Second) }), nil)
		synctest.Wait()
		s.Offer(does(func() { t.Error("ran") }), nil)
		e.Close()
		e.Abandon()
		if c := e.Counts(); d.abandoned != 1 || c.Queued != 0 || c.Dropped != 1 {
			t.Errorf("called %d times, %+v", d.abandoned, c)
		}
	})
}

// Two engines on one limiter of one permit take turns, once a quantum of virtual time.
func TestEnginesYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(1)
		order := ""
		task := func(name string) any {
			return does(func() { order += name; time.Sleep(limit.QuantumTime) })
		}
		engines := []*Engine{bare(l, time.Second), bare(l, time.Second)}
		for i, e := range engines {
			s, _ := source(e, 10)
			for range 4 {
				s.Offer(task("ab"[i:i+1]), nil)
			}
		}
		end(t, engines...)
		// The first worker may be at work, and its engine wait for a second permit,
		// before the other engine has a task.
		if order != "abababab" && order != "aabababb" {
			t.Errorf("order %q", order)
		}
	})
}

// A submitter parks a worker, wakes it, and waits for it, over and over: a lost
// wake-up stops the test.
func TestPingPong(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		e, _ := engine(n)
		s, _ := source(e, 1)
		done := make(chan struct{}, 1)
		for i := range 20000 {
			if a := s.Submit(nil, does(func() { done <- struct{}{} }), nil); a != Accepted {
				t.Fatal(a)
			}
			<-done
			for i%64 == 0 && e.Counts().Idle == 0 {
				runtime.Gosched()
			}
		}
		end(t, e)
	}
}

// chaos is engines that share a limiter, and what their tasks count.
type chaos struct {
	limiter  *limit.Limiter
	engines  []*Engine
	sources  []*Source
	tasks    testkit.Gauge
	accepted atomic.Int32
}

// newChaos returns an engine whose only source has a long queue, one whose sources take turns, and
// two whose sources share their room.
func newChaos(permits int) *chaos {
	c := &chaos{limiter: limit.New(permits)}
	const expiry = 50 * time.Microsecond
	for _, rooms := range [][]int{{64}, {0, 4, 100}} {
		e := bare(c.limiter, expiry)
		c.engines = append(c.engines, e)
		for _, room := range rooms {
			s, _ := source(e, room)
			c.sources = append(c.sources, s)
		}
	}
	for _, room := range []int{3, 70} {
		e, ss := sharing(c.limiter, room, 3, expiry)
		c.engines, c.sources = append(c.engines, e), append(c.sources, ss...)
	}
	return c
}

// task returns a task that ends in one of several ways.
func (c *chaos) task(kind int) any {
	return does(func() {
		c.tasks.Enter()
		defer c.tasks.Leave()
		switch kind {
		case 0:
			panic("x")
		case 1:
			runtime.Goexit()
		case 2:
			runtime.Gosched()
		}
	})
}

// submit submits a task in one of several ways.
func (c *chaos) submit(r *rand.Rand, s *Source) Answer {
	t := c.task(r.IntN(8))
	switch r.IntN(4) {
	case 0:
		return s.Offer(t, nil)
	case 1:
		done := make(chan struct{})
		close(done)
		return s.Submit(done, t, nil)
	case 2:
		c.limiter.Set(1 + r.IntN(4))
	}
	return s.Submit(nil, t, nil)
}

// end ends everything, and compares what was accepted with what has become of it.
func (c *chaos) end(t *testing.T) {
	for _, s := range c.sources {
		s.Wait()
	}
	end(t, c.engines...)
	var dropped, completed uint64
	for _, e := range c.engines {
		dropped += e.Counts().Dropped
		completed += e.Counts().Completed
		if r := e.lasting.room; r.queued != 0 || r.blocked.Len() != 0 {
			t.Errorf("a room is left with %d tasks and %d submitters", r.queued, r.blocked.Len())
		}
	}
	ran := c.tasks.Total()
	if uint64(ran) != completed || uint64(c.accepted.Load()) != completed+dropped || c.tasks.Max() > 4 {
		t.Errorf("accepted %d, ran %d, completed %d, dropped %d, at most %d at once under 4",
			c.accepted.Load(), ran, completed, dropped, c.tasks.Max())
	}
}

// call submits tasks, most of them to the same source, whose queue becomes long.
func (c *chaos) call(t *testing.T, r *rand.Rand) {
	s := c.sources[0]
	for range 150 {
		if r.IntN(40) == 0 {
			s = c.sources[r.IntN(len(c.sources))]
		}
		if c.submit(r, s) == Accepted {
			c.accepted.Add(1)
		}
		if n := s.engine.Counts(); n.Running+n.Idle > n.Workers || n.Queued < 0 {
			t.Errorf("%+v", n)
		}
		if r.IntN(200) == 0 {
			s.Stop()
		}
	}
}

// TestRandom mixes everything on engines that share a limiter, and counts.
func TestRandom(t *testing.T) {
	for round := range uint64(20) {
		c := newChaos(4)
		var wg sync.WaitGroup
		for caller := range uint64(4) {
			wg.Go(func() { c.call(t, rand.New(rand.NewPCG(*seed+round, caller))) })
		}
		wg.Wait()
		c.limiter.Set(4)
		c.end(t)
		if t.Failed() {
			t.Fatalf("-stint.seed=%d", *seed+round)
		}
	}
}
