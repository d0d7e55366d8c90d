package stint_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// 43: a group with a million queued tasks delays the first task of another by one
// task's time. Nobody offers a pool that groups share and that does this.
func TestBusyGroupDelaysByOneTask(t *testing.T) {
	const tasks = 1_000_000
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(2))
		ctx, cancel := context.WithCancel(context.Background())
		busy := stint.NewGroup(ctx, p, stint.Queue(1<<20))
		task := sleep(time.Second)
		for range tasks {
			busy.Go(task)
		}
		time.Sleep(10*time.Second + time.Millisecond) // in the middle of two tasks
		synctest.Wait()
		equal(t, "queued", p.Stats().Queued, tasks-22)
		for _, d := range doors {
			start := time.Now()
			var first time.Duration
			err := d.run(context.Background(), 1, func(context.Context, int) error { first = time.Since(start); return nil }, p)
			equal(t, d.name, err, nil)
			equal(t, d.name+" began after", first, time.Second-time.Duration(sinceBubble()-first)%time.Second)
			took(t, start, first)
			time.Sleep(time.Millisecond)
		}
		direct := make(chan time.Duration, 1)
		start := time.Now()
		p.Go(func(context.Context) { direct <- time.Since(start) })
		if d := <-direct; d >= time.Second {
			t.Errorf("Pool.Go began after %v", d)
		}
		cancel()
		busy.Wait()
		p.Close()
		s := p.Stats()
		loops := 3 // do not count as tasks
		equal(t, "tasks accounted for", s.Completed+s.Dropped, uint64(tasks+len(doors)-loops+1))
	})
}

// Two groups on one pool have half of it each as long as both have tasks.
func TestGroupsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stint.NewPool(stint.Limit(2))
		var done [2]time.Duration
		var wg sync.WaitGroup
		for i, n := range []int{10, 30} {
			g := stint.NewGroup(context.Background(), p)
			for range n {
				g.Go(sleep(time.Second))
			}
			wg.Go(func() { g.Wait(); done[i] = sinceBubble() })
		}
		wg.Wait()
		p.Close()
		// 40 tasks on two workers. The first two tasks are both of the first group,
		// which the workers find alone.
		equal(t, "both done at", done[1], 20*time.Second)
		if done[0] < 9*time.Second || done[0] > 11*time.Second {
			t.Errorf("the group of 10 is done at %v, want 10s or one less or more", done[0])
		}
	})
}

// A loop on a pool and a group with long tasks: the loop returns when its last
// call has ended, not when a worker is free once more.
func TestLoopBesideABusyGroup(t *testing.T) {
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := stint.NewPool(stint.Limit(1))
				defer p.Close()
				g := stint.NewGroup(context.Background(), p)
				for range 5 {
					g.Go(sleep(time.Hour))
				}
				synctest.Wait()
				start := time.Now()
				var last time.Duration
				d.run(context.Background(), 2, func(context.Context, int) error { last = time.Since(start); return nil }, p)
				took(t, start, last)
				if last > 3*time.Hour {
					t.Errorf("the second call was at %v, want 2h: one task of the group each", last)
				}
				g.Wait()
			})
		})
	}
}

// Two calls that share a limiter of one take turns, call by call: neither waits
// until the other is done.
func TestCallsShareALimiter(t *testing.T) {
	for _, a := range doors {
		for _, b := range doors {
			t.Run(a.name+" and "+b.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := stint.Limit(1)
					var order []byte
					var wg sync.WaitGroup
					for i, d := range []door{a, b} {
						wg.Go(func() {
							d.run(context.Background(), 20, func(context.Context, int) error {
								time.Sleep(time.Millisecond)
								order = append(order, "ab"[i])
								return nil
							}, l)
						})
					}
					wg.Wait()
					equal(t, "time passed", sinceBubble(), 40*time.Millisecond)
					// A call has one or two places in line, so nobody gets three turns
					// before the other gets one, as long as both have work.
					first := string(order[:20])
					for _, run := range []string{"aaaa", "bbbb"} {
						if strings.Contains(first, run) {
							t.Errorf("in the order %s", order)
						}
					}
				})
			})
		}
	}
}

