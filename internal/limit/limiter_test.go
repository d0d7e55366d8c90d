package limit

import (
	"flag"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// seed is that of the first round of TestModel; a failure names the one to give.
var seed = flag.Uint64("stint.seed", 1, "seed of the first round of random operations")

// want checks what Counts returns.
func want(t *testing.T, l *Limiter, limit, out, waiting int) {
	t.Helper()
	if n, o, w := l.Counts(); n != limit || o != out || w != waiting {
		t.Fatalf("limit %d, out %d, waiting %d; want %d, %d, %d", n, o, w, limit, out, waiting)
	}
}

// queued joins n waiters, which note their number when they are granted.
func queued(t *testing.T, l *Limiter, n int, granted *[]int) []*Waiter {
	t.Helper()
	ws := make([]*Waiter, n)
	for i := range ws {
		ws[i] = &Waiter{Grant: func() { *granted = append(*granted, i) }}
		if l.Join(ws[i], nil) {
			t.Fatalf("waiter %d of %d has a permit at once", i, n)
		}
	}
	return ws
}

func TestTryAcquireTakesTheLimit(t *testing.T) {
	l := New(3)
	for range 3 {
		if !l.TryAcquire() {
			t.Fatal("no permit below the limit")
		}
	}
	if l.TryAcquire() {
		t.Fatal("a fourth permit of three")
	}
	l.Release(Permit{})
	if !l.TryAcquire() {
		t.Fatal("no permit after Release")
	}
	want(t, l, 3, 3, 0)
}

func TestWaitersAreServedInOrder(t *testing.T) {
	l := New(1)
	l.TryAcquire()
	var granted []int
	queued(t, l, 5, &granted)
	want(t, l, 1, 1, 5)
	if l.TryAcquire() {
		t.Fatal("a newcomer has a permit before waiters")
	}
	for range 5 {
		l.Release(Permit{})
	}
	if !slices.Equal(granted, []int{0, 1, 2, 3, 4}) {
		t.Errorf("served in the order %v", granted)
	}
	want(t, l, 1, 1, 0)
	l.Release(Permit{})
	want(t, l, 1, 0, 0)
}

func TestLeaveFromEveryPosition(t *testing.T) {
	for leaver := range 3 {
		l := New(1)
		l.TryAcquire()
		var granted []int
		ws := queued(t, l, 3, &granted)
		if !l.Leave(ws[leaver]) || l.Leave(ws[leaver]) {
			t.Fatal("Leave must be true once")
		}
		want(t, l, 1, 1, 2)
		l.Release(Permit{})
		l.Release(Permit{})
		left := slices.Delete([]int{0, 1, 2}, leaver, leaver+1)
		if !slices.Equal(granted, left) {
			t.Errorf("%d left: served %v", leaver, granted)
		}
		if l.Leave(ws[left[0]]) {
			t.Error("Leave after the grant is true")
		}
		if l.Join(ws[leaver], nil) { // it may be used again
			t.Error("a permit while all are out")
		}
		l.Release(Permit{})
		want(t, l, 1, 1, 0)
	}
}

func TestSetUpServesAtOnce(t *testing.T) {
	l := New(1)
	l.TryAcquire()
	var granted []int
	queued(t, l, 4, &granted)
	l.Set(3)
	want(t, l, 3, 3, 2)
	l.Set(10)
	want(t, l, 10, 5, 0)
	if !slices.Equal(granted, []int{0, 1, 2, 3}) {
		t.Errorf("served %v", granted)
	}
}

func TestSetDownIsExact(t *testing.T) {
	l := New(4)
	for range 4 {
		l.TryAcquire()
	}
	if l.Pressure(false, 0) != None {
		t.Fatal("over at the limit")
	}
	var granted []int
	queued(t, l, 1, &granted)
	l.Set(2)
	if !l.Signs().Over() || l.Pressure(false, 1) != Urgent {
		t.Fatal("not over the smaller limit")
	}
	if w, kept := l.Yield(false); w != nil || kept { // 3 are out
		t.Fatal("a permit beyond the limit passes on")
	}
	if w, kept := l.Yield(false); w != nil || kept { // 2 are out: as many as there may be
		t.Fatal("a permit beyond the limit passes on")
	}
	if l.Signs().Over() || len(granted) != 0 {
		t.Fatal("over at the limit, or somebody was served beyond it")
	}
	w, kept := l.Yield(false)
	if w == nil || kept {
		t.Fatal("the first in the queue is not served at the limit")
	}
	w.Grant()
	if w, kept := l.Yield(false); w != nil || !kept {
		t.Fatal("nobody waits, and the permit is not kept")
	}
	want(t, l, 2, 2, 0)
}

func TestPressureCountsStrangers(t *testing.T) {
	l := New(1)
	l.TryAcquire()
	if l.Pressure(false, 0) != None {
		t.Fatal("pressure with nobody in the queue")
	}
	var granted []int
	ws := queued(t, l, 2, &granted)
	if l.Pressure(false, 1) != Contended || l.Pressure(false, 2) != None || l.Pressure(true, 0) != Urgent {
		t.Fatal("two wait")
	}
	l.Leave(ws[0])
	l.Leave(ws[1])
	if l.Pressure(false, 0) != None {
		t.Fatal("pressure after all have left")
	}
}

// Acquire gives up by either channel, and keeps a permit that was granted in the
// same moment: Leave or Grant, never both and never neither.
func TestAcquireGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(1)
		l.TryAcquire()
		for _, which := range []int{0, 1} {
			stop := [2]chan struct{}{make(chan struct{}), make(chan struct{})}
			got := make(chan bool)
			go func() { _, ok := l.Acquire(false, false, stop[0], stop[1], nil, nil); got <- ok }()
			synctest.Wait()
			want(t, l, 1, 1, 1)
			close(stop[which])
			if <-got {
				t.Fatal("a permit while all are out")
			}
			want(t, l, 1, 1, 0)
		}
	})
}

