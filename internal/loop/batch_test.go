package loop

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/internal/task"
)

// The limit that was lowered holds from the next item on, also where items are short.
func TestSmallerLimitAmongShortItems(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 20_000
				b := newBench(kind, 2)
				var g gauge
				var low atomic.Bool
				var done, late atomic.Int32
				var l *Loop
				l = b.loop(n, func(_ context.Context, i int) error {
					g.enter()
					defer g.leave()
					if low.Load() && g.now.Load() > 1 {
						late.Add(1)
					}
					if i%16 == 0 {
						time.Sleep(16 * time.Nanosecond)
					}
					if i == n/2 {
						l.lim.Set(1)
						low.Store(true)
						time.Sleep(time.Second)
					}
					done.Add(1)
					return nil
				})
				l.Procs = 2
				l.Run()
				if done.Load() != n || !l.Complete() {
					t.Errorf("%d items in all; complete: %v", done.Load(), l.Complete())
				}
				if late.Load() > 1 { // one may have had its permit before
					t.Errorf("%d items began beside another after the limit was 1", late.Load())
				}
				b.end(t)
			})
		})
	}
}

// A Goexit, an error that does not stop the loop, and a limit that goes up and
// down lose no item.
func TestEndsAmongShortItems(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 20_000
				b := newBench(kind, 2)
				var done, told atomic.Int32
				caller := goroutine.ID()
				var l *Loop
				l = b.loop(n, func(_ context.Context, i int) error {
					done.Add(1)
					if i%16 == 0 {
						time.Sleep(16 * time.Nanosecond)
					}
					switch {
					case i%1000 == 999:
						return errors.New("boom")
					case i%1000 == 499 && goroutine.ID() != caller:
						runtime.Goexit()
					case i%1000 == 0:
						l.lim.Set(1 + i/1000%2)
					}
					return nil
				})
				l.Procs = 2
				l.Body.(*testJob).failed = func(i int, o task.Outcome) bool {
					if (i%1000 != 999 || o.Err == nil) && (i%1000 != 499 || !o.Goexit) {
						t.Errorf("item %d: %+v", i, o)
					}
					told.Add(1)
					return false
				}
				l.Run()
				if done.Load() != n || !l.Complete() || told.Load() < n/1000 {
					t.Errorf("%d items, %d told; complete: %v", done.Load(), told.Load(), l.Complete())
				}
				b.end(t)
			})
		})
	}
}

// Each bit of halt ends a batch before the next item. Only the end of the loop
// keeps a worker from taking another.
func TestHalt(t *testing.T) {
	for _, bit := range []uint32{stopped, wanted} {
		l, ws := workersOf(100, 1)
		w := ws[0]
		w.setBatchSize(8)
		w.take()
		if !w.Begin(w.At + 1) {
			t.Fatalf("%b: halted before", bit)
		}
		l.halt.Or(bit)
		if w.Begin(w.At + 1) {
			t.Errorf("%b: went on with its batch", bit)
		}
		w.setBatchSize(1)
		if took := w.take(); took != (bit != stopped) {
			t.Errorf("%b: took another batch: %v", bit, took)
		}
	}
}

// The rest of a batch that is wanted goes back. A helper is called for it when what is left
// is more than 20 µs of work; else the worker looks again after the next item.
func TestWantedBatch(t *testing.T) {
	for _, c := range []struct {
		cost   time.Duration
		helper bool
	}{{204, false}, {205, true}} { // of each of 98 items
		synctest.Test(t, func(t *testing.T) {
			var calls atomic.Int32
			l := newBench("solo", 2).loop(100, func(context.Context, int) error { calls.Add(1); return nil })
			l.Procs, l.Compute = 2, true
			l.init()
			l.running.Add(1)
			w := new(worker)
			w.init(l, l.Context)
			w.cost = 1
			w.take()
			w.setBatchSize(16)
			w.take()
			l.halt.Or(wanted)
			w.refused()
			if w.rest() != 0 || l.batching != 0 || l.left() != 98 || w.every != 0 || l.halt.Load() != 0 {
				t.Errorf("%d in the batch, %d batching, %d left, looks after %d, halt %b",
					w.rest(), l.batching, l.left(), w.every, l.halt.Load())
			}
			w.calls = 10
			time.Sleep(10 * c.cost)
			w.measure()
			synctest.Wait()
			if helped := calls.Load() == 98; helped != c.helper || w.recalls == c.helper || c.helper != (w.every > 1) {
				t.Errorf("items of %d ns: %d by a helper, asked %v, looks after %d", c.cost, calls.Load(), w.recalls, w.every)
			}
		})
	}
}

// A call counts the items of its batch for the clock.
func TestItemsAreCounted(t *testing.T) {
	l := compute(0, 100_000, 2, 0, 0, func(int) {})
	l.init()
	w := new(worker)
	w.init(l, l.Context)
	w.cost = 1
	w.take()
	w.setBatchSize(8)
	w.take()
	if w.call(); w.made != 8 || w.calls != 8 {
		t.Errorf("%d calls were made and %d are to be measured, want 8", w.made, w.calls)
	}
}

func TestSome(t *testing.T) {
	l := new(Loop)
	s := Batch{halt: &l.halt}
	s.set(10, 20)
	for _, want := range []int{16, 24, 30, 30} {
		if end := s.Some(s.At + 1); end != want || s.At != end-1 || s.rest() != 30-want {
			t.Errorf("up to %d, at %d, %d left; want %d", end, s.At, s.rest(), want)
		}
	}
	s.set(10, 3)
	if end := s.Some(11); end != 13 || s.At != 12 || s.Some(13) != 13 || s.At != 12 {
		t.Errorf("up to %d, at %d", end, s.At)
	}
	s.set(math.MaxInt-10, 10) // no int is larger than its end
	for _, want := range []int{math.MaxInt - 7, math.MaxInt, math.MaxInt} {
		if end := s.Some(s.At + 1); end != want || s.At != end-1 {
			t.Errorf("up to %d, at %d; want %d", end, s.At, want)
		}
	}
	s.set(10, 3)
	l.halt.Store(wanted)
	if end := s.Some(11); end != 11 || s.At != 10 {
		t.Errorf("halted: up to %d, at %d", end, s.At)
	}
	if lo, hi := s.All(); lo != 10 || hi != 13 || s.rest() != 0 {
		t.Errorf("all are %d to %d, %d left", lo, hi, s.rest())
	}
}
