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
