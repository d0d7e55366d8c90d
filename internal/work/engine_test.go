package work

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
)

// seed is that of the first round of TestRandom; a failure names the one to give.
var seed = flag.Uint64("stint.seed", 1, "seed of the first round of random operations")

// record is a job whose tasks are functions. It notes what it is told.
type record struct {
	mu        sync.Mutex
	failed    []task.Outcome
	abandoned int
}

func (r *record) Run(ctx context.Context, t Task) error {
	return t.Func.(func(context.Context) error)(ctx)
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
	e, _ := New(Config{Limiter: l, Expiry: expiry}, SourceConfig{})
	return e
}

// source returns a shared source of e with a job of its own.
func source(e *Engine, room int) (*Source, *record) {
	r := new(record)
	return e.NewSource(SourceConfig{Context: context.Background(), Room: room, Job: r, Shared: true}), r
}

// end closes engines that share a limiter and checks that nothing is left: no
// task, worker or permit.
func end(t *testing.T, engines ...*Engine) {
	t.Helper()
	for _, e := range engines {
		e.Close()
		e.Quiet(nil)
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

func TestOfferRunsInOrder(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		s, _ := source(e, 100)
		var got []int
		for i := range 100 {
			if a := s.Offer(does(func() { got = append(got, i) }), nil); a != Accepted {
				t.Fatalf("task %d: %v", i, a)
			}
		}
		s.Wait()
		if len(got) != 100 || !slices.IsSorted(got) {
			t.Errorf("ran %v", got)
		}
		if a := s.Offer(nothing, nil); a != Over {
			t.Errorf("after Wait: %v", a)
		}
		if s.Accepted() != 100 {
			t.Errorf("accepted %d", s.Accepted())
		}
	})
}

// Room is exact once the workers have arrived: so many are queued behind those
// that run, and the next is refused.
func TestOfferFills(t *testing.T) {
	for _, limit := range []int{1, 3} {
		for _, room := range []int{0, 1, 2, 70} {
			t.Run(fmt.Sprint(limit, room), func(t *testing.T) {
				bubble(t, limit, func(t *testing.T, e *Engine) {
					s, _ := source(e, room)
					hold := make(chan struct{})
					for i := range limit + room {
						if a := s.Offer(does(func() { <-hold }), nil); a != Accepted {
							t.Fatalf("task %d: %v", i, a)
						}
						synctest.Wait()
					}
					if a := s.Offer(nothing, nil); a != Full {
						t.Errorf("one more: %v", a)
					}
					if c := e.Counts(); c.Running != limit || c.Queued != room {
						t.Errorf("%+v", c)
					}
					close(hold)
					s.Wait()
				})
			})
		}
	}
}

// A worker on its way to one source is no room in another.
func TestOfferCountsNoWorkerTwice(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		a, _ := source(e, 1)
		b, _ := source(e, 0)
		hold := make(chan struct{})
		a.Offer(does(func() { <-hold }), nil)
		if got := b.Offer(nothing, nil); got != Full {
			t.Errorf("the only permit is for another task: %v", got)
		}
		close(hold)
		a.Wait()
		b.Wait()
	})
}

func TestSubmittersAreServedInOrder(t *testing.T) {
	for _, room := range []int{0, 1, 70} {
		t.Run(fmt.Sprint(room), func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, e *Engine) {
				s, _ := source(e, room)
				hold := make(chan struct{})
				var got []int
				for range 1 + room {
					s.Offer(does(func() { <-hold }), nil)
					synctest.Wait()
				}
				for i := range 9 {
					go s.Submit(nil, does(func() { got = append(got, i) }), nil)
					synctest.Wait()
				}
				if c := e.Counts(); c.Blocked != 9 {
					t.Errorf("%d submitters wait", c.Blocked)
				}
				if a := s.Offer(nothing, nil); a != Full {
					t.Errorf("a newcomer overtakes those that wait: %v", a)
				}
				close(hold)
				s.Wait()
				if !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}) {
					t.Errorf("served %v", got)
				}
			})
		})
	}
}

