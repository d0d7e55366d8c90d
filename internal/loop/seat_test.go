package loop

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/task"
)

// rounds is how many loops TestRandomSmall runs.
var rounds = flag.Int("stint.rounds", 300, "rounds of random small loops")

func TestPack(t *testing.T) {
	for _, lo := range []int{0, 1, maxLength, maxLength + 1, 1<<31 - 1} {
		for _, n := range []int{0, 1, 127, maxLength} {
			if a, b := unpack(pack(lo, n)); a != lo || b != n {
				t.Errorf("%d, %d: got %d, %d", lo, n, a, b)
			}
		}
	}
	if size := reflect.TypeFor[seat]().Size(); size != 64 {
		t.Errorf("a seat has %d bytes, want those of a cache line", size)
	}
}

// Workers that claim, take, steal, give back and leave at random have each index
// once. A worker that finds nothing while another may give back does not end the
// loop; the oracle is a plain count.
func TestMoves(t *testing.T) {
	for round := range uint64(200) {
		s := *seed + round
		r := rand.New(rand.NewPCG(s, 0))
		n := 1 + r.IntN(3000)
		l := &Loop{N: n, Context: context.Background(), Procs: 1 + r.IntN(4), Limit: 1, paced: true, epoch: time.Now()}
		begun := make([]atomic.Int32, n)
		var wg sync.WaitGroup
		for c := range 4 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(s, uint64(c+1)))
				for !l.exhausted() {
					w := new(worker)
					w.init(l, l.Context)
					for w.take() {
						begun[w.At].Add(1)
						for r.IntN(8) > 0 && w.Begin(w.At+1) {
							begun[w.At].Add(1)
						}
						if w.rest() > 0 || r.IntN(8) == 0 {
							w.widen(1)
						}
						w.cost = r.Int64N(1000_000_000)
						w.widen(1 + r.IntN(maxWidth))
						if r.IntN(8) == 0 {
							break
						}
						if r.IntN(8) == 0 {
							runtime.Gosched()
						}
					}
					w.leave()
				}
			})
		}
		wg.Wait()
		for i := range begun {
			if c := begun[i].Load(); c != 1 {
				t.Fatalf("-stint.seed=%d: index %d was begun %d times", s, i, c)
			}
		}
		if l.deep != 0 || l.left() != 0 {
			t.Fatalf("-stint.seed=%d: %d workers are deep, %d indexes are left", s, l.deep, l.left())
		}
	}
}

// A range that one worker has claimed is what another begins with, also in the
// moment in which it is in nobody's seat yet.
func TestNothingIsMissedInAMove(t *testing.T) {
	const rounds, n = 100_000, 400
	spins := 1000
	if runtime.GOMAXPROCS(0) == 1 {
		spins = 1 // the other side cannot come meanwhile
	}
	var loops [2]atomic.Pointer[Loop] // of even and of odd rounds
	var at [2]atomic.Int64            // the rounds that the workers have come to
	missed := 0
	side := func(me int) {
		for round := int64(1); round <= rounds; round++ {
			if me == 0 {
				loops[round%2].Store(&Loop{N: n, Context: context.Background(), Procs: 2, Limit: 2})
			}
			w := new(worker)
			at[me].Store(round)
			for i := 1; at[1-me].Load() < round; i++ { // both go on at about the same time
				if i%spins == 0 {
					runtime.Gosched()
				}
			}
			w.init(loops[round%2].Load(), context.Background())
			w.cost = 1
			if me == 1 {
				for range round % 61 {
					at[0].Load()
				}
			}
			if !w.take() && me == 1 {
				missed++
			}
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { side(0) })
	side(1)
	wg.Wait()
	if missed > 0 {
		t.Errorf("in %d of %d rounds the other worker found nothing", missed, rounds)
	}
}

// In the modes in which items may wait for each other, or for long, none waits
// behind another; otherwise at most 127 do.
func TestWaitingBehindABlockedItem(t *testing.T) {
	for _, c := range []struct{ limit, procs, most int }{{2, 2, maxWidth - 1}, {2, 1, 0}, {3, 2, 0}, {3, 8, maxWidth - 1}} {
		for _, kind := range kinds {
			t.Run(fmt.Sprintf("%s, limit %d on %d", kind, c.limit, c.procs), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const n, blocked = 30_000, 15_000
					b := newBench(kind, c.limit)
					var done atomic.Int32
					gate := make(chan struct{})
					l := b.loop(n, func(_ context.Context, i int) error {
						if i == blocked {
							<-gate
						}
						if i%16 == 0 {
							time.Sleep(16) // a nanosecond each
						}
						done.Add(1)
						return nil
					})
					l.Procs = c.procs
					ended := make(chan struct{})
					go func() { l.Run(); close(ended) }()
					time.Sleep(time.Hour)
					if behind := n - 1 - int(done.Load()); behind > c.most {
						t.Errorf("%d items wait behind one, want at most %d", behind, c.most)
					}
					close(gate)
					<-ended
					if done.Load() != n || !l.Complete() {
						t.Errorf("%d items in all; complete: %v", done.Load(), l.Complete())
					}
					b.end(t)
				})
			})
		}
	}
}

