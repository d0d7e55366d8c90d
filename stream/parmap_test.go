package stream_test

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/stream"
)

// holding is a function of a ParMap that holds the gauge for a second.
func holding(g *gauge) func(context.Context, int) (int, error) {
	return func(_ context.Context, v int) (int, error) { g.Hold(time.Second); return v, nil }
}

// bothOrders runs a test for an ordered and for an unordered ParMap, each in a bubble.
func bothOrders(t *testing.T, name string, test func(t *testing.T, order ...stint.Option)) {
	t.Helper()
	bubble(t, name+"/ordered", func(t *testing.T) { test(t) })
	bubble(t, name+"/unordered", func(t *testing.T) { test(t, stint.Unordered()) })
}

// complete fails the test unless s has 0 to n-1, in any order.
func complete(t *testing.T, s ints, n int) {
	t.Helper()
	givesSorted(t, s, nil, indexes(n))
}

// The limit is reached and never exceeded, with every source, and calls start as soon as there is
// a permit.
func TestParMapLimitIsExact(t *testing.T) {
	for _, limit := range []int{1, 2, 3, 7, 100, 1000} {
		bothOrders(t, fmt.Sprint("From/", limit), func(t *testing.T, order ...stint.Option) {
			var g gauge
			s := stream.From(indexes(4 * limit))
			complete(t, stream.ParMap(s, holding(&g), append(order, stint.Limit(limit))...), 4*limit)
			g.Is(t, 0, limit, 4*limit)
			equal(t, "time passed", sinceBubble(), 4*time.Second)
		})
		for _, src := range sources {
			bothOrders(t, fmt.Sprint(src.name, "/", limit), func(t *testing.T, order ...stint.Option) {
				var g gauge
				s := src.open(t, count(4*limit))
				complete(t, stream.ParMap(s, holding(&g), append(order, stint.Limit(limit))...), 4*limit)
				g.Is(t, 0, limit, 4*limit)
				equal(t, "time passed", sinceBubble(), 4*time.Second)
			})
		}
		for _, b := range boundaries {
			bothOrders(t, fmt.Sprint(b.name, "/", limit), func(t *testing.T, order ...stint.Option) {
				var g gauge
				s := b.add(stream.From(indexes(4 * limit)))
				complete(t, b.add(stream.ParMap(s, holding(&g), append(order, stint.Limit(limit))...)), 4*limit)
				if g.Max() > limit {
					t.Errorf("at most %d at once, want %d", g.Max(), limit)
				}
			})
		}
	}
}

// Slow calls after fast ones do not delay the records of the same task.
func TestSlowCallsAfterFastOnes(t *testing.T) {
	for _, slow := range []int{0, 1, 100, 1000} {
		bothOrders(t, fmt.Sprint(slow), func(t *testing.T, order ...stint.Option) {
			var g gauge
			s := stream.ParMap(stream.From(indexes(slow+40)), func(_ context.Context, v int) (int, error) {
				if v >= slow {
					g.Hold(time.Second)
				}
				return v, nil
			}, append(order, stint.Limit(10))...)
			complete(t, s, slow+40)
			if g.Max() != 10 {
				t.Errorf("at most %d at once", g.Max())
			}
			if sinceBubble() < 4*time.Second || sinceBubble() > 5*time.Second {
				t.Errorf("took %v", sinceBubble())
			}
		})
	}
}

// Calls start in the order of the input.
func TestParMapBeginsInOrder(t *testing.T) {
	for _, limit := range []int{1, 2, 8, 100} {
		bothOrders(t, fmt.Sprint(limit), func(t *testing.T, order ...stint.Option) {
			// A call starts after all calls of an earlier time.
			var mu sync.Mutex
			latest := map[time.Duration]int{}
			var last time.Duration
			s := stream.ParMap(stream.From(indexes(500)), func(_ context.Context, v int) (int, error) {
				mu.Lock()
				now := sinceBubble()
				if now > last && v < latest[last] {
					t.Errorf("%d starts at %v, %d started at %v", v, now, latest[last], last)
				}
				latest[now] = max(latest[now], v)
				last = now
				mu.Unlock()
				time.Sleep(time.Duration(1+v%7) * time.Second)
				return v, nil
			}, append(order, stint.Limit(limit))...)
			complete(t, s, 500)
		})
	}
}