func TestLeaveOrGrant(t *testing.T) {
	const rounds = 20000
	l := New(1)
	for range rounds {
		l.TryAcquire()
		done := make(chan struct{})
		start := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() { <-start; close(done) })
		wg.Go(func() { <-start; l.Release(Permit{}) })
		var ok bool
		wg.Go(func() { close(start); _, ok = l.Acquire(false, false, done, nil, nil, nil) })
		wg.Wait()
		if _, out, waiting := l.Counts(); waiting != 0 || (out == 1) != ok {
			t.Fatalf("Acquire: %v, with %d out and %d waiting", ok, out, waiting)
		}
		if ok {
			l.Release(Permit{})
		}
	}
}

// A Grant may call the limiter: it runs with no lock held.
func TestGrantRunsUnlocked(t *testing.T) {
	for name, free := range map[string]func(*Limiter){
		"Release": func(l *Limiter) { l.Release(Permit{}) },
		"Set":     func(l *Limiter) { l.Set(2) },
	} {
		l := New(1)
		l.TryAcquire()
		called := false
		w := &Waiter{}
		w.Grant = func() { called = true; l.Release(w.Permit) }
		l.Join(w, nil)
		free(l)
		if !called {
			t.Errorf("%s: no grant", name)
		}
	}
}