// The limit that was lowered holds from the next item on, also for those that a
// worker has taken together with others, which anybody may have then.
func TestSmallerLimitInASpan(t *testing.T) {
	for _, kind := range kinds[1:] {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 20_000
				b := newBench(kind, 2)
				var g gauge
				var low atomic.Bool
				var done, late atomic.Int32
				l := b.loop(n, func(_ context.Context, i int) error {
					g.enter()
					defer g.leave()
					if low.Load() && g.now.Load() > 1 {
						late.Add(1)
					}
					if i%16 == 0 {
						time.Sleep(16)
					}
					if i == n/2 {
						b.lim.Set(1)
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
// down in the middle of spans lose no item.
func TestEndsInASpan(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 20_000
				b := newBench(kind, 2)
				var done, told atomic.Int32
				caller := goroutine()
				l := b.loop(n, func(_ context.Context, i int) error {
					done.Add(1)
					if i%16 == 0 {
						time.Sleep(16)
					}
					switch {
					case i%1000 == 999:
						return errors.New("boom")
					case i%1000 == 499 && goroutine() != caller:
						runtime.Goexit()
					case i%1000 == 0 && b.lim != nil:
						b.lim.Set(1 + i/1000%2)
					}
					return nil
				})
				l.Procs = 2
				l.Job.(*testJob).failed = func(i int, o task.Outcome) bool {
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

// TestRandomSmall runs loops of all kinds beside each other with failures, waits,
// and a limit that changes, and counts. The oracle is that every item is called
// once, or that the loop says it is not complete.
func TestRandomSmall(t *testing.T) {
	for round := range uint64(*rounds) {
		s := *seed + round
		r := rand.New(rand.NewPCG(s, 0))
		b := newBench("engine", 1+r.IntN(4))
		var wg sync.WaitGroup
		for c := range 3 {
			wg.Go(func() { randomLoops(t, b, s, rand.New(rand.NewPCG(s, uint64(c+1)))) })
		}
		if r.IntN(2) == 0 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(s, 99))
				for range 50 {
					b.lim.Set(1 + r.IntN(4))
					runtime.Gosched()
				}
			})
		}
		wg.Wait()
		b.lim.Set(4)
		b.end(t)
		if t.Failed() {
			t.Fatalf("-stint.seed=%d", s)
		}
	}
}

func randomLoops(t *testing.T, b *bench, s uint64, r *rand.Rand) {
	for range 4 {
		mine := *b
		switch r.IntN(3) {
		case 0:
			mine.e = nil
		case 1:
			mine.e, mine.lim = nil, nil
		}
		n := 1 + r.IntN([]int{3, 20, 300, 3000}[r.IntN(4)])
		at, fault, wait := r.IntN(n), r.IntN(7), r.IntN(2) == 0
		begun := make([]atomic.Int32, n)
		var now, top atomic.Int32
		var l *Loop
		l = mine.loop(n, func(ctx context.Context, i int) error {
			begun[i].Add(1)
			if k := now.Add(1); k > top.Load() {
				top.Store(k)
			}
			defer now.Add(-1)
			if wait && i%64 == 0 {
				runtime.Gosched()
			}
			if i != at {
				return nil
			}
			switch fault {
			case 0:
				return errors.New("boom")
			case 1:
				panic("x")
			case 2:
				runtime.Goexit()
			case 3:
				mine.loop(0, nil) // nothing
				l.Job.(*testJob).abandoned()
			}
			return nil
		})
		l.Procs = 1 + r.IntN(4)
		stop := l.Job.(*testJob).failed
		l.Job.(*testJob).failed = func(i int, o task.Outcome) bool {
			if i != at {
				t.Errorf("told of item %d, want %d", i, at)
			}
			return !o.Goexit && stop(i, o)
		}
		returned := false
		done := make(chan struct{})
		go func() { defer close(done); l.Run(); returned = true }()
		<-done
		sum := 0
		for i := range begun {
			if c := int(begun[i].Load()); c > 1 {
				t.Errorf("item %d was called %d times", i, c)
			} else {
				sum += c
			}
		}
		if returned && l.Complete() != (sum == n) || returned && sum != n && (fault > 3 || fault == 2) {
			t.Errorf("fault %d: %d of %d items were called; complete: %v", fault, sum, n, l.Complete())
		}
		if most := int32(max(4, b.n)); top.Load() > most {
			t.Errorf("%d at once under %d", top.Load(), most)
		}
	}
}

type nothing struct{}

func (nothing) Calls(context.Context, *Span) error { return nil }
func (nothing) Failed(int, task.Outcome) bool      { return true }
func (nothing) Abandoned()                         {}

// A helper that has found nothing counts as a worker until it has left. An owner
// that gives back its span meanwhile is told that there are enough, and asks again.
func TestAsksUntilSomebodyComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose clock says how long an item took
		l := &Loop{N: 1000, Context: context.Background(), Job: nothing{}, Procs: 2, Limit: 2, paced: true, epoch: time.Now()}
		l.ended.Store(true) // a helper that is started only counts itself out
		w, h := new(worker), new(worker)
		w.init(l, l.Context)
		h.init(l, l.Context)
		l.running.Store(2)
		l.helpers.Add(1)
		w.cost, w.calls, w.every = 1000, 1000, 1<<30
		w.widen(128)
		for w.take() && w.At+w.rest()+1 < l.N { // up to the last span
		}
		w.calls, w.read = 1, time.Since(l.epoch)
		time.Sleep(50 * time.Microsecond) // the first item of the span was long
		if h.take() || w.Begin(w.At+1) {
			t.Fatal("the owner was not asked")
		}
		w.made = 1
		w.calls++
		w.refused() // before h leaves
		w.take()
		h.leave()
		l.running.Add(-1)
		l.helpers.Done()
		for range 2 {
			time.Sleep(50 * time.Microsecond)
			w.calls++
			w.take()
		}
		if w.asked {
			t.Error("nobody was called")
		}
		l.helpers.Wait()
	})
}