// Under Limit(1) calls run in the order of the input, even if a task of several records is split.
func TestParMapOfOneIsSequential(t *testing.T) {
	bothOrders(t, "one", func(t *testing.T, order ...stint.Option) {
		next := 0
		s := stream.ParMap(stream.From(indexes(20_000)), func(_ context.Context, v int) (int, error) {
			if v != next {
				t.Errorf("record %d starts, %d is next", v, next)
			}
			next = v + 1
			if v == 5000 || v%7000 == 17 {
				time.Sleep(5 * time.Millisecond)
			}
			return v, nil
		}, append(order, stint.Limit(1))...)
		complete(t, s, 20_000)
	})
}

// A pool that is closed while tasks of several records run ends the stream, with all records or
// with ErrClosed.
func TestParMapOnAPoolThatIsClosed(t *testing.T) {
	for i := range 40 {
		bothOrders(t, fmt.Sprint(i), func(t *testing.T, order ...stint.Option) {
			p := stint.NewPool(stint.Limit(1 + i%5))
			closed := make(chan struct{})
			go func() {
				defer close(closed)
				time.Sleep(time.Duration(i) * 500 * time.Microsecond)
				p.Close()
			}()
			s := stream.ParMap(stream.From(indexes(20_000)), func(_ context.Context, v int) (int, error) {
				if v%1000 > 990 {
					time.Sleep(time.Millisecond)
				}
				return v, nil
			}, append(order, p)...)
			out, err := stream.Collect(context.Background(), s)
			<-closed
			if err != nil {
				equal(t, "error", err, stint.ErrClosed)
			} else {
				equal(t, "records", len(out), 20_000)
			}
			if len(order) == 0 {
				same(t, "records", out, indexes(len(out)))
			}
		})
	}
}

// A raised limit applies at once, even if no call returns and none is queued.
func TestParMapLimitIsRaised(t *testing.T) {
	for _, c := range []struct {
		name string
		open func() (stint.Option, func(int))
	}{
		{"Limiter", func() (stint.Option, func(int)) { l := stint.Limit(1); return l, l.Set }},
		{"Pool", func() (stint.Option, func(int)) { p := stint.NewPool(stint.Limit(1)); return p, p.SetLimit }},
	} {
		for _, queue := range []int{-1, 0, 3} {
			bothOrders(t, fmt.Sprint(c.name, "/queue=", queue), func(t *testing.T, order ...stint.Option) {
				opt, set := c.open()
				if queue >= 0 {
					order = append(order, stint.Queue(queue))
				}
				var g gauge
				time.AfterFunc(time.Second, func() { set(10) })
				s := stream.ParMap(stream.FromSeq(count(10)), func(_ context.Context, v int) (int, error) {
					g.Hold(time.Hour)
					return v, nil
				}, append(order, opt)...)
				complete(t, s, 10)
				g.Is(t, 0, 10, 10)
				about(t, sinceBubble(), time.Hour+time.Second)
				if p, ok := opt.(*stint.Pool); ok {
					p.Close()
				}
			})
		}
	}
}

// Limit(1000) has 1000 calls in flight if they block, and about as many workers as CPUs if not.
func TestParMapWorkers(t *testing.T) {
	bothOrders(t, "blocking", func(t *testing.T, order ...stint.Option) {
		var g gauge
		s := stream.ParMap(stream.FromSeq(count(1000)), holding(&g), append(order, stint.Limit(1000))...)
		complete(t, s, 1000)
		g.Is(t, 0, 1000, 1000)
		equal(t, "time passed", sinceBubble(), time.Second)
	})
	t.Run("fast", func(t *testing.T) {
		// Usually 3 to 60, sometimes hundreds on a busy machine: a worker that gets no CPU
		// counts as blocked, and most do under the race detector. So one of several runs
		// must need fewer.
		const maxWorkers, tries = 250, 8
		least := fastWorkers(t)
		for try := 1; least > maxWorkers && try < tries && !race.Enabled; try++ {
			least = min(least, fastWorkers(t))
		}
		if least > maxWorkers && !race.Enabled {
			t.Errorf("%d workers, want %d at most", least, maxWorkers)
		}
	})
}

// fastWorkers returns the largest number of goroutines seen beside calls that do not block.
func fastWorkers(t *testing.T) (most int) {
	before, n := runtime.NumGoroutine(), 0
	s := stream.ParMap(stream.From(indexes(100_000)), itselfErr, stint.Limit(1000))
	err := stream.Each(context.Background(), s, func(int) error {
		if n++; n%100 == 0 {
			most = max(most, runtime.NumGoroutine()-before)
		}
		return nil
	})
	equal(t, "error", err, nil)
	equal(t, "records", n, 100_000)
	return most
}