// A long queue lets submitters in when a quarter of it is free, and a short one
// at once.
func TestSubmitterIsLetIn(t *testing.T) {
	for _, c := range []struct{ room, after int }{{1, 1}, {63, 1}, {64, 16}, {100, 25}} {
		t.Run(fmt.Sprint(c.room), func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, e *Engine) {
				s, _ := source(e, c.room)
				step := make(chan struct{})
				for range 1 + c.room {
					s.Offer(does(func() { <-step }), nil)
					synctest.Wait()
				}
				in := false
				go func() { s.Submit(nil, nothing, nil); in = true }()
				synctest.Wait()
				for i := range c.room {
					step <- struct{}{}
					synctest.Wait()
					if in != (i+1 >= c.after) {
						t.Errorf("let in %v with %d of %d places free", in, i+1, c.room)
					}
				}
				close(step)
				s.Wait()
			})
		})
	}
}

// What ends the wait of a submitter: its own channel, Stop, Close and the end of
// the context. Each leaves no trace in the counts.
func TestSubmitGivesUp(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(e *Engine, s *Source, done chan struct{})
		want Answer
	}{
		"done":  {func(_ *Engine, _ *Source, done chan struct{}) { close(done) }, GaveUp},
		"stop":  {func(_ *Engine, s *Source, _ chan struct{}) { s.Stop() }, Over},
		"close": {func(e *Engine, _ *Source, _ chan struct{}) { e.Close() }, Over},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, e *Engine) {
				s, _ := source(e, 0)
				hold := make(chan struct{})
				s.Offer(does(func() { <-hold }), nil)
				done := make(chan struct{})
				answer := make(chan Answer, 1)
				go func() { answer <- s.Submit(done, does(func() { t.Error("ran") }), nil) }()
				synctest.Wait()
				c.end(e, s, done)
				if a := <-answer; a != c.want {
					t.Errorf("%v, want %v", a, c.want)
				}
				if n := e.Counts().Blocked; n != 0 {
					t.Errorf("%d still wait", n)
				}
				close(hold)
				s.Wait()
			})
		})
	}
}

func TestStopDropsTheQueue(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		s, _ := source(e, 10)
		hold := make(chan struct{})
		s.Offer(does(func() { <-hold }), nil)
		synctest.Wait()
		for range 7 {
			s.Offer(does(func() { t.Error("ran after Stop") }), nil)
		}
		s.Stop()
		if c := e.Counts(); c.Queued != 0 || c.Running != 1 || c.Dropped != 7 {
			t.Errorf("%+v", c)
		}
		waited := false
		go func() { s.Wait(); waited = true }()
		synctest.Wait()
		if waited {
			t.Error("Wait returned while a task runs")
		}
		close(hold)
		synctest.Wait()
		if !waited {
			t.Error("Wait did not return after the last task")
		}
	})
}

// The end of a source's context drops what is queued, at the latest when its turn
// comes.
func TestEndOfContextDropsTheQueue(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		ctx, cancel := context.WithCancel(context.Background())
		s := e.NewSource(SourceConfig{Context: ctx, Room: 10, Job: new(record), Shared: true})
		s.Offer(does(cancel), nil)
		for range 3 {
			s.Offer(does(func() { t.Error("ran after the end of the context") }), nil)
		}
		s.Wait()
		if c := e.Counts(); c.Completed != 1 || c.Dropped != 3 {
			t.Errorf("%+v", c)
		}
		if a := s.Offer(nothing, nil); a != Over {
			t.Errorf("%v", a)
		}
	})
}

// Sources are served in turn, a task each, however long the queue of one is.
func TestSourcesTakeTurns(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		a, _ := source(e, 100)
		b, _ := source(e, 100)
		c, _ := source(e, 100)
		hold := make(chan struct{})
		a.Offer(does(func() { <-hold }), nil)
		synctest.Wait()
		order := ""
		for range 4 {
			a.Offer(does(func() { order += "a" }), nil)
		}
		for range 2 {
			b.Offer(does(func() { order += "b" }), nil)
		}
		c.Offer(does(func() { order += "c" }), nil)
		close(hold)
		for _, s := range []*Source{a, b, c} {
			s.Wait()
		}
		if order != "abcabaa" {
			t.Errorf("order %q", order)
		}
	})
}

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

