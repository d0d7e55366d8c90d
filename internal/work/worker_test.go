package work

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
)

// The five outcomes are told apart, and none costs a worker or its permit.
func TestOutcomes(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		s, r := source(e, 100)
		boom := errors.New("boom")
		ran := 0
		for range 3 {
			s.Offer(func(context.Context) error { return boom }, nil)
			s.Offer(does(func() { panic("x") }), nil)
			s.Offer(does(runtime.Goexit), nil)
			s.Offer(does(func() { defer runtime.Goexit(); panic("overtaken") }), nil)
			s.Offer(does(func() { ran++ }), nil)
		}
		s.Wait()
		var errs, panics, exits int
		for _, o := range r.failed {
			switch {
			case o.Err == boom && o.Panic == nil && !o.Goexit:
				errs++
			case o.Panic != nil && o.Panic.Value == "x" && o.Err == nil && !o.Goexit:
				panics++
			case o.Goexit && o.Err == nil && o.Panic == nil:
				exits++
			}
		}
		if errs != 3 || panics != 3 || exits != 6 || ran != 3 || len(r.failed) != 12 {
			t.Errorf("%d errors, %d panics, %d exits, %d ran, %d in all", errs, panics, exits, ran, len(r.failed))
		}
		if c := e.Counts(); c.Completed != 15 || c.Workers != 1 {
			t.Errorf("%+v", c)
		}
	})
}

// Workers that have nothing to do end after the expiry, each by its own clock,
// and the next task starts a new one.
func TestWorkersExpire(t *testing.T) {
	bubble(t, 4, func(t *testing.T, e *Engine) {
		s, _ := source(e, 100)
		for i := range 4 {
			s.Offer(does(func() { time.Sleep(time.Duration(i+1) * 300 * time.Millisecond) }), nil)
		}
		for i, want := range []int{4, 4, 4, 4, 4, 3, 2, 1, 0} { // at 0, 0.3, .. s: they park at 0.3, 0.6, 0.9 and 1.2
			synctest.Wait()
			if c := e.Counts(); c.Workers != want {
				t.Errorf("%d ms: %d workers, want %d", i*300, c.Workers, want)
			}
			time.Sleep(300 * time.Millisecond)
		}
		s.Offer(nothing, nil)
		synctest.Wait()
		if c := e.Counts(); c.Workers != 1 || c.Idle != 1 || c.Completed != 5 {
			t.Errorf("%+v", c)
		}
	})
}

// The worker that parked last is woken first, so that the others can expire.
func TestLastParkedIsWokenFirst(t *testing.T) {
	bubble(t, 2, func(t *testing.T, e *Engine) {
		s, _ := source(e, 10)
		for range 2 {
			s.Offer(does(func() { time.Sleep(time.Millisecond) }), nil)
		}
		for range 10 { // one task after the other keeps one worker
			time.Sleep(200 * time.Millisecond)
			s.Offer(nothing, nil)
		}
		synctest.Wait()
		if c := e.Counts(); c.Workers != 1 {
			t.Errorf("%d workers for one task at a time", c.Workers)
		}
	})
}

// Workers that have ended or were woken are not kept in the list of the idle ones.
func TestIdleListForgets(t *testing.T) {
	bubble(t, 4, func(t *testing.T, e *Engine) {
		s, _ := source(e, 10)
		forgets := func(idle int) {
			t.Helper()
			synctest.Wait()
			e.mu.Lock()
			defer e.mu.Unlock()
			if len(e.idle) != idle {
				t.Errorf("%d workers are idle, want %d", len(e.idle), idle)
			}
			for _, w := range e.idle[len(e.idle):cap(e.idle)] {
				if w != nil {
					t.Error("a worker that is not idle is kept")
				}
			}
		}
		for i := range 4 { // parked at 0.25, 0.5, 0.75 and 1 s
			s.Offer(does(func() { time.Sleep(time.Duration(i+1) * time.Second / 4) }), nil)
		}
		time.Sleep(1100 * time.Millisecond)
		forgets(4)
		s.Offer(does(func() { time.Sleep(100 * time.Millisecond) }), nil)
		forgets(3)
		time.Sleep(500 * time.Millisecond) // the time is 1.6 s: two have expired
		forgets(2)
		time.Sleep(time.Second)
		forgets(0)
	})
}

// A smaller limit does not wait for the quantum: no task starts beyond it, even if
// no time has passed.
func TestSmallerLimitAtOnce(t *testing.T) {
	bubble(t, 3, func(t *testing.T, e *Engine) {
		s, _ := source(e, 10)
		first, second := make(chan struct{}), make(chan struct{})
		for range 3 {
			s.Offer(does(func() { <-first }), nil)
		}
		for range 3 {
			s.Offer(does(func() { <-second }), nil)
		}
		synctest.Wait()
		e.Limiter().Set(1)
		close(first)
		synctest.Wait()
		if c := e.Counts(); c.Running != 1 || c.Queued != 2 {
			t.Errorf("%+v", c)
		}
		close(second)
		s.Wait()
	})
}

// claimCaches returns an engine's source with n tasks in one segment that is open, and the
// claim cache of a worker that has had a task of it.
func claimCaches(n int) (*limit.Limiter, *Source, *segment, *claimCache) {
	e, l := engine(1)
	s, _ := source(e, 1000)
	for i := range n {
		s.queue.push(nothing, i, maxSegment)
	}
	g := s.queue.openUpTo(maxSegment)
	s.front.Store(g)
	return l, s, g, &claimCache{source: s, ctx: s.Context, signs: l.Signs()}
}