// Two ParMaps and an Each that share a Limiter stay within it together, and release it.
func TestParMapsShareALimiter(t *testing.T) {
	for _, limit := range []int{1, 2, 5} {
		bothOrders(t, fmt.Sprint(limit), func(t *testing.T, order ...stint.Option) {
			l := stint.Limit(limit)
			var g gauge
			opts := append(order, l)
			s := stream.ParMap(stream.ParMap(stream.From(indexes(40)), holding(&g), opts...), holding(&g), opts...)
			var wg sync.WaitGroup
			wg.Go(func() { complete(t, s, 40) })
			wg.Go(func() {
				equal(t, "error", stint.Each(context.Background(), indexes(40), func(context.Context, int) error { g.Hold(time.Second); return nil }, l), nil)
			})
			wg.Go(func() { complete(t, stream.Merge(s, stream.From[int](nil)), 40) })
			wg.Wait()
			g.Is(t, 0, limit, 5*40)
			synctest.Wait()
			equal(t, "the limiter at the end", usage(l), [3]int{limit})
		})
	}
}

// The limit may change while a ParMap runs.
func TestParMapLimitChanges(t *testing.T) {
	bothOrders(t, "Set", func(t *testing.T, order ...stint.Option) {
		l := stint.Limit(2)
		var g gauge
		at := func(when time.Duration, n, want int) {
			time.AfterFunc(when, func() { l.Set(n) })
			time.AfterFunc(when+100*time.Millisecond, func() {
				synctest.Wait()
				equal(t, fmt.Sprint("running after ", when), g.Now(), want)
			})
		}
		at(1500*time.Millisecond, 5, 5)
		at(3750*time.Millisecond, 1, 5) // those that run go on
		at(6200*time.Millisecond, 1, 1)
		at(8200*time.Millisecond, 3, 3)
		s := stream.ParMap(stream.FromSeq(count(40)), holding(&g), append(order, l)...)
		complete(t, s, 40)
		g.Is(t, 0, 5, 40)
		synctest.Wait()
		equal(t, "the limiter at the end", usage(l), [3]int{3})
	})
}

// The limiter is free after every way to end.
func TestParMapReleasesItsPermits(t *testing.T) {
	for name, end := range map[string]func(s ints){
		"end":   func(s ints) { stream.Collect(context.Background(), s) },
		"break": func(s ints) { all(context.Background(), s, func(int) bool { return true }) },
		"error": func(s ints) { stream.Each(context.Background(), s, func(int) error { return errBoom }) },
		"panic": func(s ints) {
			recovered(func() { stream.Each(context.Background(), s, func(int) error { panic("boom") }) })
		},
		"inside": func(s ints) {
			recovered(func() { stream.Collect(context.Background(), stream.Map(s, func(int) int { panic("boom") })) })
		},
		"cancel": func(s ints) {
			ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
			defer cancel()
			stream.Collect(ctx, s)
		},
	} {
		bothOrders(t, name, func(t *testing.T, order ...stint.Option) {
			l := stint.Limit(3)
			var g gauge
			end(stream.ParMap(stream.From(indexes(30)), holding(&g), append(order, l)...))
			synctest.Wait()
			equal(t, "the limiter at the end", usage(l), [3]int{3})
			g.Is(t, 0, 3, g.Total())
		})
	}
}

