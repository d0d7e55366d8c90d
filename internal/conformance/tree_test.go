package conformance_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
)

// A call without a limit that is made by a task of another such call shares its limit. The
// searches of the tests are bounded by within, which nested calls need not be given.

// next returns each entry point that searches together with the one behind it, so that each
// is once outside and once inside.
func next() (pairs [][2]entryPoint) {
	all := searching()
	for i, e := range all {
		pairs = append(pairs, [2]entryPoint{e, all[(i+1)%len(all)]})
	}
	return pairs
}

// 300 x 300 sleepers are never more than 256 at once, the default maximum, and the search
// finds that.
func TestTreeOfSleepers(t *testing.T) {
	const outer, inner, most, nap = 300, 300, 256, 10 * time.Millisecond
	const ideal = outer * inner * nap / most
	pairs := next()
	if race.Enabled {
		pairs = pairs[:2]
	}
	for _, p := range pairs {
		t.Run(p[1].name+" in "+p[0].name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g gauge
				err := p[0].run(context.Background(), outer, func(ctx context.Context, _ int) error {
					return p[1].run(ctx, inner, func(context.Context, int) error { g.Hold(nap); return nil })
				})
				equal(t, "error", err, nil)
				g.Is(t, 0, most, outer*inner)
				if took := sinceBubble(); took > ideal*13/10 {
					t.Errorf("took %v, the ideal is %v", took, ideal)
				}
			})
		})
	}
}

// Tasks that wait for each other start in the end, also if tasks around them hold all permits:
// each of 300 tasks waits until the two tasks of its group have met.
func TestTreeOfDependentTasks(t *testing.T) {
	for _, before := range []time.Duration{0, 10 * time.Millisecond, time.Second, time.Minute} {
		for _, p := range next() {
			synctest.Test(t, func(t *testing.T) {
				defer noneLeft(t)
				var met atomic.Int64
				err := p[0].run(context.Background(), 300, func(ctx context.Context, _ int) error {
					time.Sleep(before)
					c := make(chan int)
					return p[1].run(ctx, 2, func(_ context.Context, i int) error {
						if i == 0 {
							c <- 1
						} else {
							met.Add(int64(<-c))
						}
						return nil
					})
				})
				equal(t, "error", err, nil)
				equal(t, p[1].name+" in "+p[0].name+": groups that met", met.Load(), 300)
				if took := sinceBubble(); took > 300*max(before, time.Second) {
					t.Errorf("%s in %s took %v", p[1].name, p[0].name, took)
				}
			})
		}
	}
}

// Computing tasks of a tree get a worker for each CPU, and at most two more.
func TestTreeComputes(t *testing.T) {
	procs := min(runtime.GOMAXPROCS(0), runtime.NumCPU())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	for _, p := range next() {
		what := ""
		for range 5 { // others on the machine may take a processor away in the middle of a step
			var g gauge
			err := p[0].run(context.Background(), 10, func(ctx context.Context, _ int) error {
				return p[1].run(ctx, 10, func(context.Context, int) error {
					g.Enter()
					defer g.Leave()
					for began := time.Now(); time.Since(began) < 500*time.Microsecond; {
					}
					return nil
				})
			})
			equal(t, "error", err, nil)
			if g.Max() <= procs+2 {
				what = ""
				break
			}
			what = fmt.Sprintf("%d tasks ran at once, want at most %d", g.Max(), procs+2)
		}
		if what != "" {
			t.Errorf("%s in %s: %s", p[1].name, p[0].name, what)
		}
	}
}