// A worker looks before the next task when the limiter's signs have changed, when the
// source's context has ended, and when there is nothing to claim. At these times, and with
// the last claim of a segment, its count of read tasks is complete: otherwise the segment
// could not be reused.
func TestClaimCache(t *testing.T) {
	for name, c := range map[string]struct {
		tasks, claims int
		change        func(l *limit.Limiter, s *Source)
	}{
		"last":          {4, 4, nil},
		"shut":          {4, 3, func(_ *limit.Limiter, s *Source) { s.queue.shut() }},
		"smaller limit": {4, 3, func(l *limit.Limiter, _ *Source) { l.TryAcquire(); l.Set(0) }},
		"somebody waits": {4, 3, func(l *limit.Limiter, _ *Source) {
			l.TryAcquire()
			l.Join(new(limit.Waiter), nil)
		}},
		"end of the context": {4, 3, func(_ *limit.Limiter, s *Source) {
			ctx, cancel := context.WithCancel(s.Context)
			cancel()
			s.Context = ctx
		}},
		"next segment": {4, 3, func(_ *limit.Limiter, s *Source) {
			next := filled(4).openUpTo(4)
			next.claim() // by somebody else
			s.front.Store(next)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l, s, g, h := claimCaches(c.tasks)
			for i := range c.claims {
				if got, last, ok := h.claim(l); !ok || got.Index != i || last != (i == c.tasks-1) {
					t.Fatalf("claim %d: %v %v, last %v", i, got, ok, last)
				}
			}
			if c.change != nil {
				c.change(l, s)
				if _, _, ok := h.claim(l); ok != (name == "next segment") {
					t.Errorf("claimed: %v", ok)
				}
			}
			if n := int(g.read.Load()); n != c.claims {
				t.Errorf("%d of %d claims are counted as read", n, c.claims)
			}
		})
	}
}

// steps fills a long source of an engine with one permit: n tasks, of which each waits for
// a step and is the only one that runs. They are claimed without the lock.
func steps(e *Engine, n int) (s *Source, step func()) {
	s, _ = source(e, 64)
	next := make(chan struct{})
	for range n {
		s.Offer(does(func() { <-next }), nil)
		synctest.Wait()
	}
	return s, func() { next <- struct{}{}; synctest.Wait() }
}

// Tasks that are claimed without the lock, as most of a long queue are, count as those
// that are taken with it. While one runs the next is open: with the last of a segment
// the next segment is opened.
func TestClaimsAreCounted(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		const n = 64 // at least two in each segment
		s, step := steps(e, n)
		unseen := 0
		for i := range n - 1 {
			step()
			e.mu.Lock()
			if int(e.started) < i+2 {
				unseen++
			}
			e.mu.Unlock()
			want := Counts{Running: 1, Queued: n - 2 - i, Workers: 1, Completed: uint64(i + 1)}
			if c := e.Counts(); c != want {
				t.Errorf("after %d: %+v, want %+v", i+1, c, want)
			}
			if g := s.front.Load(); i < n-2 && (g == nil || g.claimed.Load() >= 0) {
				t.Errorf("after %d tasks the next may not be claimed", i+1)
			}
		}
		if unseen < n/2 {
			t.Errorf("%d of %d tasks were claimed without the lock", unseen, n)
		}
		step()
		s.Wait()
		if e.open != nil {
			t.Error("a source that has ended is kept")
		}
	})
}

// A source that becomes ready has its turn after at most one more task of the source
// whose tasks are claimed.
func TestClaimsMakeWayForAnotherSource(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		s, step := steps(e, 64)
		for range 20 {
			step()
		}
		other, _ := source(e, 1)
		ran := false
		other.Offer(does(func() { ran = true }), nil)
		step() // its worker goes on with the first task of the queue
		step()
		if !ran {
			t.Error("the other source waits")
		}
		for range 64 - 22 {
			step()
		}
		s.Wait()
		other.Wait()
	})
}

// Of two engines each hands its permit on after as many tasks, where no time passes.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(1)
		l.TryAcquire()
		const n = 5 * limit.QuantumTasks
		var engines []*Engine
		var all []*Source
		last, run := "", 0
		var runs []int
		for _, name := range []string{"a", "b"} {
			e := bare(l, time.Second)
			s, _ := source(e, n)
			for range n {
				s.Offer(does(func() {
					if name != last {
						last, run, runs = name, 0, append(runs, 0)
					}
					run++
					runs[len(runs)-1] = run
				}), nil)
			}
			engines, all = append(engines, e), append(all, s)
		}
		l.Release(limit.Permit{})
		for _, s := range all {
			s.Wait()
		}
		for i, run := range runs {
			rest := i >= len(runs)-2 // of each engine
			if run > limit.QuantumTasks || run < limit.QuantumTasks-1 && !rest {
				t.Errorf("%d tasks in a row, want %d", run, limit.QuantumTasks)
			}
		}
		end(t, engines...)
	})
}

// batches is a record whose tasks are batches of several calls.
type batches struct {
	record
	short bool
}

func (p *batches) Short() bool { return p.short }

// A batch of short calls that waits for a permit does not start the search for a limit;
// another task does.
func TestShortBatchesDoNotNotify(t *testing.T) {
	for _, short := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			search := auto.Config{Min: 1, Max: 64, Burst: 12, Procs: 2}
			runner := &batches{short: short}
			e, s := New(Config{Auto: search, IdleTimeout: time.Second}, SourceConfig{Context: context.Background(), Room: 1000, Runner: runner})
			release := make(chan struct{})
			for range 100 {
				s.Offer(does(func() { <-release }), nil)
			}
			synctest.Wait()
			if c := e.lim.Controller(); (c != nil && c.Active()) == short {
				t.Errorf("short is %t, active %t", short, !short)
			}
			close(release)
			e.Drain()
			s.Wait()
			e.WaitIdle(nil)
		})
	}
}