// On a Pool the calls run on its workers, within its limit, beside its other tasks.
func TestParMapOnAPool(t *testing.T) {
	bothOrders(t, "workers", func(t *testing.T, order ...stint.Option) {
		p := stint.NewPool(stint.Limit(3))
		var g gauge
		me := goroutine.ID()
		own := stream.ParMap(stream.From(indexes(12)), func(_ context.Context, v int) (int, error) {
			if goroutine.ID() == me {
				t.Error("on the caller's goroutine")
			}
			g.Hold(time.Second)
			return v, nil
		}, append(order, p)...)
		for range 6 {
			p.Go(func(context.Context) { g.Hold(time.Second) })
		}
		complete(t, own, 12)
		p.Close()
		g.Is(t, 0, 3, 18)
		equal(t, "time passed", sinceBubble(), 6*time.Second)
	})
	bothOrders(t, "closed", func(t *testing.T, order ...stint.Option) {
		p := stint.NewPool()
		p.Close()
		s := stream.ParMap(stream.From(indexes(12)), func(context.Context, int) (int, error) { t.Error("was run"); return 0, nil }, append(order, p)...)
		out, err := stream.Collect(context.Background(), s)
		equal(t, "error", err, stint.ErrClosed)
		equal(t, "records", len(out), 0)
		out, err = stream.Collect(context.Background(), stream.Buffer(s, 3))
		equal(t, "error", err, stint.ErrClosed)
		equal(t, "records", len(out), 0)
	})
	bothOrders(t, "shut down in the middle", func(t *testing.T, order ...stint.Option) {
		p := stint.NewPool(stint.Limit(2))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			time.Sleep(2500 * time.Millisecond)
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			p.Shutdown(ctx)
		}()
		var g gauge
		s := stream.ParMap(stream.FromSeq(count(100)), aSecond(&g), append(order, p)...)
		out, err := stream.Collect(context.Background(), s)
		<-ended
		equal(t, "error", err, stint.ErrClosed)
		same(t, "records", sorted(out), indexes(4))
		g.Is(t, 0, 2, 6)
		equal(t, "time passed", sinceBubble(), 2500*time.Millisecond)
	})
	bothOrders(t, "strangers have every worker", func(t *testing.T, order ...stint.Option) {
		p := stint.NewPool(stint.Limit(2))
		for range 2 {
			p.Go(func(context.Context) { time.Sleep(time.Hour) })
		}
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(time.Second, func() { cancel(errGone) })
		s := stream.ParMap(stream.From(indexes(12)), func(context.Context, int) (int, error) { t.Error("was run"); return 0, nil }, append(order, p)...)
		_, err := stream.Collect(ctx, s)
		equal(t, "error", err, errGone)
		equal(t, "time passed", sinceBubble(), time.Second)
		p.Close()
	})
}

// Without a limit the limit is adaptive. Burst sets how many calls start at first.
func TestParMapAuto(t *testing.T) {
	for name, c := range map[string]struct {
		opts []stint.Option
		most int
	}{
		"default":       {nil, 256},
		"Burst":         {[]stint.Option{stint.Auto(1, 256, stint.Burst(3))}, 256},
		"Auto(1, 5)":    {[]stint.Option{stint.Auto(1, 5)}, 5},
		"Auto(7, 7)":    {[]stint.Option{stint.Auto(7, 7)}, 7},
		"Auto and more": {[]stint.Option{stint.Auto(1, 9, stint.Burst(2), stint.Overload(func(error) bool { return false }))}, 9},
	} {
		bothOrders(t, name, func(t *testing.T, order ...stint.Option) {
			var g gauge
			complete(t, stream.ParMap(stream.FromSeq(count(2000)), holding(&g), append(order, c.opts...)...), 2000)
			if g.Max() > c.most || g.Total() != 2000 {
				t.Errorf("at most %d at once, want %d; %d in all", g.Max(), c.most, g.Total())
			}
			if limit := min(c.most, 20); sinceBubble() > 2000/time.Duration(limit)*2*time.Second {
				t.Errorf("took %v: the limit did not rise", sinceBubble())
			}
		})
	}
}

// With a short queue no record waits for a permit: a source that is held back counts as
// waiting.
func TestParMapShortQueue(t *testing.T) {
	for _, queue := range []int{0, 1, 3} {
		bothOrders(t, fmt.Sprint(queue), func(t *testing.T, order ...stint.Option) {
			const n = 20_000
			l := stint.Auto(1, 256)
			unchanged := n / time.Duration(l.Current()) * 10 * time.Millisecond
			complete(t, stream.ParMap(stream.FromSeq(count(n)), func(_ context.Context, v int) (int, error) {
				time.Sleep(10 * time.Millisecond)
				return v, nil
			}, append(order, l, stint.Queue(queue))...), n)
			if sinceBubble() > unchanged/10 {
				t.Errorf("took %v of %v under the first limit, and the limit is %d", sinceBubble(), unchanged, l.Current())
			}
		})
	}
}

// Overload is called with the error of a call, which also ends the stream.
func TestParMapOverload(t *testing.T) {
	bothOrders(t, "asked", func(t *testing.T, order ...stint.Option) {
		var asked atomic.Int64
		is := stint.Overload(func(err error) bool {
			equal(t, "error asked for", err, errBoom)
			asked.Add(1)
			return true
		})
		s := stream.ParMap(stream.FromSeq(count(100)), func(_ context.Context, v int) (int, error) {
			time.Sleep(time.Second)
			if v == 5 {
				return 0, errBoom
			}
			return v, nil
		}, append(order, stint.Auto(1, 1, is))...)
		out, err := stream.Collect(context.Background(), s)
		equal(t, "error", err, errBoom)
		same(t, "records", out, indexes(5))
		equal(t, "asked", asked.Load(), 1)
	})
}