// TestModel compares random operations with counting: who has a permit, who
// waits in which order, and what is over.
func TestModel(t *testing.T) {
	for round := range uint64(300) {
		s := *seed + round
		r := rand.New(rand.NewPCG(s, 0))
		limit := 1 + r.IntN(4)
		l := New(limit)
		out := 0
		var queues [2][]int // of normal and of low priority
		var granted, expected []int
		waiters := map[int]*Waiter{}
		waiting := func() int { return len(queues[0]) + len(queues[1]) }
		admit := func() {
			for out < limit && waiting() > 0 {
				i := 0
				if len(queues[0]) == 0 {
					i = 1
				}
				out++
				expected = append(expected, queues[i][0])
				queues[i] = queues[i][1:]
			}
		}
		for step := range 200 {
			class := r.IntN(2)
			low, queue := class == 1, &queues[class]
			switch op := r.IntN(7); {
			case op == 0:
				ok := out < limit && waiting() == 0
				if got := l.TryAcquire(); got != ok {
					t.Fatalf("-stint.seed=%d: step %d: TryAcquire: %v", s, step, got)
				}
				if ok {
					out++
				}
			case op == 1:
				w := &Waiter{Grant: func() { granted = append(granted, step) }, Low: low}
				ok := out < limit && waiting() == 0
				if got := l.Join(w, nil); got != ok {
					t.Fatalf("-stint.seed=%d: step %d: Join: %v", s, step, got)
				}
				if ok {
					out++
				} else {
					*queue = append(*queue, step)
					waiters[step] = w
				}
			case op == 2 && len(*queue) > 0:
				i := r.IntN(len(*queue))
				if !l.Leave(waiters[(*queue)[i]]) {
					t.Fatalf("-stint.seed=%d: step %d: Leave is false", s, step)
				}
				*queue = slices.Delete(*queue, i, i+1)
			case op == 3 && out > 0:
				out--
				admit()
				l.Release(Permit{})
			case op == 4 && out > 0:
				keep := out <= limit && len(queues[0]) == 0 && !(low && len(queues[1]) > 0)
				if !keep {
					out--
					admit()
				}
				w, kept := l.Yield(low)
				if kept != keep {
					t.Fatalf("-stint.seed=%d: step %d: Yield: %v", s, step, kept)
				}
				if w != nil {
					w.Grant()
				}
			case op == 5:
				limit = 1 + r.IntN(4)
				admit()
				l.Set(limit)
			case op == 6 && len(*queue) > 0:
				i := r.IntN(len(*queue))
				w := (*queue)[i]
				to := &queues[r.IntN(2)]
				if to != queue {
					*queue = slices.Delete(*queue, i, i+1)
					*to = append(*to, w)
				}
				l.Reclassify(waiters[w], to == &queues[1])
			}
			exceeded := out > limit
			if n, o, w := l.Counts(); n != limit || o != out || w != waiting() || l.Signs().Over() != exceeded ||
				!pressed(l, [2]int{len(queues[0]), len(queues[1])}, exceeded) ||
				!slices.Equal(granted, expected) {
				t.Fatalf("-stint.seed=%d: step %d: limit %d, out %d, waiting %d, over %v, granted %v; want %d, %d, %d, %v, %v",
					s, step, n, o, w, l.Signs().Over(), granted, limit, out, waiting(), exceeded, expected)
			}
		}
	}
}

// pressed reports whether the pressure on every holder is right, for so many waiters of normal
// and of low priority.
func pressed(l *Limiter, waiters [2]int, exceeded bool) bool {
	for class, n := range waiters {
		for own := range n + 1 {
			want := None
			switch {
			case exceeded || class == 1 && waiters[0] > 0:
				want = Urgent
			case n > own:
				want = Contended
			}
			if l.Pressure(class == 1, own) != want {
				return false
			}
		}
	}
	return true
}

// TestNeverOverTheLimit takes and returns permits on many goroutines while the limit
// changes. No more permits may be held than the largest limit, and all must be returned.
func TestNeverOverTheLimit(t *testing.T) {
	const largest = 4
	l := New(largest)
	var now, top atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(*seed, uint64(i)))
			quit := make(chan struct{})
			close(quit)
			for range 2000 {
				done := quit
				if r.IntN(3) > 0 {
					done = nil
				}
				p, ok := l.Acquire(false, false, done, nil, nil, nil)
				if !ok {
					continue
				}
				n := now.Add(1)
				for old := top.Load(); n > old && !top.CompareAndSwap(old, n); old = top.Load() {
				}
				now.Add(-1)
				if r.IntN(2) == 0 {
					w, kept := l.Yield(false)
					if w != nil {
						w.Grant()
					}
					if !kept {
						continue
					}
				}
				l.Release(p)
			}
		})
	}
	wg.Go(func() {
		for i := range 2000 {
			l.Set(1 + i%largest)
		}
	})
	wg.Wait()
	want(t, l, 1+1999%largest, 0, 0)
	if top.Load() > largest {
		t.Errorf("%d at work, the largest limit was %d", top.Load(), largest)
	}
}

