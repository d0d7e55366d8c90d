package loop

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
)

// rounds is how many loops TestRandomSmall runs.
var rounds = flag.Int("stint.rounds", 300, "rounds of random small loops")

func TestPack(t *testing.T) {
	for _, lo := range []int{0, 1, maxRange, maxRange + 1, 1<<31 - 1} {
		for _, n := range []int{0, 1, 127, maxRange} {
			if a, b := unpack(pack(lo, n)); a != lo || b != n {
				t.Errorf("%d, %d: got %d, %d", lo, n, a, b)
			}
		}
	}
	if size := reflect.TypeFor[stealable]().Size(); size != 64 {
		t.Errorf("a stealable has %d bytes, want those of a cache line", size)
	}
}

// Workers that claim, take, steal, return and leave at random have each index
// once. A worker that finds nothing while another may return some does not end the
// loop; the oracle is a plain count.
func TestMoves(t *testing.T) {
	for round := range uint64(200) {
		s := *seed + round
		r := rand.New(rand.NewPCG(s, 0))
		n := 1 + r.IntN(3000)
		l := &Loop{N: n, Context: context.Background(), Procs: 1 + r.IntN(4), Limit: 1, Compute: true}
		l.init()
		l.timed, l.epoch = true, time.Now()
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
							w.setBatchSize(1)
						}
						w.cost = r.Int64N(1000_000_000)
						w.setBatchSize(1 + r.IntN(128))
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
		if l.batching != 0 || l.left() != 0 {
			t.Fatalf("-stint.seed=%d: %d workers are batching, %d indexes are left", s, l.batching, l.left())
		}
	}
}

// A range that one worker has claimed is what another begins with, also in the
// moment in which it is in no stealable range yet.
func TestNothingIsMissedInAMove(t *testing.T) {
	const n = 400
	spins := 1000
	if runtime.GOMAXPROCS(0) == 1 {
		spins = 1 // the other side cannot come meanwhile
	}
	var loops [2]atomic.Pointer[Loop] // of even and of odd rounds
	var at [2]atomic.Int64            // the rounds that the workers have come to
	missed := 0
	side := func(me int) {
		for round := int64(1); round <= meetings; round++ {
			if me == 0 {
				l := &Loop{N: n, Context: context.Background(), Procs: 2, Limit: 2, Compute: true}
				l.init()
				l.timed = false
				loops[round%2].Store(l)
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
		t.Errorf("in %d of %d rounds the other worker found nothing", missed, meetings)
	}
}

// No item waits behind another, however short those before it are.
func TestNoItemWaitsBehindABlockedOne(t *testing.T) {
	for _, c := range []struct{ limit, procs int }{{2, 2}, {2, 1}, {3, 2}, {3, 8}} {
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
							time.Sleep(16 * time.Nanosecond) // one each
						}
						done.Add(1)
						return nil
					})
					l.Procs = c.procs
					ended := make(chan struct{})
					go func() { l.Run(); close(ended) }()
					time.Sleep(time.Hour)
					if behind := n - 1 - int(done.Load()); behind > 0 {
						t.Errorf("%d items wait behind one", behind)
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
				l.Body.(*testJob).abandoned()
			}
			return nil
		})
		l.Procs = 1 + r.IntN(4)
		stop := l.Body.(*testJob).failed
		l.Body.(*testJob).failed = func(i int, o task.Outcome) bool {
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
		if limit := int32(max(4, b.n)); top.Load() > limit {
			t.Errorf("%d at once under %d", top.Load(), limit)
		}
	}
}

type nothing struct{}

func (nothing) Calls(context.Context, *Batch) error { return nil }
func (nothing) Failed(int, task.Outcome) bool       { return true }
func (nothing) Abandoned()                          {}

// A helper that has found nothing counts as a worker until it has left. An owner
// that gives back its batch meanwhile is told that there are enough, and asks again.
func TestAsksUntilSomebodyComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose clock says how long an item took
		l := &Loop{N: 1000, Context: context.Background(), Body: nothing{}, Procs: 2, Limit: 2, Compute: true}
		l.init()
		l.ended.Store(true) // a helper that is started only counts itself out
		w, h := new(worker), new(worker)
		w.init(l, l.Context)
		h.init(l, l.Context)
		l.running.Store(2)
		l.helpers.Add(1)
		w.cost, w.calls, w.every = 1000, 1000, 1<<30
		w.setBatchSize(128)
		for w.take() && w.At+w.rest()+1 < l.N { // up to the last batch
		}
		w.calls, w.read = 1, time.Since(l.epoch)
		time.Sleep(50 * time.Microsecond) // the first item of the batch was long
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
		if w.recalls {
			t.Error("nobody was called")
		}
		l.helpers.Wait()
	})
}