// Name labels the workers in profiles, and the context of the calls.
func TestParMapName(t *testing.T) {
	bothOrders(t, "label", func(t *testing.T, order ...stint.Option) {
		s := stream.ParMap(stream.FromSeq(count(10)), func(ctx context.Context, v int) (int, error) {
			label, _ := pprof.Label(ctx, "stint")
			equal(t, "label", label, "fetch")
			return v, nil
		}, append(order, stint.Name("fetch"), stint.Limit(2))...)
		complete(t, s, 10)
	})
}

// A call that waits for a ParMap, an Each or a stream on its own limiter or pool lends its permit:
// no deadlock at limit 1, and caller and callee count as one.
func TestParMapNested(t *testing.T) {
	for _, x := range []struct {
		name string
		open func(limit int) (opt stint.Option, shut func())
	}{
		{"Limiter", func(limit int) (stint.Option, func()) { return stint.Limit(limit), func() {} }},
		{"Pool", func(limit int) (stint.Option, func()) {
			p := stint.NewPool(stint.Limit(limit))
			return p, p.Close
		}},
	} {
		for _, limit := range []int{1, 2} {
			nested := func(name string, test func(t *testing.T, g *gauge, opt stint.Option, opts ...stint.Option)) {
				bothOrders(t, fmt.Sprint(x.name, "/", limit, "/", name), func(t *testing.T, order ...stint.Option) {
					opt, shut := x.open(limit)
					defer shut()
					test(t, new(gauge), opt, append(order, opt)...)
				})
			}
			nested("ParMap in a task", func(t *testing.T, g *gauge, opt stint.Option, opts ...stint.Option) {
				err := stint.Range(context.Background(), 4, func(ctx context.Context, _ int) error {
					s := stream.ParMap(stream.FromSeq(count(5)), holding(g), opts...)
					out, err := stream.Collect(ctx, s)
					equal(t, "records", len(out), 5)
					return err
				}, opt)
				equal(t, "error", err, nil)
				g.Is(t, 0, limit, 20)
				equal(t, "time passed", sinceBubble(), time.Duration(20/limit)*time.Second)
			})
			nested("ParMap in a ParMap", func(t *testing.T, g *gauge, opt stint.Option, opts ...stint.Option) {
				outer := stream.ParMap(stream.From(indexes(4)), func(ctx context.Context, v int) (int, error) {
					s := stream.ParMap(stream.From(indexes(5)), holding(g), opts...)
					out, err := stream.Collect(ctx, stream.Buffer(s, 1))
					equal(t, "records", len(out), 5)
					return v, err
				}, opts...)
				complete(t, outer, 4)
				g.Is(t, 0, limit, 20)
				equal(t, "time passed", sinceBubble(), time.Duration(20/limit)*time.Second)
			})
			nested("Each in a ParMap", func(t *testing.T, g *gauge, opt stint.Option, opts ...stint.Option) {
				s := stream.ParMap(stream.From(indexes(4)), func(ctx context.Context, v int) (int, error) {
					return v, stint.Range(ctx, 5, func(context.Context, int) error { g.Hold(time.Second); return nil }, opt)
				}, opts...)
				complete(t, s, 4)
				g.Is(t, 0, limit, 20)
			})
			nested("a row of ParMaps in a task", func(t *testing.T, g *gauge, opt stint.Option, opts ...stint.Option) {
				err := stint.Range(context.Background(), 3, func(ctx context.Context, _ int) error {
					s := stream.FromSeq(count(5))
					for range 3 {
						s = stream.ParMap(s, holding(g), opts...)
					}
					out, err := stream.Collect(ctx, stream.Merge(s, s))
					equal(t, "records", len(out), 10)
					return err
				}, opt)
				equal(t, "error", err, nil)
				g.Is(t, 0, limit, 90)
			})
			nested("source that waits for the same", func(t *testing.T, g *gauge, opt stint.Option, opts ...stint.Option) {
				s := stream.MapErr(stream.From(indexes(5)), func(ctx context.Context, v int) (int, error) {
					return v, stint.Range(ctx, 2, func(context.Context, int) error { g.Hold(time.Second); return nil }, opt)
				})
				complete(t, stream.ParMap(s, holding(g), opts...), 5)
				g.Is(t, 0, min(limit, g.Max()), 15)
			})
			nested("break in a task", func(t *testing.T, g *gauge, opt stint.Option, opts ...stint.Option) {
				err := stint.Range(context.Background(), 4, func(ctx context.Context, _ int) error {
					s := stream.ParMap(stream.From(indexes(50)), holding(g), opts...)
					out, err := all(ctx, s, func(n int) bool { return n == 2 })
					equal(t, "records", len(out), 2)
					return err
				}, opt)
				equal(t, "error", err, nil)
				g.Is(t, 0, limit, g.Total())
			})
		}
	}
	bubble(t, "in a task of Pool.Go", func(t *testing.T) {
		p := stint.NewPool(stint.Limit(1))
		var g gauge
		for range 3 {
			p.Go(func(ctx context.Context) {
				out, err := stream.Collect(ctx, stream.ParMap(stream.From(indexes(5)), holding(&g), p))
				equal(t, "error", err, nil)
				same(t, "records", out, indexes(5))
			})
		}
		p.Close()
		g.Is(t, 0, 1, 15)
	})
}

