package work

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/limit"
)

// fill offers n tasks, each when the one before has a worker or is queued. One ends with each
// receive from step.
func fill(s *Source, n int) (step chan struct{}) {
	step = make(chan struct{})
	for range n {
		s.Offer(does(func() { <-step }), nil)
		synctest.Wait()
	}
	return step
}

// With limit 3 and a queue of 2 five tasks find room, and the sixth is refused: whether the
// workers have come or not, and whichever sources share the queue.
func TestOfferFills(t *testing.T) {
	for _, limit := range []int{1, 3} {
		for _, room := range []int{0, 1, 2, 64} { // the largest is as large as a ring
			for _, sources := range []int{1, 3} {
				shared(t, limit, room, sources, func(t *testing.T, e *Engine, ss []*Source) { offerFills(t, e, ss, limit+room, true) })
				shared(t, limit, room, sources, func(t *testing.T, e *Engine, ss []*Source) { offerFills(t, e, ss, limit+room, false) })
			}
		}
	}
}

// offerFills offers one task more than the n that find room.
func offerFills(t *testing.T, e *Engine, ss []*Source, n int, awaitWorkers bool) {
	hold := make(chan struct{})
	held := does(func() { <-hold })
	for i := range n {
		if a := ss[i%len(ss)].Offer(held, nil); a != Accepted {
			t.Errorf("task %d of %d: %v", i, n, a)
		}
		if awaitWorkers {
			synctest.Wait()
		}
	}
	for i, s := range ss {
		if a := s.Offer(held, nil); a != Full {
			t.Errorf("one more than %d, source %d: %v", n, i, a)
		}
		if r := s.queue.ring.Load(); r != nil && len(r.slots) > max(minRing, s.room.size) {
			t.Errorf("%d slots for %d tasks", len(r.slots), s.room.size)
		}
	}
	apart, _ := source(e, 1)
	if a := apart.Offer(held, nil); a != Accepted {
		t.Errorf("a source with its own room: %v", a)
	}
	synctest.Wait()
	if c := e.Counts(); c.Running+c.Queued != n+1 || e.lasting.room.queued != e.lasting.room.size {
		t.Errorf("%+v, and %d in the room", c, e.lasting.room.queued)
	}
	close(hold)
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
		bubble(t, 1, func(t *testing.T, e *Engine) {
			s, _ := source(e, room)
			step := fill(s, 1+room)
			var got []int
			for i := range 9 {
				go s.Submit(nil, does(func() { got = append(got, i) }), nil)
				synctest.Wait()
			}
			if c := e.Counts(); c.Blocked != 9 {
				t.Errorf("room %d: %d submitters wait", room, c.Blocked)
			}
			if a := s.Offer(nothing, nil); a != Full {
				t.Errorf("room %d: a newcomer starts before those that wait: %v", room, a)
			}
			step <- struct{}{}
			synctest.Wait()
			if c := e.Counts(); c.Blocked != 8 && room > 0 {
				t.Errorf("room %d: %d submitters wait after a task has ended", room, c.Blocked)
			}
			close(step)
			s.Wait()
			if !slices.Equal(got, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}) {
				t.Errorf("room %d: served %v", room, got)
			}
		})
	}
}

// What ends the wait of a submitter: its own channel, Stop, Close and the end of
// the context. Each leaves no trace in the counts.
func TestSubmitGivesUp(t *testing.T) {
	for _, c := range []struct {
		end  func(e *Engine, s *Source, done chan struct{})
		want Answer
	}{
		{func(_ *Engine, _ *Source, done chan struct{}) { close(done) }, GaveUp},
		{func(_ *Engine, s *Source, _ chan struct{}) { s.Stop() }, Over},
		{func(e *Engine, _ *Source, _ chan struct{}) { e.Close() }, Over},
	} {
		bubble(t, 1, func(t *testing.T, e *Engine) {
			s, _ := source(e, 0)
			step := fill(s, 1)
			done, answer := make(chan struct{}), make(chan Answer, 1)
			go func() { answer <- s.Submit(done, does(func() { t.Error("ran") }), nil) }()
			synctest.Wait()
			c.end(e, s, done)
			if a := <-answer; a != c.want {
				t.Errorf("%v, want %v", a, c.want)
			}
			if n := e.Counts().Blocked; n != 0 {
				t.Errorf("%d still wait", n)
			}
			close(step)
			s.Wait()
		})
	}
}

func TestStopDropsTheQueue(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		s, _ := source(e, 10)
		step := fill(s, 1)
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
		close(step)
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
		s := e.NewSource(SourceConfig{Context: ctx, Room: 10, Runner: new(record)})
		queued := make(chan struct{})
		s.Offer(does(func() { <-queued; cancel() }), nil)
		for range 3 {
			s.Offer(does(func() { t.Error("ran after the end of the context") }), nil)
		}
		close(queued)
		s.Wait()
		if c := e.Counts(); c.Completed != 1 || c.Dropped != 3 {
			t.Errorf("%+v", c)
		}
		if a := s.Offer(nothing, nil); a != Over {
			t.Errorf("%v", a)
		}
	})
}

// A source that may submit from its own tasks still does so after Close; its
// first task is refused like any other.
func TestOwnSourceAfterClose(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		late := e.NewSource(SourceConfig{Context: context.Background(), Room: 10, Runner: new(record), Finite: true})
		s := e.NewSource(SourceConfig{Context: context.Background(), Room: 10, Runner: new(record), Finite: true})
		ran := false
		s.Offer(does(func() {
			time.Sleep(time.Second)
			if a := s.Offer(does(func() { ran = true }), nil); a != Accepted {
				t.Errorf("from an own task: %v", a)
			}
		}), nil)
		synctest.Wait()
		e.Close()
		e.WaitIdle(nil)
		if !ran {
			t.Error("idle before the source's last task")
		}
		if a := late.Offer(does(func() { t.Error("ran on a closed engine") }), nil); a != Over {
			t.Errorf("the first task after Close: %v", a)
		}
	})
}

// The engine of a source that was stopped leaves the limiter's queue.
func TestStoppedSourceLeavesTheQueue(t *testing.T) {
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

// A submitter that found the queue full, and for which there is room when it comes to
// wait, does not wait.
func TestSubmitterLooksAgain(t *testing.T) {
	for _, room := range []int{1, 64} {
		bubble(t, 1, func(t *testing.T, e *Engine) {
			s, _ := source(e, room)
			step := fill(s, 1)
			in := false
			go func() { s.submit(nil, nothing, nil); in = true }()
			synctest.Wait()
			if !in {
				t.Errorf("room %d: waits though there is room", room)
			}
			close(step)
			s.Wait()
		})
	}
}

// A condition that becomes true while it is checked, or while the goroutine starts to
// wait, is seen: Notify comes after the change and loses no waiter.
func TestAwaitSeesEveryChange(t *testing.T) {
	e, _ := engine(1)
	s, _ := source(e, 1)
	const n = 2000
	var at atomic.Int64
	var wg sync.WaitGroup
	for i := range int64(2) { // in turn, each waits for the other
		wg.Go(func() {
			for step := i; step < n; step += 2 {
				s.AwaitLending(func() bool { return at.Load() == step })
				at.Add(1)
				s.Notify()
			}
		})
	}
	wg.Wait()
	if got := at.Load(); got != n {
		t.Errorf("%d steps, want %d", got, n)
	}
	end(t, e)
}