func TestDrainEndsWorkers(t *testing.T) {
	bubble(t, 3, func(t *testing.T, e *Engine) {
		s, _ := source(e, 10)
		hold := make(chan struct{})
		s.Offer(does(func() { <-hold }), nil)
		s.Offer(nothing, nil)
		synctest.Wait()
		if c := e.Counts(); c.Workers != 2 || c.Idle != 1 {
			t.Fatalf("%+v", c)
		}
		e.Drain()
		synctest.Wait()
		if c := e.Counts(); c.Workers != 1 {
			t.Errorf("Drain left %+v", c)
		}
		s.Offer(nothing, nil) // still taken
		synctest.Wait()
		close(hold)
		e.Quiet(nil)
		if c := e.Counts(); c.Workers != 0 || c.Completed != 3 {
			t.Errorf("%+v", c)
		}
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
		e.Quiet(nil)
		if got := time.Since(start); got != time.Minute/100 {
			t.Errorf("the last worker ended after %v", got)
		}
		end(t, e)
	})
}

func TestCloseRunsWhatWasAccepted(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		s, _ := source(e, 10)
		ran := 0
		for range 5 {
			s.Offer(does(func() { time.Sleep(time.Second); ran++ }), nil)
		}
		e.Close()
		if a := s.Offer(nothing, nil); a != Over || !e.Closed() {
			t.Errorf("after Close: %v", a)
		}
		e.Close()
		e.Quiet(nil)
		if ran != 5 {
			t.Errorf("%d of 5 ran", ran)
		}
	})
}

func TestAbandon(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		a, ra := source(e, 10)
		b, rb := source(e, 10)
		hold := make(chan struct{})
		a.Offer(does(func() { <-hold }), nil)
		synctest.Wait()
		for range 3 {
			a.Offer(does(func() { t.Error("ran") }), nil)
			b.Offer(does(func() { t.Error("ran") }), nil)
		}
		e.Close()
		e.Abandon()
		b.Wait() // has nothing any more
		if ra.abandoned != 1 || rb.abandoned != 1 {
			t.Errorf("told %d and %d times", ra.abandoned, rb.abandoned)
		}
		close(hold)
		a.Wait()
		if c := e.Counts(); c.Completed != 1 || c.Dropped != 6 {
			t.Errorf("%+v", c)
		}
	})
}

// The one who waits for a source that is abandoned sees that it was: the job is
// told before the source is quiet.
func TestAbandonedBeforeWaitReturns(t *testing.T) {
	for range 2000 {
		e, _ := engine(1)
		hold := make(chan struct{})
		first, _ := source(e, 1)
		first.Offer(does(func() { <-hold }), nil)
		for e.Counts().Running == 0 {
			runtime.Gosched()
		}
		var wg sync.WaitGroup
		var silent atomic.Int32
		for range 4 {
			s, r := source(e, 1)
			s.Offer(nothing, nil)
			wg.Go(func() {
				s.Wait()
				r.mu.Lock()
				defer r.mu.Unlock()
				if r.abandoned != 1 {
					silent.Add(1)
				}
			})
		}
		e.Close()
		e.Abandon()
		wg.Wait()
		close(hold)
		end(t, e)
		if silent.Load() > 0 {
			t.Fatalf("%d of 4 waiters were not told", silent.Load())
		}
	}
}

// dropless is a record that looks at its source's engine when it is told.
type dropless struct {
	record
	t *testing.T
	e *Engine
}

func (d *dropless) Abandoned() {
	if c := d.e.Counts(); c.Queued != 1 || c.Dropped != 0 {
		d.t.Errorf("told when the queue was dropped: %+v", c)
	}
	d.record.Abandoned()
}

// The job is told before the queue is dropped: who finds it empty can look for
// the reason.
func TestAbandonTellsFirst(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		d := &dropless{t: t, e: e}
		s := e.NewSource(SourceConfig{Context: context.Background(), Room: 1, Job: d, Shared: true})
		s.Offer(does(func() { time.Sleep(time.Second) }), nil)
		synctest.Wait()
		s.Offer(does(func() { t.Error("ran") }), nil)
		e.Close()
		e.Abandon()
		if c := e.Counts(); d.abandoned != 1 || c.Queued != 0 || c.Dropped != 1 {
			t.Errorf("told %d times, %+v", d.abandoned, c)
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

func TestQuiet(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		if !e.Quiet(nil) {
			t.Error("an engine without tasks is not quiet")
		}
		s, _ := source(e, 10)
		s.Offer(does(func() { time.Sleep(time.Hour) }), nil)
		done := make(chan struct{})
		got := make(chan bool)
		go func() { got <- e.Quiet(done) }()
		synctest.Wait()
		close(done)
		if <-got {
			t.Error("quiet while a task runs")
		}
		start := time.Now()
		if !e.Quiet(nil) || time.Since(start) != time.Hour {
			t.Errorf("quiet after %v", time.Since(start))
		}
	})
}