// Calls of one ParMap may wait for each other, if they are no more than the limit.
func TestParMapCallsMayWaitForEachOther(t *testing.T) {
	for _, src := range sources {
		bothOrders(t, src.name, func(t *testing.T, order ...stint.Option) {
			const n = 20
			var barrier sync.WaitGroup
			barrier.Add(n)
			s := stream.ParMap(src.open(t, count(n)), func(_ context.Context, v int) (int, error) {
				barrier.Done()
				barrier.Wait()
				return v, nil
			}, append(order, stint.Limit(n))...)
			complete(t, s, n)
		})
	}
	// Finished results leave the task of a call that blocks.
	for _, queue := range []int{-1, 0, 5, 1000} {
		bothOrders(t, fmt.Sprint("after fast ones/queue=", queue), func(t *testing.T, order ...stint.Option) {
			if queue >= 0 {
				order = append(order, stint.Queue(queue))
			}
			const fast, n = 1000, 20
			var barrier sync.WaitGroup
			barrier.Add(n)
			s := stream.ParMap(stream.From(indexes(fast+n)), func(_ context.Context, v int) (int, error) {
				if v >= fast {
					barrier.Done()
					barrier.Wait()
				}
				return v, nil
			}, append(order, stint.Limit(n))...)
			complete(t, s, fast+n)
		})
	}
}

// Finished results do not wait for a later call of the same task.
func TestParMapFinishedResultsDoNotWait(t *testing.T) {
	bothOrders(t, "after fast ones", func(t *testing.T, order ...stint.Option) {
		const fast = 3000
		release := make(chan struct{})
		s := stream.ParMap(stream.From(indexes(fast+1)), func(_ context.Context, v int) (int, error) {
			if v == fast {
				<-release
			}
			return v, nil
		}, append(order, stint.Limit(100))...)
		got := 0
		out, err := all(context.Background(), s, func(int) bool {
			if got++; got == fast {
				if took := sinceBubble(); took > 3*time.Millisecond {
					t.Errorf("took %v", took)
				}
				close(release)
			}
			return false
		})
		equal(t, "error", err, nil)
		same(t, "records", sorted(out), indexes(fast+1))
	})
}

// A blocked source does not delay results, nor records that it has emitted.
func TestParMapWithABlockedSource(t *testing.T) {
	bothOrders(t, "blocked", func(t *testing.T, order ...stint.Option) {
		var g gauge
		done := make(chan struct{})
		var seq iter.Seq[int] = func(yield func(int) bool) {
			for i := range 7 {
				if !yield(i) {
					return
				}
			}
			<-done
		}
		s := stream.ParMap(stream.FromSeq(seq), holding(&g), append(order, stint.Limit(7))...)
		err := stream.Each(context.Background(), s, func(int) error {
			equal(t, "time of the record", sinceBubble(), time.Second)
			if g.Total() == 7 {
				select {
				case <-done:
				default:
					close(done)
				}
			}
			return nil
		})
		equal(t, "error", err, nil)
		g.Is(t, 0, 7, 7)
	})
}

// aSecond returns a task of a second, which returns its value unless its context ends.
func aSecond(g *gauge) func(context.Context, int) (int, error) {
	return func(ctx context.Context, v int) (int, error) {
		g.Enter()
		defer g.Leave()
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(time.Second):
			return v, nil
		}
	}
}