// A watcher follows whether more permits are out than the limit allows, and whether
// that is above a number, and leaves the other bits of its word alone.
func TestWatcher(t *testing.T) {
	l := New(2)
	l.TryAcquire()
	l.TryAcquire()
	var early, late atomic.Uint32
	early.Store(1)
	is := func(want uint32) {
		t.Helper()
		if e, l := early.Load(), late.Load(); e != want|1 || l != want {
			t.Errorf("the words are %b and %b, want %b", e, l, want)
		}
	}
	a, b := &Watcher{Word: &early, Over: 4, Above: 8, Threshold: 3}, &Watcher{Word: &late, Over: 4, Above: 8, Threshold: 3}
	l.Watch(a)
	l.Set(1)
	l.Watch(b)
	is(4)
	l.Release(Permit{})
	is(0)
	l.TryAcquire() // none is free
	l.Set(3)
	l.TryAcquire()
	l.TryAcquire()
	l.Set(2)
	is(4)
	l.Set(4)
	is(8)
	l.Set(3)
	is(0)
	l.Set(5)
	l.Unwatch(a)
	l.Unwatch(b)
	l.Set(1)
	is(8)
}

// A controller is told of a waiter. Its first limit does not say that tasks wait; once somebody
// has waited, the limit does.
func TestControllerIsTold(t *testing.T) {
	l, searching := adaptive(3)
	defer l.EndSearch()
	var word atomic.Uint32
	l.Watch(&Watcher{Word: &word, Over: 1, Above: 2, Threshold: 2})
	l.TryAcquire()
	l.TryAcquire()
	l.TryAcquire()
	is := func(above bool, run int, waiting bool) {
		t.Helper()
		n, w := l.Load()
		if l.Above(2) != above || word.Load() == 2 != above || n != run || w != waiting {
			t.Errorf("above %v, word %b, %d out, waiting %v; want %v, %d, %v", l.Above(2), word.Load(), n, w, above, run, waiting)
		}
	}
	is(false, 3, false)
	var granted []int
	queued(t, l, 2, &granted)
	is(true, 3, true)
	l.Release(Permit{})
	l.Release(Permit{})
	is(true, 3, false)
	l.Set(2)
	if !searching() || l.Above(2) {
		t.Errorf("told: %v, above: %v", searching(), l.Above(2))
	}
	l.Set(3)
	is(true, 3, false)
	for range 3 {
		l.Release(Permit{})
	}
	is(false, 0, false) // whoever comes next may compute
}

// The controller is told of an Untracked waiter when it is tracked, while it waits.
func TestTrack(t *testing.T) {
	l, searching := adaptive(1)
	defer l.EndSearch()
	l.TryAcquire()
	w := &Waiter{Untracked: true, Grant: func() {}}
	l.Track(w)
	if l.Join(w, nil) || searching() || l.Above(0) {
		t.Fatalf("told of an untracked waiter: %v, above: %v", searching(), l.Above(0))
	}
	l.Track(w)
	l.Track(w)
	if !searching() || !l.Above(0) {
		t.Errorf("told: %v, above: %v", searching(), l.Above(0))
	}
}

// A watcher that wakes sends when the limit changes, and does not block.
func TestWatcherWakes(t *testing.T) {
	l := New(1)
	wake := make(chan struct{}, 1)
	a := &Watcher{Wake: wake}
	l.Watch(a)
	<-wake // a new one is sent to at once
	l.Set(2)
	l.Set(3) // the channel is full
	<-wake
	l.Unwatch(a)
	l.Set(4)
	if len(wake) != 0 {
		t.Error("sent after Unwatch")
	}
}