// A source that may submit from its own tasks still does so after Close; its
// first task is refused like any other.
func TestOwnSourceAfterClose(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		late := e.NewSource(SourceConfig{Context: context.Background(), Room: 10, Job: new(record), Shared: true, Own: true})
		s := e.NewSource(SourceConfig{Context: context.Background(), Room: 10, Job: new(record), Shared: true, Own: true})
		ran := false
		s.Offer(does(func() {
			time.Sleep(time.Second)
			if a := s.Offer(does(func() { ran = true }), nil); a != Accepted {
				t.Errorf("from an own task: %v", a)
			}
		}), nil)
		synctest.Wait()
		e.Close()
		e.Quiet(nil)
		if !ran {
			t.Error("quiet before the source's last task")
		}
		if a := late.Offer(does(func() { t.Error("ran on a closed engine") }), nil); a != Over {
			t.Errorf("the first task after Close: %v", a)
		}
	})
}

// Two engines on one limiter of one permit take turns, once a quantum of virtual
// time; never are both at work.
func TestEnginesYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(1)
		order := ""
		var now int32
		var all []*Source
		var engines []*Engine
		for _, name := range []string{"a", "b"} {
			e := bare(l, time.Second)
			s, _ := source(e, 10)
			for range 4 {
				s.Offer(does(func() {
					if atomic.AddInt32(&now, 1) != 1 {
						t.Error("two at work on one permit")
					}
					order += name
					time.Sleep(limit.Quantum)
					atomic.AddInt32(&now, -1)
				}), nil)
			}
			all, engines = append(all, s), append(engines, e)
		}
		for _, s := range all {
			s.Wait()
		}
		// The first worker may be at work, and its engine in line for a second
		// permit, before the other engine has a task.
		if order != "abababab" && order != "aabababb" {
			t.Errorf("order %q", order)
		}
		end(t, engines...)
	})
}

// A limit that becomes smaller is reached as tasks end, and no task starts
// beyond it; a larger one starts what waits.
func TestSetLimitWhileWorking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(4)
		s, _ := source(e, 100)
		for range 20 {
			s.Offer(does(func() { time.Sleep(time.Second) }), nil)
		}
		running := func(want int) {
			t.Helper()
			synctest.Wait()
			if c := e.Counts(); c.Running != want {
				t.Errorf("%d run, want %d", c.Running, want)
			}
		}
		running(4)
		time.Sleep(time.Second / 2)
		l.Set(2)
		running(4)
		time.Sleep(time.Second)
		running(2)
		l.Set(5)
		running(5)
		s.Wait()
		end(t, e)
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

// inside returns the context of a task that runs on a permit of l, and gives the
// permit back at the end of the test's function.
func inside(t *testing.T, l *limit.Limiter) context.Context {
	t.Helper()
	if !l.TryAcquire() {
		t.Fatal("no permit")
	}
	return limit.With(context.Background(), limit.NewSlot(l, limit.Permit{}), nil, true)
}

// A task that waits for its own source at limit 1 lends it the permit, in Wait and
// in Submit; a stranger in line gets none meanwhile.
func TestVisitor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(1)
		ctx := inside(t, l)
		home := limit.From(ctx)
		s := e.NewSource(SourceConfig{Context: ctx, Room: 2, Job: new(record), Home: home})
		stranger := &limit.Waiter{Grant: func() { t.Error("a stranger got the permit of a task that waits") }}
		l.Join(stranger, nil)
		ran := 0
		for range 10 {
			if a := s.Submit(nil, does(func() { time.Sleep(time.Second); ran++ }), home); a != Accepted {
				t.Fatal(a)
			}
		}
		if ran < 7 {
			t.Errorf("%d of 10 ran to make room for 2", ran)
		}
		s.Wait()
		if ran != 10 {
			t.Errorf("%d of 10 ran", ran)
		}
		if _, out, _ := l.Counts(); out != 1 {
			t.Errorf("%d permits are out", out)
		}
		l.Leave(stranger)
		l.Release(limit.Permit{})
		end(t, e)
	})
}

