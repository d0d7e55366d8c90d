package auto

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// guarded is a Limiter that checks that a Controller keeps to its Config. It calls
// NotifyWaiting under its own lock.
type guarded struct {
	c      *Controller
	mu     sync.Mutex
	limit  int
	closed bool // Close has returned
	fixed  int  // the limit that Fix may set
	sets   int
	wrong  []int
	rng    *rand.Rand
	looks  atomic.Int32 // calls of Idle
}

func (g *guarded) Set(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.limit = n
	g.sets++
	if out := n < g.c.config.Min || n > g.c.config.Max; g.closed || out && n != g.fixed && n != 0 {
		g.wrong = append(g.wrong, n)
	}
	g.c.NotifyWaiting() // a task still waits
}

func (g *guarded) Nested() bool { return false }

func (g *guarded) Exceed(int) {}

func (g *guarded) Idle() bool { return g.looks.Add(1)%5 == 0 }

// fire makes the timer fire.
func (g *guarded) fire() {
	c := g.c
	c.timerMu.Lock()
	fires, arming := c.armed && c.timer.Stop(), c.arming
	c.timerMu.Unlock()
	if fires {
		c.tick(arming)
		c.ticks.Add(-1)
	}
}

func (g *guarded) Load() (running int, waiting bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.limit, g.rng.IntN(4) > 0
}

// notify is a task that starts to wait.
func (g *guarded) notify() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.c.NotifyWaiting()
}

// TestEverythingAtOnce calls all methods of a Controller at once, and its tick. The
// limit stays between Min and Max but for Fix and a pause, and after Close it does not change.
func TestEverythingAtOnce(t *testing.T) {
	memoryLimited(t, 0)
	sets := 0
	for round := range 300 {
		g := &guarded{c: new(Controller), fixed: 1000, rng: rand.New(rand.NewPCG(*seed, uint64(round)))}
		g.c.Init(Config{Min: 2, Max: 20, Burst: 9, Procs: 2}, g)
		g.limit = g.c.config.Start()
		g.storm(round)
		if len(g.wrong) > 0 {
			t.Errorf("round %d: set to %v; -stint.seed=%d", round, g.wrong, *seed)
		}
		if g.c.Active() {
			t.Errorf("round %d: active after Close", round)
		}
		sets += g.sets
	}
	t.Logf("%d changes of the limit", sets)
}

// storm calls the methods of the Controller, Close somewhere in between.
func (g *guarded) storm(round int) {
	const steps = 300
	c := g.c
	var samplers [2]Sampler
	end := func(m *Sampler) func(int) {
		return func(i int) {
			if m.Done(c, 1, 0); i%50 == 0 {
				m.Rest()
			}
		}
	}
	last := 2 + round*7%(steps-2)
	bounds := []int{2, 0, 7, 20, 3}
	calls := []func(i int){
		end(&samplers[0]), end(&samplers[1]),
		func(int) { g.notify() },
		func(int) { g.fire() },
		func(int) { c.NotifyIdle() },
		func(i int) {
			if c.State(); i%50 == 0 {
				c.Overload(0)
			}
		},
		func(i int) {
			switch low := bounds[i%len(bounds)]; {
			case i < last-1 && i%9 == 0:
				c.SetBounds(low, min(3*low, 20))
			case i == last-1 && round%3 == 0:
				c.Fix(g.fixed)
			case i == last:
				c.Close()
				g.close()
			}
		},
	}
	var wg sync.WaitGroup
	for _, call := range calls {
		wg.Go(func() {
			for i := range steps {
				call(i)
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
}

// close notes that Close has returned.
func (g *guarded) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}