// The tasks of a tree share one limit exactly, and its permits are lent, at any limit.
func TestTreeSharesOneLimit(t *testing.T) {
	bg := context.Background()
	for _, limit := range []int{1, 2, 4} {
		own := within(limit, limit)
		leaves := func(g *gauge, ctx context.Context, e entryPoint) error {
			return e.run(ctx, 4, func(context.Context, int) error { g.Hold(time.Second); return nil })
		}
		try := func(name string, n int, tree func(g *gauge) error) {
			t.Run(fmt.Sprint("limit=", limit, "/", name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					defer noneLeft(t)
					var g gauge
					equal(t, "error", tree(&g), nil)
					if limit == 4 { // a lent permit may be idle at the end
						g.Is(t, 0, min(g.Max(), limit), n)
						return
					}
					g.Is(t, 0, limit, n)
					equal(t, "time passed", sinceBubble(), time.Duration(n/limit)*time.Second)
				})
			})
		}
		for _, outer := range searching() {
			for _, inner := range searching() {
				try(inner.name+" in "+outer.name, 16, func(g *gauge) error {
					return outer.run(bg, 4, func(ctx context.Context, _ int) error { return leaves(g, ctx, inner) }, own)
				})
			}
		}
		for _, e := range searching() {
			var walk func(g *gauge, ctx context.Context, depth int, opts ...stint.Option) error
			walk = func(g *gauge, ctx context.Context, depth int, opts ...stint.Option) error {
				if depth == 0 {
					g.Hold(time.Second)
					return nil
				}
				return e.run(ctx, 2, func(ctx context.Context, _ int) error { return walk(g, ctx, depth-1) }, opts...)
			}
			try("deep "+e.name, 32, func(g *gauge) error { return walk(g, bg, 5, own) })
			for _, between := range []entryPoint{{"one item", one}, {"First", first}} { // these hold no permit of their own
				try(e.name+" through "+between.name, 16, func(g *gauge) error {
					return e.run(bg, 4, func(ctx context.Context, _ int) error {
						return between.run(ctx, 1, func(ctx context.Context, _ int) error { return leaves(g, ctx, e) })
					}, own)
				})
			}
		}
	}
}

// one is a call of one item.
func one(ctx context.Context, _ int, f body, opts ...stint.Option) error {
	return stint.Range(ctx, 1, f, opts...)
}

// A call in a task that runs on a permit of a Limiter or a Pool has a search of its own, also
// if the task belongs to a tree. First in a tree starts all its items.
func TestTreeEndsAtALimiter(t *testing.T) {
	bg, own, l := context.Background(), within(2, 2), stint.Limit(3)
	inside := func(g *gauge) body { // a call with a limit of 2, in a task
		return func(ctx context.Context, _ int) error {
			return stint.Range(ctx, 4, func(context.Context, int) error { g.Hold(time.Second); return nil }, own)
		}
	}
	try := func(name string, most, total int, run func(g *gauge) error) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				defer noneLeft(t)
				var g gauge
				equal(t, "error", run(&g), nil)
				g.Is(t, 0, most, total)
			})
		})
	}
	try("Limiter", 6, 12, func(g *gauge) error { return stint.Range(bg, 3, inside(g), l) })
	try("Limiter in a tree", 6, 12, func(g *gauge) error {
		return stint.Range(bg, 2, func(ctx context.Context, i int) error { return stint.Range(ctx, 1+i, inside(g), l) }, own)
	})
	try("Do in a tree", 4, 8, func(g *gauge) error {
		return stint.Range(bg, 2, func(ctx context.Context, i int) error {
			return l.Do(ctx, func(ctx context.Context) error { return inside(g)(ctx, i) })
		}, own)
	})
	try("Pool in a tree", 6, 12, func(g *gauge) error {
		p := stint.NewPool(stint.Limit(3))
		defer p.Close()
		return stint.Range(bg, 2, func(ctx context.Context, i int) error { return stint.Range(ctx, 1+i, inside(g), p) }, own)
	})
	try("First in a tree", 6, 6, func(g *gauge) error {
		return stint.Range(bg, 2, func(ctx context.Context, _ int) error {
			return first(ctx, 3, func(context.Context, int) error { g.Hold(time.Second); return nil })
		}, own)
	})
}

// Calls that outlive the tree's outermost call, against the rules, run to their end.
func TestTreeIsOutlived(t *testing.T) {
	for _, outer := range searching() {
		for _, inner := range searching() {
			t.Run(inner.name+" in "+outer.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					defer noneLeft(t)
					var g gauge
					var left sync.WaitGroup
					for _, limit := range []int{1, 3} {
						outer.run(context.Background(), 3, func(ctx context.Context, i int) error {
							ctx = context.WithoutCancel(ctx)
							left.Go(func() {
								time.Sleep(time.Duration(i) * time.Second) // some start when the tree has ended
								err := inner.run(ctx, 5, func(context.Context, int) error { g.Hold(time.Second); return nil })
								equal(t, "error", err, nil)
							})
							time.Sleep(time.Second / 2)
							return nil
						}, within(limit, limit))
					}
					left.Wait()
					equal(t, "tasks", g.Total(), 2*3*5)
				})
			})
		}
	}
}