// A task that comes while its source is waited for runs on the permit of the one
// who waits, who was asleep.
func TestVisitorTakesLateTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(2)
		ctx := inside(t, l)
		s := e.NewSource(SourceConfig{Context: ctx, Room: 10, Job: new(record), Home: limit.From(ctx)})
		start := time.Now()
		s.Offer(does(func() {
			time.Sleep(time.Second)
			for range 2 {
				s.Offer(does(func() { time.Sleep(time.Second) }), nil)
			}
			time.Sleep(time.Second)
		}), nil)
		synctest.Wait() // it runs on the other permit
		s.Wait()
		if got := time.Since(start); got != 3*time.Second { // 1, then 1 beside 1, then 1
			t.Errorf("%v", got)
		}
		l.Release(limit.Permit{})
		end(t, e)
	})
}

// A panic or a Goexit of a task on a lent permit stays in that task: the waiter
// goes on.
func TestVisitorSurvivesItsTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(1)
		ctx := inside(t, l)
		r := new(record)
		s := e.NewSource(SourceConfig{Context: ctx, Room: 10, Job: r, Home: limit.From(ctx)})
		ran := 0
		for range 3 {
			s.Offer(does(runtime.Goexit), nil)
			s.Offer(does(func() { panic("x") }), nil)
			s.Offer(does(func() { ran++ }), nil)
		}
		whole := false
		done := make(chan struct{})
		go func() { defer close(done); s.Wait(); whole = true }()
		<-done
		if !whole || ran != 3 || len(r.failed) != 6 {
			t.Errorf("Wait returned %v, %d ran, %d failed", whole, ran, len(r.failed))
		}
		l.Release(limit.Permit{})
		end(t, e)
	})
}

// The permit of a waiting task that comes too late to be of use does not stay
// with it.
func TestVisitorSitsOnNoPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(2)
		ctx := inside(t, l)
		sibling, _ := l.Acquire(nil, nil, limit.From(ctx)) // has the task's permit
		l.TryAcquire()                                     // a stranger has the other
		s := e.NewSource(SourceConfig{Context: ctx, Room: 10, Job: new(record), Home: limit.From(ctx)})
		hold := make(chan struct{})
		s.Offer(does(func() { <-hold }), nil)
		done := make(chan struct{})
		go func() { s.Wait(); close(done) }()
		synctest.Wait()           // the engine and the visitor stand in line
		l.Release(limit.Permit{}) // the stranger's: a worker takes the task
		synctest.Wait()
		l.Release(sibling) // the visitor has nothing to do with it
		synctest.Wait()
		w := &limit.Waiter{Grant: func() {}}
		if !l.Join(w, limit.From(ctx)) {
			t.Error("a call of the waiting task gets no permit")
		} else {
			l.Release(w.Permit)
		}
		close(hold)
		<-done
		l.Release(limit.Permit{})
		end(t, e)
	})
}

// A submitter whose loan was cut short stands in line again: its own task's
// permit may come free later, and nobody else can use that.
func TestVisitorStandsInLineAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(2)
		ctx := inside(t, l)
		sibling, _ := l.Acquire(nil, nil, limit.From(ctx)) // has the task's permit
		l.TryAcquire()                                     // a stranger
		s := e.NewSource(SourceConfig{Context: context.Background(), Room: 64, Job: new(record), Home: limit.From(ctx)})
		hold := make(chan struct{})
		s.Offer(does(func() { <-hold }), nil)
		s.Offer(does(func() { l.Set(1) }), nil)
		for range 62 {
			s.Offer(nothing, nil)
		}
		answers := make(chan Answer, 1)
		go func() { answers <- s.Submit(nil, nothing, limit.From(ctx)) }()
		synctest.Wait()
		l.Set(4) // the engine takes the first task, the visitor the second
		synctest.Wait()
		close(hold)
		l.Release(limit.Permit{}) // the stranger's
		l.Release(sibling)
		synctest.Wait()
		if len(answers) == 0 {
			t.Error("the submitter waits for ever beside its own free permit")
			l.Set(9)
		}
		<-answers
		s.Wait()
		l.Release(limit.Permit{})
		end(t, e)
	})
}