// 41: those who wait for a limiter are served in turn; newcomers do not overtake.
func TestLimiterIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		var order []int
		var wg sync.WaitGroup
		for i := range 20 {
			d := doors[i%len(doors)]
			wg.Go(func() {
				d.run(context.Background(), 1, func(context.Context, int) error {
					order = append(order, i)
					time.Sleep(time.Second)
					return nil
				}, l)
			})
			synctest.Wait()
		}
		wg.Wait()
		if !slices.Equal(order, indexes(20)) {
			t.Errorf("served in the order %v", order)
		}
	})
}

// 40: nothing spins while tasks wait, at GOMAXPROCS 1 either: the clock of a
// bubble stands still while any goroutine is runnable.
func TestWaitingCostsNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	everywhere(t, 1, func(t *testing.T, run run) {
		equal(t, "error", run(context.Background(), 5, func(context.Context, int) error { time.Sleep(time.Hour); return nil }), nil)
		equal(t, "time passed", sinceBubble(), 5*time.Hour)
	})
}

// 42: no wake-up is lost, whatever meets: submitters with and without a context,
// panics, Goexit, expiry, changes of the limit, groups that are cancelled. A lost
// one would be a deadlock of the bubble. The schedule is Go's own; time is cheap
// in a bubble, so expiry takes part.
func TestNoWakeUpIsLost(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			bg := context.Background()
			l := stint.Limit(1 + int(seed)%3)
			p := stint.NewPool(l, stint.Queue(int(seed)%5), stint.OnPanic(func(*stint.PanicError) {}))
			var accepted, ran atomic.Int64
			var wg sync.WaitGroup
			for actor := range 6 {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(seed, uint64(actor)))
					odd := func() {
						ran.Add(1)
						switch r := rand.IntN(20); r {
						case 0:
							runtime.Goexit()
						case 1:
							panic("boom")
						case 2:
							time.Sleep(2 * time.Second)
						default:
							time.Sleep(time.Duration(r) * time.Microsecond)
						}
					}
					for range 40 {
						switch r.IntN(7) {
						case 0:
							if p.Go(func(context.Context) { odd() }) == nil {
								accepted.Add(1)
							}
						case 1:
							ctx, cancel := context.WithTimeout(bg, time.Duration(r.IntN(50))*time.Microsecond)
							if p.GoContext(ctx, func(context.Context) { odd() }) == nil {
								accepted.Add(1)
							}
							cancel()
						case 2:
							l.Set(1 + r.IntN(4))
						case 3:
							time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
						case 4:
							opt := []stint.Option{p, l}[r.IntN(2)]
							ctx, cancel := context.WithCancel(bg)
							d := doors[r.IntN(len(doors))]
							stop := r.IntN(3) == 0
							done := make(chan struct{})
							go func() {
								defer close(done)
								defer func() { recover() }()
								d.run(ctx, 10, func(ctx context.Context, i int) error {
									if i == 5 && stop {
										cancel()
									}
									return d.run(ctx, 2, func(context.Context, int) error { time.Sleep(time.Microsecond); return nil }, opt)
								}, opt)
							}()
							<-done
							cancel()
						case 5:
							p.Stats()
							p.TryGo(func(context.Context) {})
						case 6:
							ctx, cancel := context.WithTimeout(bg, time.Millisecond)
							p.Idle(ctx)
							cancel()
						}
					}
				})
			}
			wg.Wait()
			p.Close()
			equal(t, "tasks run", ran.Load(), accepted.Load())
			synctest.Wait()
			equal(t, "the limiter at the end", usage(l), [3]int{l.Current()})
			noneLeft(t)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
