package loop

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strconv"
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
		t.Errorf("in %d of %d rounds the other worker found nothing", missed, meetings)
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
							time.Sleep(16 * time.Nanosecond) // one each
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
						time.Sleep(16 * time.Nanosecond)
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
						time.Sleep(16 * time.Nanosecond)
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
		l.most.Store(2)
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

// crew returns workers of a loop of n items on two processors: the first has claimed
// them all, and has the first item in hand.
func crew(n, workers int) (*Loop, []*worker) {
	l := &Loop{N: n, Context: context.Background(), Procs: 2, Limit: workers}
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

// inSeat returns the range in the seat of w.
func (w *worker) inSeat() [2]int {
	lo, n := unpack(w.seat.word.Load())
	return [2]int{lo, lo + n}
}

// A thief has the back half of the longest range, the larger one; a worker without a seat has
// its last index. The count of what is left follows.
func TestSteal(t *testing.T) {
	l, ws := crew(100, 3)
	a, b, c := ws[0], ws[1], ws[2]
	check := func(what string, at int, w *worker, left, inA, inB [2]int) {
		t.Helper()
		if w.At != at || w.rest() != 0 || a.inSeat() != inA || b.seat != nil && b.inSeat() != inB {
			t.Errorf("%s: at %d, %v and %v in the seats", what, w.At, a.inSeat(), inB)
		}
		if got := [2]int{l.unclaimed(), l.left()}; got != left {
			t.Errorf("%s: left %v, want %v", what, got, left)
		}
	}
	check("claim", 0, a, [2]int{0, 99}, [2]int{1, 100}, [2]int{})
	b.take()
	check("half", 50, b, [2]int{0, 98}, [2]int{1, 50}, [2]int{51, 100})
	c.take()
	check("without a seat, equal", 99, c, [2]int{0, 97}, [2]int{1, 50}, [2]int{51, 99})
}

// The longest range is stolen from, wherever in the list of the seats it is.
func TestStealFromTheLongest(t *testing.T) {
	for longest := range 2 {
		_, ws := crew(100, 3)
		ws[1].take()
		for range 2 {
			ws[1-longest].take()
		}
		before := ws[longest].inSeat()
		ws[2].take()
		if after := ws[longest].inSeat(); after[1] != before[1]-1 || ws[2].At != after[1] {
			t.Errorf("worker %d has the longest range: at %d, %v of %v is left", longest, ws[2].At, after, before)
		}
	}
}

// A worker that leaves makes room for another.
func TestSeatIsGivenBack(t *testing.T) {
	l, ws := crew(2, 3)
	s := ws[0].seat
	ws[1].take()
	ws[0].leave()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !ws[2].sit() || ws[2].seat != s {
		t.Error("the seat of a worker that has left is not given to another")
	}
}

// Who finds nothing wants what is in the spans of others, and nothing if there is none.
func TestWant(t *testing.T) {
	for others := range 3 {
		for _, itself := range []bool{false, true} {
			l, ws := crew(1, 4)
			for _, w := range ws[1 : 1+others] {
				w.widen(8)
			}
			if itself {
				ws[3].widen(8)
			}
			if ws[3].take() {
				t.Fatal("something was left")
			}
			if got := l.halt.Load()&wanted != 0; got != (others > 0) {
				t.Errorf("%d others may give back, the worker too: %v; wanted: %v", others, itself, got)
			}
		}
	}
}

// Each reason to end a span ends it before the next item. Only the end of the loop
// keeps a worker from taking another.
func TestHalt(t *testing.T) {
	for _, bit := range []uint32{stopped, lowered, wanted} {
		l, ws := crew(100, 1)
		w := ws[0]
		w.widen(8)
		w.take()
		if !w.Begin(w.At + 1) {
			t.Fatalf("%b: halted before", bit)
		}
		l.halt.Or(bit)
		if w.Begin(w.At + 1) {
			t.Errorf("%b: went on with its span", bit)
		}
		w.widen(1)
		if took := w.take(); took != (bit != stopped) {
			t.Errorf("%b: took another span: %v", bit, took)
		}
	}
}

// Looking for more leaves the counter where it is.
func TestCounterDoesNotRunAway(t *testing.T) {
	l := &Loop{N: 1, Context: context.Background(), Procs: 1, Limit: 1}
	w := new(worker)
	w.init(l, l.Context)
	if !w.take() || w.take() || w.take() || w.take() || l.next.Load() != 1 {
		t.Errorf("the next of one item is %d", l.next.Load())
	}
}

// What a look at the clock makes of the items since the one before. The cost grows
// at once and shrinks to an eighth; no more rides on it than four times what it was
// measured from.
func TestLearn(t *testing.T) {
	for _, c := range []struct {
		cost   int64 // before, in picoseconds
		calls  int
		passed time.Duration
		every  int // before, where it matters
		want   pace
	}{
		{0, 1, 2, 1, pace{cost: 2001, width: 4, every: 4}},
		{0, 30, 60, 1, pace{cost: 2001, width: 120, every: 120}},
		{0, 1000, 2000, 1, pace{cost: 2001, width: maxWidth, every: 3998}},
		{0, 1000, 100_000, 1, pace{cost: 100_001, width: 9, every: 79}},
		{0, 10, 500_000, 1, pace{cost: 50_000_001, width: 1, every: few}},
		{2001, 10, 500_000, 1, pace{cost: 50_000_001, width: 1, every: few}},
		{1_600_000, 1000, 100_000, 1, pace{cost: 200_000, width: 5, every: 40}},
		{0, 7, 0, 1, pace{width: 1, every: 2, calls: 7}},
		{0, 7, 0, 5000, pace{width: 1, every: 6000, calls: 7}},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &Loop{N: 100_000, Context: context.Background(), Procs: 2, Limit: 2, paced: true, epoch: time.Now()}
			w := new(worker)
			w.init(l, l.Context)
			w.cost, w.calls, w.every, w.seatless = c.cost, c.calls, c.every, true
			time.Sleep(c.passed)
			w.learn()
			c.want.read = c.passed
			if w.pace != c.want {
				t.Errorf("%d calls in %v, %d before: %+v, want %+v", c.calls, c.passed, c.cost, w.pace, c.want)
			}
			if w.seatless != (c.passed == 0) {
				t.Errorf("after %v it looks for a seat: %v", c.passed, !w.seatless)
			}
			next := new(worker)
			next.init(l, l.Context)
			if next.cost != c.want.cost {
				t.Errorf("the next worker begins with %d, want %d", next.cost, c.want.cost)
			}
		})
	}
}