// The engine of a source that was stopped leaves the limiter's line.
func TestStoppedSourceLeavesTheLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(1)
		l.TryAcquire()
		s, _ := source(e, 10)
		s.Offer(nothing, nil)
		if _, _, waiting := l.Counts(); waiting != 1 {
			t.Errorf("%d wait", waiting)
		}
		s.Stop()
		if _, _, waiting := l.Counts(); waiting != 0 {
			t.Errorf("%d wait for nothing", waiting)
		}
		l.Release(limit.Permit{})
		end(t, e)
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
			if i%64 == 0 {
				for e.Counts().Idle == 0 {
					runtime.Gosched()
				}
			}
		}
		end(t, e)
	}
}

// TestRandom mixes everything on engines that share a limiter, and counts.
func TestRandom(t *testing.T) {
	// An engine whose only source has a long queue, where tasks are claimed without
	// the lock, and one whose sources take turns.
	rooms := [][]int{{64}, {0, 4, 100}}
	const callers, ops = 4, 150
	for round := range uint64(20) {
		s := *seed + round
		largest := int32(4)
		l := limit.New(int(largest))
		var es []*Engine
		var ss []*Source
		for _, rooms := range rooms {
			e := bare(l, 50*time.Microsecond)
			es = append(es, e)
			for _, room := range rooms {
				src, _ := source(e, room)
				ss = append(ss, src)
			}
		}
		var now, top, ran, accepted atomic.Int32
		var wg sync.WaitGroup
		for c := range callers {
			r := rand.New(rand.NewPCG(s, uint64(c)))
			wg.Go(func() {
				src := ss[0]
				for range ops {
					if r.IntN(40) == 0 { // else more for the same: its queue becomes long
						src = ss[r.IntN(len(ss))]
					}
					kind := r.IntN(8)
					t := does(func() {
						for n, old := now.Add(1), top.Load(); n > old && !top.CompareAndSwap(old, n); old = top.Load() {
						}
						defer now.Add(-1)
						ran.Add(1)
						switch kind {
						case 0:
							panic("x")
						case 1:
							runtime.Goexit()
						case 2:
							runtime.Gosched()
						}
					})
					var a Answer
					switch r.IntN(4) {
					case 0:
						a = src.Offer(t, nil)
					case 1:
						done := make(chan struct{})
						close(done)
						a = src.Submit(done, t, nil)
					case 2:
						l.Set(1 + r.IntN(int(largest)))
						fallthrough
					default:
						a = src.Submit(nil, t, nil)
					}
					if a == Accepted {
						accepted.Add(1)
					}
					if r.IntN(20) == 0 {
						if c := src.engine.Counts(); c.Running+c.Idle > c.Workers || c.Queued < 0 || int64(c.Completed) < 0 {
							panic(fmt.Sprintf("-stint.seed=%d: %+v", s, c))
						}
					}
					if r.IntN(200) == 0 {
						src.Stop()
					}
				}
			})
		}
		wg.Wait()
		l.Set(int(largest))
		for _, src := range ss {
			src.Wait()
		}
		var dropped, completed uint64
		end(t, es...)
		for _, e := range es {
			dropped += e.Counts().Dropped
			completed += e.Counts().Completed
		}
		if uint64(ran.Load()) != completed || uint64(accepted.Load()) != completed+dropped || top.Load() > largest {
			t.Fatalf("-stint.seed=%d: accepted %d, ran %d, completed %d, dropped %d, at most %d at once under %d",
				s, accepted.Load(), ran.Load(), completed, dropped, top.Load(), largest)
		}
		if t.Failed() {
			t.Fatalf("-stint.seed=%d", s)
		}
	}
}

// hands returns an engine's source with n tasks in one segment that is open, and the
// hand of a worker that has had a task of it.
func hands(n int) (*limit.Limiter, *Source, *segment, *hand) {
	e, l := engine(1)
	s, _ := source(e, 1000)
	for i := range n {
		s.queue.push(nothing, i, lastSegment)
	}
	g := s.queue.opened(lastSegment)
	s.front.Store(g)
	return l, s, g, &hand{source: s, ctx: s.Context, signs: l.Signs()}
}

