package loop

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/testkit"
)

// rounds is how many rounds TestRandom has.
var rounds = flag.Int("stint.rounds", 300, "rounds of random loops")

// TestRandom runs loops of all kinds beside each other, on one limiter or their own, with
// failures, nested loops, and a limit that changes, and counts. The oracle is that every item
// is called once, or that the loop says it is not complete.
func TestRandom(t *testing.T) {
	for round := range uint64(*rounds) {
		s := *seed + round
		r := rand.New(rand.NewPCG(s, 0))
		b := newBench("engine", largest)
		x := &mix{t: t, b: b}
		var wg sync.WaitGroup
		for c := range uint64(3) {
			r := rand.New(rand.NewPCG(s, c+1))
			wg.Go(func() { x.loops(r) })
		}
		if r.IntN(2) == 0 {
			wg.Go(func() { changeLimit(r, b) })
		}
		wg.Wait()
		b.lim.Set(largest)
		b.end(t)
		if top := x.shared.Max(); top > largest {
			t.Errorf("%d at once under %d", top, largest)
		}
		if t.Failed() {
			t.Fatalf("-stint.seed=%d", s)
		}
	}
}

// largest is the largest limit in TestRandom.
const largest = 4

func changeLimit(r *rand.Rand, b *bench) {
	for range 50 {
		b.lim.Set(1 + r.IntN(largest))
		runtime.Gosched()
	}
}

// A mix is the loops of a round.
type mix struct {
	t      *testing.T
	b      *bench        // which the loops that share a limiter use
	shared testkit.Gauge // of the items of these loops
}

func (x *mix) loops(r *rand.Rand) {
	for range 4 {
		mine := *x.b
		mine.kind = kinds[r.IntN(len(kinds))]
		g := &x.shared
		switch mine.kind {
		case "solo", "adaptive":
			mine.e, mine.lim, g = nil, nil, new(testkit.Gauge)
		case "shared":
			mine.e = nil
		}
		x.one(r, &mine, g)
		if top := g.Max(); top > largest {
			x.t.Errorf("%d at once under %d", top, largest)
		}
	}
}

// The faults of one item of a random loop.
const (
	fails = iota
	panics
	abandons
	exits
	failsAndContinues
	nests
	setsLimit
	faults
)

// one runs a loop. One of its items has a fault, or none.
func (x *mix) one(r *rand.Rand, b *bench, g *testkit.Gauge) {
	n := 1 + r.IntN([]int{3, 20, 300, 3000}[r.IntN(4)])
	at, fault, yields := r.IntN(2*n), r.IntN(faults), r.IntN(2) == 0
	begun := make([]atomic.Int32, n)
	var l *testLoop
	l = b.loop(bg, n, func(ctx context.Context, i int) error {
		begun[i].Add(1)
		if i == at && fault == nests {
			return x.nest(ctx, b, g)
		}
		g.Enter()
		defer g.Leave()
		if yields && i%64 == 0 {
			runtime.Gosched()
		}
		if i == at {
			return l.fail(fault)
		}
		return nil
	})
	l.failed = func(i int, o task.Outcome) bool {
		if i != at {
			x.t.Errorf("told of item %d, want %d", i, at)
		}
		return !o.Goexit && fault != failsAndContinues
	}
	ended, returned := l.start()
	<-ended
	sum := 0
	for i := range begun {
		c := int(begun[i].Load())
		if c > 1 {
			x.t.Errorf("item %d was called %d times", i, c)
		}
		sum += c
	}
	if *returned && l.Complete() != (sum == n) || *returned && sum != n && (at >= n || fault >= exits) {
		x.t.Errorf("fault %d: %d of %d items were called; complete: %v", fault, sum, n, l.Complete())
	}
}

// nest runs a loop inside an item, whose permit it uses.
func (x *mix) nest(ctx context.Context, b *bench, g *testkit.Gauge) error {
	if b.lim == nil {
		return nil
	}
	b.loop(ctx, 3, func(context.Context, int) error { g.Enter(); runtime.Gosched(); g.Leave(); return nil }).Run()
	return nil
}

// fail is a fault.
func (l *testLoop) fail(fault int) error {
	switch fault {
	case fails, failsAndContinues:
		return errors.New("boom")
	case panics:
		panic("x")
	case abandons:
		l.Abandoned()
	case exits:
		runtime.Goexit()
	case setsLimit:
		if !l.shared() {
			l.lim.Set(1 + l.N%largest)
		}
	}
	return nil
}