func TestChunk(t *testing.T) {
	for _, c := range []struct {
		pace
		seatless bool
		want     int
	}{
		{pace{}, false, 1}, {pace{cost: 1}, false, maxLength}, {pace{cost: 1}, true, 1},
		{pace{cost: 2_000_000}, false, 25}, {pace{cost: 60_000_000}, false, 1},
	} {
		if w := (&worker{pace: c.pace, seatless: c.seatless}); w.chunk() != c.want {
			t.Errorf("cost %d, without a seat %v: %d, want %d", c.cost, c.seatless, w.chunk(), c.want)
		}
	}
}

// Spans are wide where no item waits: up to a limit of the number of processors.
func TestWidest(t *testing.T) {
	for _, c := range []struct{ limit, procs, want int }{{1, 2, maxWidth}, {2, 2, maxWidth}, {3, 2, 1}} {
		own, shared := &Loop{Limit: c.limit, Procs: c.procs}, &Loop{Limit: 4 - c.limit, Procs: c.procs, lim: limit.New(c.limit)}
		if own.widest() != c.want || shared.widest() != c.want {
			t.Errorf("%+v: %d, and %d under a limiter", c, own.widest(), shared.widest())
		}
	}
}

// Loops of a few items, of no more than the limit, and of more than a seat can name are
// not measured.
func TestPaced(t *testing.T) {
	for _, c := range []struct {
		n, limit int
		want     bool
	}{{few, 1, false}, {few + 1, 1, true}, {2 * few, 2 * few, false}, {2*few + 1, 2 * few, true}} {
		for _, kind := range kinds {
			b := newBench(kind, c.limit)
			l := b.loop(c.n, func(context.Context, int) error { return nil })
			if l.Run(); l.paced != c.want {
				t.Errorf("%s, %d items, limit %d: measured %v", kind, c.n, c.limit, l.paced)
			}
			b.end(t)
		}
	}
	for n, want := range []bool{false, false, true} {
		l := compute(7, 7+n, 2, 0, 0, func(int) {})
		if l.Run(); l.paced != want {
			t.Errorf("%d items that compute: measured %v", n, l.paced)
		}
	}
	for most := uint64(maxIndex); most <= maxIndex+1 && strconv.IntSize == 64; most++ {
		l := newBench("solo", 1).loop(int(most), func(context.Context, int) error { return errors.New("boom") })
		if l.Run(); l.paced != (most == maxIndex) {
			t.Errorf("%d items: measured %v", most, l.paced)
		}
	}
}