// A worker looks before the next task when the limiter's signs have changed, when the
// source's context has ended, and when there is nothing to claim. Then, and with the last
// claim of a segment, the count of the tasks that it has read is complete: else the segment could
// not be used again.
func TestHand(t *testing.T) {
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
			next := filled(4).opened(4)
			next.claim() // by somebody else
			s.front.Store(next)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l, s, g, h := hands(c.tasks)
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

// Places that claims have made free are there for the next offer, and no more.
func TestOfferSeesClaims(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		const room = 64
		s, step := steps(e, 1+room)
		for i := range room {
			if a := s.Offer(nothing, nil); a != Full {
				t.Errorf("after %d: %v without room", i, a)
			}
			step()
			if a := s.Offer(nothing, nil); a != Accepted {
				t.Errorf("after %d: %v though one has ended", i+1, a)
			}
		}
		step()
		s.Wait()
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
		step() // its worker goes on with the task that is first in line
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

// Stop drops what was open to claims, counts it, and keeps none of it.
func TestStopDropsOpenTasks(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		s, step := steps(e, 64)
		for range 20 {
			step()
		}
		s.Stop()
		if s.front.Load() != nil {
			t.Error("what was dropped is kept")
		}
		if c := e.Counts(); c.Queued != 0 || c.Running != 1 || c.Completed != 20 || c.Dropped != 43 {
			t.Errorf("%+v", c)
		}
		step()
		s.Wait()
		if c := e.Counts(); c.Running != 0 || c.Completed != 21 {
			t.Errorf("%+v", c)
		}
	})
}

// The tasks of an own source do not count, however many are queued.
func TestOwnTasksDoNotCount(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		s := e.NewSource(SourceConfig{Context: context.Background(), Room: 1000, Job: new(record), Shared: true, Own: true})
		for range 100 {
			s.Offer(nothing, nil)
		}
		s.Wait()
		if c := e.Counts(); c.Completed != 0 {
			t.Errorf("%+v", c)
		}
	})
}

// A submitter that found the queue full, and for which there is room when it comes to
// wait, does not wait.
func TestSubmitterLooksAgain(t *testing.T) {
	for _, room := range []int{1, 64} {
		bubble(t, 1, func(t *testing.T, e *Engine) {
			s, _ := source(e, room)
			hold := make(chan struct{})
			s.Offer(does(func() { <-hold }), nil)
			synctest.Wait()
			in := false
			go func() { s.submit(nil, nothing, nil); in = true }()
			synctest.Wait()
			if !in {
				t.Errorf("room %d: waits though there is room", room)
			}
			close(hold)
			s.Wait()
		})
	}
}

// As many submitters are let in as there is room for, and they are told in the order
// in which they came.
func TestAsManyAreLetIn(t *testing.T) {
	for room, in := range map[int]int{1: 1, 64: 16} {
		bubble(t, 1, func(t *testing.T, e *Engine) {
			s, _ := source(e, room)
			next := make(chan struct{})
			for range 1 + room {
				s.Offer(does(func() { <-next }), nil)
				synctest.Wait()
			}
			var bs []*submitter
			for range 2 * in {
				b := &submitter{task: nothing, answer: make(chan Answer, 1)}
				s.block(b, nil)
				bs = append(bs, b)
			}
			for range in {
				next <- struct{}{}
				synctest.Wait()
			}
			if c := e.Counts(); c.Queued != room || c.Blocked != in {
				t.Errorf("room %d: %+v", room, c)
			}
			for i, b := range bs {
				if told := len(b.answer) == 1; told != (i < in) || told && i > 0 && bs[i-1].next != b {
					t.Errorf("room %d: submitter %d was told %v", room, i, told)
				}
			}
			close(next)
			s.Wait()
		})
	}
}

