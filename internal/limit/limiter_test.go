package limit

import (
	"flag"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
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

// A model counts what a Limiter is asked to do: who has a permit, who waits in which order.
type model struct {
	l                 *Limiter
	limit, out        int
	queues            [2][]int // of normal and of low priority, by step
	granted, expected []int
	waiters           map[int]*Waiter
}

func (m *model) waiting() int { return len(m.queues[0]) + len(m.queues[1]) }

// admit expects that waiters get the free permits.
func (m *model) admit() {
	for m.out < m.limit && m.waiting() > 0 {
		q := &m.queues[0]
		if len(*q) == 0 {
			q = &m.queues[1]
		}
		m.out++
		m.expected = append(m.expected, (*q)[0])
		*q = (*q)[1:]
	}
}

// do does a random operation, and reports whether its result is right.
func (m *model) do(r *rand.Rand, step int) (op string, ok bool) {
	class := r.IntN(2)
	low, queue := class == 1, &m.queues[class]
	free := m.out < m.limit && m.waiting() == 0
	switch op := r.IntN(7); {
	case op == 0:
		if free {
			m.out++
		}
		return "TryAcquire", m.l.TryAcquire() == free
	case op == 1:
		w := &Waiter{Grant: func() { m.granted = append(m.granted, step) }, Low: low}
		if free {
			m.out++
		} else {
			*queue = append(*queue, step)
			m.waiters[step] = w
		}
		return "Join", m.l.Join(w, nil) == free
	case op == 2 && len(*queue) > 0:
		i := r.IntN(len(*queue))
		w := m.waiters[(*queue)[i]]
		*queue = slices.Delete(*queue, i, i+1)
		return "Leave", m.l.Leave(w) && !m.l.Leave(w)
	case op == 3 && m.out > 0:
		m.out--
		m.admit()
		m.l.Release(Permit{})
	case op == 4 && m.out > 0:
		keep := m.out <= m.limit && len(m.queues[0]) == 0 && !(low && len(m.queues[1]) > 0)
		if !keep {
			m.out--
			m.admit()
		}
		w, kept := m.l.Yield(low)
		if w != nil {
			w.Grant()
		}
		return "Yield", kept == keep
	case op == 5:
		m.limit = r.IntN(5)
		m.admit()
		m.l.Set(m.limit)
	}
	return "", true
}

// pressed reports whether the pressure on every holder is right.
func (m *model) pressed() bool {
	for class, q := range m.queues {
		for own := range len(q) + 1 {
			want := None
			switch {
			case m.out > m.limit || class == 1 && len(m.queues[0]) > 0:
				want = Urgent
			case len(q) > own:
				want = Contended
			}
			if m.l.Pressure(class == 1, own) != want {
				return false
			}
		}
	}
	return true
}

// TestModel compares random operations with counting.
func TestModel(t *testing.T) {
	for round := range uint64(300) {
		s := *seed + round
		r := rand.New(rand.NewPCG(s, 0))
		limit := 1 + r.IntN(4)
		m := &model{l: New(limit), limit: limit, waiters: map[int]*Waiter{}}
		for step := range 200 {
			if op, ok := m.do(r, step); !ok {
				t.Fatalf("-stint.seed=%d: step %d: the result of %s is wrong", s, step, op)
			}
			n, out, waiting := m.l.Counts()
			if n != m.limit || out != m.out || waiting != m.waiting() || !m.pressed() || !slices.Equal(m.granted, m.expected) {
				t.Fatalf("-stint.seed=%d: step %d: limit %d, out %d, waiting %d, granted %v; want %d, %d, %d, %v",
					s, step, n, out, waiting, m.granted, m.limit, m.out, m.waiting(), m.expected)
			}
		}
	}
}

// A controller is told of a waiter.
func TestControllerIsTold(t *testing.T) {
	l, searching := newAdaptive(1)
	defer l.EndSearch()
	if l.TryAcquire(); searching() {
		t.Error("told, though nobody waits")
	}
	var granted []int
	if queued(t, l, 1, &granted); !searching() {
		t.Error("not told of a waiter")
	}
}

// A watcher is woken when the limit changes, and blocks nobody.
func TestWatcher(t *testing.T) {
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