// The rest of a span that is wanted goes back. A helper is called for it when what is left
// is more than 20 µs of work; else the worker looks again after the next item.
func TestWantedSpan(t *testing.T) {
	for _, c := range []struct {
		cost   time.Duration
		helper bool
	}{{204, false}, {205, true}} { // of each of 98 items
		synctest.Test(t, func(t *testing.T) {
			var calls atomic.Int32
			l := newBench("solo", 2).loop(100, func(context.Context, int) error { calls.Add(1); return nil })
			l.Procs, l.paced, l.epoch = 2, true, time.Now()
			l.most.Store(2)
			l.running.Add(1)
			w := new(worker)
			w.init(l, l.Context)
			w.cost = 1
			w.take()
			w.widen(16)
			w.take()
			l.halt.Or(wanted)
			w.refused()
			if w.rest() != 0 || l.deep != 0 || l.left() != 98 || w.every != 0 || l.halt.Load() != 0 {
				t.Errorf("%d in the span, %d deep, %d left, looks after %d, halt %b",
					w.rest(), l.deep, l.left(), w.every, l.halt.Load())
			}
			w.calls = 10
			time.Sleep(10 * c.cost)
			w.learn()
			synctest.Wait()
			if helped := calls.Load() == 98; helped != c.helper || w.asked == c.helper || c.helper != (w.every > 1) {
				t.Errorf("items of %d ns: %d by a helper, asked %v, looks after %d", c.cost, calls.Load(), w.asked, w.every)
			}
		})
	}
}

// A call counts the items of its span: for the clock, and as turns on a permit that others
// want. In an execution trace each item is a span.
func TestItemsAreCounted(t *testing.T) {
	for _, kind := range kinds {
		b := newBench(kind, 2)
		l := b.loop(100, func(context.Context, int) error { return nil })
		l.Procs, l.lim = 2, b.lim
		w := new(worker)
		w.init(l, l.Context)
		if kind == "shared" {
			l.sharing = new(sharing)
			w.begin()
			defer func() { l.lim.Leave(&l.sharing.standby) }()
			l.lim.Set(0)
			l.lim.Join(&l.sharing.standby, nil) // to have somebody in line
			w.since = time.Now().Add(time.Hour)
		}
		w.cost = 1
		w.take()
		w.widen(8)
		w.take()
		w.call()
		if w.made != 8 || w.calls != 8 {
			t.Errorf("%s: %d calls were made and %d are to be measured, want 8", kind, w.made, w.calls)
		}
		if kind != "solo" {
			w.keep()
			w.made = 0 // it had none since
			if w.keep(); w.turns != 9 {
				t.Errorf("%s: %d turns, want 9", kind, w.turns)
			}
		}
		w.take()
		if w.traced(); w.made != 1 || w.rest() != 0 {
			t.Errorf("%s: %d items in a region, want 1", kind, w.made)
		}
		w.leave()
	}
}

// A worker that waits has nothing that it could give back: others end the loop meanwhile,
// which ends its wait.
func TestWaitingWorkerIsNotDeep(t *testing.T) {
	for name, wait := range map[string]func(w *worker) bool{
		"in line": (*worker).acquire,
		"for the standby": func(w *worker) bool {
			w.loop.standing.Store(true)
			return w.yield()
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench("shared", 1)
			l := b.loop(100, nil)
			l.Procs, l.lim = 2, b.lim
			l.sharing = &sharing{none: make(chan struct{}), turn: make(chan struct{}, 1)}
			w := new(worker)
			w.init(l, l.Context)
			w.caller = true
			w.begin()
			l.lim.TryAcquire()
			l.lim.Join(&limit.Waiter{Grant: func() {}}, nil)
			w.cost = 1
			w.take()
			w.widen(8)
			go func() {
				if wait(w) {
					t.Errorf("%s: has a permit", name)
				}
			}()
			synctest.Wait()
			l.mu.Lock()
			if l.deep != 0 {
				t.Errorf("%s: a worker that waits is counted among those that may give back", name)
			}
			l.mu.Unlock()
			close(l.sharing.none)
		})
	}
}

// While it runs, and no longer, a loop is told of a limit that has become smaller.
func TestLoopIsToldOfASmallerLimit(t *testing.T) {
	for _, kind := range kinds[1:] {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(kind, 2)
			var begun atomic.Int32
			var l *Loop
			told := func(n int, want bool) {
				t.Helper()
				b.lim.Set(n)
				if got := l.halt.Load()&lowered != 0; got != want {
					t.Errorf("%s: a limit of %d: told %v", kind, n, got)
				}
			}
			l = b.loop(100, func(context.Context, int) error {
				switch begun.Add(1) {
				case 1:
					time.Sleep(time.Second)
				case 2: // beside the first
					told(1, true)
					told(2, false)
				}
				return nil
			})
			l.Run()
			b.end(t)
			b.lim.TryAcquire()
			told(0, false)
		})
	}
}

// What is in the seats counts as left, beside the last index that nobody has claimed.
func TestLeft(t *testing.T) {
	for unclaimed := range 2 {
		l := &Loop{N: 100, Context: context.Background(), Procs: 1, Limit: 1}
		w := new(worker)
		w.init(l, l.Context)
		l.mu.Lock()
		w.sit()
		w.claimMany(100 - unclaimed)
		l.mu.Unlock()
		if n := l.left(); n != 99 {
			t.Errorf("%d indexes are left, %d of them unclaimed, want 99", n, unclaimed)
		}
	}
}