// Contexts that tasks of a tree have kept keep neither its items nor its calls.
func TestTreeIsNotKept(t *testing.T) {
	type thing struct{ _ [1 << 10]byte }
	synctest.Test(t, func(t *testing.T) {
		var freed atomic.Int64
		track := func() *thing {
			x := new(thing)
			runtime.AddCleanup(x, func(int) { freed.Add(1) }, 0)
			return x
		}
		var mu sync.Mutex
		var kept []context.Context
		keep := func(ctx context.Context, x *thing) (*thing, error) {
			mu.Lock()
			kept = append(kept, ctx)
			mu.Unlock()
			time.Sleep(time.Second) // the others run on helpers, and some wait for a permit
			return x, nil
		}
		things := func() []*thing { return []*thing{track(), track(), track(), track(), track()} }
		stint.Each(context.Background(), things(), func(ctx context.Context, x *thing) error {
			keep(ctx, x)
			if _, err := stint.Map(ctx, things(), keep); err != nil {
				return err
			}
			r := stint.NewResults[*thing](ctx)
			for _, x := range things() {
				r.Go(func(ctx context.Context) (*thing, error) { return keep(ctx, x) })
			}
			_, err := r.Wait()
			return err
		}, within(3, 3))
		for range 1000 {
			runtime.GC()
			for range 100 {
				runtime.Gosched()
			}
			if freed.Load() == 5+5*10 {
				break
			}
		}
		equal(t, "values freed", freed.Load(), 5+5*10)
		equal(t, "contexts kept", len(kept), 5+5*10)
	})
}

// Random trees of calls without a limit, with Limiters, Pools, First and calls of one item
// between them: all leaves run, and never more at once than the limit of their tree allows.
// Limiters are nested in one order only.
func TestRandomTrees(t *testing.T) {
	seeds := 300
	if race.Enabled || testing.Short() {
		seeds = 60
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			defer noneLeft(t)
			x := newRandomTree(uint64(seed))
			defer x.pool.Close()
			x.search(context.Background(), 4)
			equal(t, fmt.Sprint("leaves, with seed ", seed), x.ran.Load(), x.made.Load())
			for _, l := range x.limiters {
				equal(t, fmt.Sprint("running, with seed ", seed), l.Stats().Running, 0)
			}
			if n := x.over.Load(); n > 0 {
				t.Errorf("seed %d: %d leaves ran beyond the limit", seed, n)
			}
		})
		if t.Failed() {
			return
		}
	}
}

// A randomTree is a tree of calls of a test.
type randomTree struct {
	limiters        []*stint.Limiter // by depth
	pool            *stint.Pool
	made, ran, over atomic.Int64
	all             []entryPoint
	mu              sync.Mutex
	r               *rand.Rand // guarded by mu
}

func newRandomTree(seed uint64) *randomTree {
	x := &randomTree{r: rand.New(rand.NewPCG(seed, 9)), all: searching(), pool: stint.NewPool(stint.Limit(2))}
	for range 5 {
		x.limiters = append(x.limiters, stint.Limit(1+x.n(3)))
	}
	return x
}

// n returns a random number below n.
func (x *randomTree) n(n int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.r.IntN(n)
}

// search makes the outermost call of a tree with a limit of its own. With one item it would have
// none.
func (x *randomTree) search(ctx context.Context, depth int) error {
	limit := int64(1 + x.n(3))
	var now atomic.Int64
	return x.all[x.n(len(x.all))].run(ctx, 2+x.n(3), func(ctx context.Context, _ int) error {
		return x.grow(ctx, depth-1, limit, &now)
	}, within(int(limit), int(limit)))
}

// grow is a task of a tree with a limit, which running leaves count in now.
func (x *randomTree) grow(ctx context.Context, depth int, limit int64, now *atomic.Int64) error {
	kind := x.n(10)
	if depth <= 0 {
		kind = 0
	}
	same := func(ctx context.Context, _ int) error { return x.grow(ctx, depth-1, limit, now) }
	other := func(ctx context.Context, _ int) error { return x.search(ctx, depth-1) }
	switch e, n := x.all[x.n(len(x.all))], 1+x.n(4); kind {
	case 0, 1:
		x.made.Add(1)
		if now.Add(1) > limit {
			x.over.Add(1)
		}
		time.Sleep(time.Duration(x.n(3)) * time.Millisecond)
		now.Add(-1)
		x.ran.Add(1)
		return nil
	case 2:
		return e.run(ctx, n, other, x.limiters[depth])
	case 3:
		return e.run(ctx, n, func(context.Context, int) error { x.made.Add(1); x.ran.Add(1); return nil }, x.pool)
	case 4:
		return first(ctx, 1, same)
	case 5:
		return x.limiters[depth].Do(ctx, func(ctx context.Context) error { return other(ctx, 0) })
	default:
		return e.run(ctx, n, same)
	}
}