// workersOf returns workers of a loop of n items on two CPUs: the first has claimed
// them all, and has the first item in hand.
func workersOf(n, workers int) (*Loop, []*worker) {
	l := &Loop{N: n, Context: context.Background(), Procs: 2, Limiter: limit.New(workers), Compute: true}
	l.init()
	l.timed = false
	var ws []*worker
	for range workers {
		w := new(worker)
		w.init(l, l.Context)
		ws = append(ws, w)
	}
	ws[0].cost = 1
	ws[0].take()
	return l, ws
}

// stealableRange returns the bounds of the stealable range of w.
func (w *worker) stealableRange() [2]int {
	lo, n := unpack(w.claimed.word.Load())
	return [2]int{lo, lo + n}
}

// A thief has the back half of the longest range, the larger one; a worker without a range has
// its last index. The count of what is left follows.
func TestSteal(t *testing.T) {
	l, ws := workersOf(100, 3)
	a, b, c := ws[0], ws[1], ws[2]
	check := func(what string, at int, w *worker, left, inA, inB [2]int) {
		t.Helper()
		if w.At != at || w.rest() != 0 || a.stealableRange() != inA || b.claimed != nil && b.stealableRange() != inB {
			t.Errorf("%s: at %d, %v and %v are stealable", what, w.At, a.stealableRange(), inB)
		}
		if got := [2]int{l.unclaimed(), l.left()}; got != left {
			t.Errorf("%s: left %v, want %v", what, got, left)
		}
	}
	check("claim", 0, a, [2]int{0, 99}, [2]int{1, 100}, [2]int{})
	b.take()
	check("half", 50, b, [2]int{0, 98}, [2]int{1, 50}, [2]int{51, 100})
	c.take()
	check("without a range, equal", 99, c, [2]int{0, 97}, [2]int{1, 50}, [2]int{51, 99})
}

// The longest range is stolen from, wherever in the list it is.
func TestStealFromTheLongest(t *testing.T) {
	for longest := range 2 {
		_, ws := workersOf(100, 3)
		ws[1].take()
		for range 2 {
			ws[1-longest].take()
		}
		before := ws[longest].stealableRange()
		ws[2].take()
		if after := ws[longest].stealableRange(); after[1] != before[1]-1 || ws[2].At != after[1] {
			t.Errorf("worker %d has the longest range: at %d, %v of %v is left", longest, ws[2].At, after, before)
		}
	}
}

// A worker that leaves makes room for another.
func TestRangeIsReused(t *testing.T) {
	l, ws := workersOf(2, 3)
	s := ws[0].claimed
	ws[1].take()
	ws[0].leave()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !ws[2].ownRange() || ws[2].claimed != s {
		t.Error("the range of a worker that has left is not given to another")
	}
}

// A worker that finds nothing wants the batches of others, if there are any.
func TestWant(t *testing.T) {
	for others := range 3 {
		for _, itself := range []bool{false, true} {
			l, ws := workersOf(1, 4)
			for _, w := range ws[1 : 1+others] {
				w.setBatchSize(8)
			}
			if itself {
				ws[3].setBatchSize(8)
			}
			if ws[3].take() {
				t.Fatal("something was left")
			}
			if got := l.halt.Load()&wanted != 0; got != (others > 0) {
				t.Errorf("%d others may return some, the worker too: %v; wanted: %v", others, itself, got)
			}
		}
	}
}

// Looking for more leaves the counter where it is.
func TestCounterDoesNotRunAway(t *testing.T) {
	l := &Loop{N: 1, Context: context.Background(), Procs: 1, Limit: 1}
	l.init()
	w := new(worker)
	w.init(l, l.Context)
	if !w.take() || w.take() || w.take() || w.take() || l.next.Load() != 1 {
		t.Errorf("the next of one item is %d", l.next.Load())
	}
}

// Those who looked before the last index was claimed, or the loop was cut, find nothing
// when they claim, also where there is no larger int than N.
func TestCounterPassesTheLargestInt(t *testing.T) {
	for _, n := range []int{1, math.MaxInt - 1, math.MaxInt} {
		l := &Loop{N: n, Context: context.Background(), Procs: 1, Limit: 1}
		l.init()
		l.Cut()
		for range 4 {
			w := new(worker)
			w.init(l, l.Context)
			if w.claimOne() || w.take() || w.claimMany(3) {
				t.Errorf("%d items: claimed %d", n, w.At)
			}
			if l.left() != 0 || !l.exhausted() {
				t.Errorf("%d items: %d are left after the end", n, l.left())
			}
		}
	}
}

// Stealable indexes count as left, beside the last index that nobody has claimed.
func TestLeft(t *testing.T) {
	for unclaimed := range 2 {
		l := &Loop{N: 100, Context: context.Background(), Procs: 1, Limit: 1}
		l.init()
		w := new(worker)
		w.init(l, l.Context)
		l.mu.Lock()
		w.ownRange()
		w.claimMany(100 - unclaimed)
		l.mu.Unlock()
		if n := l.left(); n != 99 {
			t.Errorf("%d indexes are left, %d of them unclaimed, want 99", n, unclaimed)
		}
	}
}