// A task that left a call behind has lent its permit to it. The next task waits until it is
// back, also when it could be claimed, and has a context of its own: the call may use
// that of the first for as long as it likes.
func TestNoTaskBesideACallLeftBehind(t *testing.T) {
	for _, room := range []int{10, 100} {
		synctest.Test(t, func(t *testing.T) {
			l := limit.New(1)
			e, s := New(Config{Limiter: l, Expiry: time.Second},
				SourceConfig{Context: context.Background(), Room: room, Job: new(record)})
			hold := make(chan struct{})
			begun := 0
			call := new(limit.Waiter)
			var link *limit.Link
			var slot *limit.Slot
			s.Offer(does(func() { <-hold }), nil)
			synctest.Wait()
			for i := range 8 {
				s.Offer(func(ctx context.Context) error {
					begun++
					if i == 4 {
						link = limit.From(ctx)
						slot, _ = link.On(l)
						if !l.Join(call, link) {
							t.Error("the task's permit is not free for its call")
						}
					}
					if mine, _ := limit.From(ctx).On(l); i > 4 && mine == slot {
						t.Error("a task runs on the slot of the call")
					}
					return nil
				}, nil)
			}
			close(hold)
			synctest.Wait()
			if c := e.Counts(); c.Completed != 6 || c.Running != 0 {
				t.Errorf("room %d: %+v", room, c)
			}
			l.Release(call.Permit)
			s.Wait()
			if begun != 8 {
				t.Errorf("room %d: %d tasks in all", room, begun)
			}
			if after, _ := link.On(l); after != slot {
				t.Error("what the call has for a context is used by others")
			}
			end(t, e)
		})
	}
}

// A worker that ran tasks on a lent permit runs the next on one of the limiter's own,
// and tells the task so.
func TestTaskAfterAVisit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(1)
		e, s := New(Config{Limiter: l, Expiry: time.Second}, SourceConfig{Context: context.Background(), Job: new(record)})
		var permits []limit.Permit
		f := func(ctx context.Context) error {
			permits = append(permits, limit.From(ctx).Permit())
			return nil
		}
		ctx := inside(t, l)
		s.Submit(nil, f, limit.From(ctx))
		synctest.Wait()
		l.Release(limit.Permit{})
		s.Offer(f, nil)
		s.Wait()
		if len(permits) != 2 || permits[0] == (limit.Permit{}) || permits[1] != (limit.Permit{}) {
			t.Errorf("ran on %v, want one that is lent and one that is not", permits)
		}
		end(t, e)
	})
}

// A task that waits for room lends its permit until it is let in, also when more could be
// claimed.
func TestVisitorLeavesALongQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, l := engine(1)
		ctx := inside(t, l)
		s, _ := source(e, 64)
		ran := 0
		f := does(func() { time.Sleep(time.Second); ran++ })
		for range 64 {
			s.Offer(f, nil)
		}
		if a := s.Submit(nil, f, limit.From(ctx)); a != Accepted || ran != 16 {
			t.Errorf("%v after %d tasks, want the quarter that lets it in", a, ran)
		}
		l.Release(limit.Permit{})
		s.Wait()
		if ran != 65 {
			t.Errorf("%d tasks in all", ran)
		}
		end(t, e)
	})
}

// Of two engines each hands its permit on after as many tasks, where no time passes.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(1)
		l.TryAcquire()
		const n = 5 * limit.Turns
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
			if run > limit.Turns || run < limit.Turns-1 && !rest {
				t.Errorf("%d tasks in a row, want %d", run, limit.Turns)
			}
		}
		end(t, engines...)
	})
}

// piecework is a record whose tasks are pieces.
type piecework struct {
	record
	brief bool
}

func (p *piecework) Brief() bool { return p.brief }

// That pieces of short work wait for a place does not make a limit look for another one;
// that others do does.
func TestBriefPiecesPressNobody(t *testing.T) {
	for _, brief := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			search := auto.Config{Min: 1, Max: 64, Burst: 12, Procs: 2}
			job := &piecework{brief: brief}
			e, s := New(Config{Auto: search, Expiry: time.Second}, SourceConfig{Context: context.Background(), Room: 1000, Job: job})
			release := make(chan struct{})
			for range 100 {
				s.Offer(does(func() { <-release }), nil)
			}
			synctest.Wait()
			if active := e.Tuner().Active(); active == brief {
				t.Errorf("brief is %t, active %t", brief, active)
			}
			close(release)
			e.Drain()
			s.Wait()
			e.Quiet(nil)
		})
	}
}
