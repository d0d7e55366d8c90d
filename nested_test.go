package stint_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
)

// A call in a task goes on in the task's place, also while more tasks run than
// the limit, which was lowered, allows: it does not spin until they are fewer.
func TestNestedUnderALoweredLimit(t *testing.T) {
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			both(t, 2, func(t *testing.T, opt stint.Option, set func(int)) {
				bg := context.Background()
				g := stint.NewGroup(bg, opt)
				g.Go(sleep(time.Hour))
				g.Go(func(ctx context.Context) error {
					time.Sleep(time.Second)
					return d.run(ctx, 3, func(context.Context, int) error { time.Sleep(time.Second); return nil }, opt)
				})
				time.Sleep(time.Second / 2)
				set(1)
				equal(t, "error", g.Wait(), nil)
				equal(t, "time passed", sinceBubble(), time.Hour)
			})
		})
	}
}

// A place that a waiting task lends is not kept by those who do not use it: it is
// free for strangers as soon as the family needs it no more.
func TestLentPlaceIsNotSatOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bg := context.Background()
		l := stint.Limit(3)
		stranger, outer, late := stint.NewGroup(bg, l), stint.NewGroup(bg, l), stint.NewGroup(bg, l)
		outer.Go(func(ctx context.Context) error {
			own := goroutine.ID()
			return stint.Range(ctx, 2, func(ctx context.Context, _ int) error {
				g := stint.NewGroup(ctx, l)
				if goroutine.ID() == own {
					time.Sleep(100 * time.Millisecond)
					g.Go(sleep(time.Hour)) // in the place of the outer task
					return g.Wait()
				}
				g.Go(sleep(time.Hour)) // in the second place
				time.Sleep(50 * time.Millisecond)
				stranger.Go(sleep(time.Second)) // in the third
				time.Sleep(100 * time.Millisecond)
				g.Go(sleep(time.Second)) // waits for one
				return g.Wait()
			}, stint.Limit(2))
		})
		time.Sleep(5 * time.Second)
		start := time.Now()
		late.Go(func(context.Context) error { took(t, start, 0); return nil })
		late.Wait()
		outer.Wait()
		stranger.Wait()
		synctest.Wait()
		equal(t, "the limiter at the end", usage(l), [3]int{3})
	})
}

// What a task leaves behind, against the rules, does not break the limit for good.
func TestCallsLeftBehind(t *testing.T) {
	for _, outer := range doors {
		for _, inner := range doors {
			t.Run(inner.name+" in "+outer.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					bg := context.Background()
					l := stint.Limit(1)
					var wg sync.WaitGroup
					outer.run(bg, 2, func(ctx context.Context, _ int) error {
						return outer.run(ctx, 2, func(ctx context.Context, i int) error {
							if i == 0 {
								wg.Go(func() {
									inner.run(ctx, 1, func(context.Context, int) error { time.Sleep(time.Second); return nil }, l)
								})
								synctest.Wait()
							}
							return nil
						}, l)
					}, l)
					wg.Wait()
					synctest.Wait()
					equal(t, "the limiter at the end", usage(l), [3]int{1})
					var g gauge
					stint.Range(bg, 4, func(context.Context, int) error { g.hold(time.Second); return nil }, l)
					g.is(t, 0, 1, 4)
				})
			})
		}
	}
}

// A task makes two calls at once, from goroutines of its own. Both nest two limiters in
// the same order, the one that the task runs on and another. So neither waits for what
// the other has lent: the first call has the second limiter while a task of the second
// call waits for that in the place of the outermost task.
func TestTwoCallsOfATaskNestTheSameTwo(t *testing.T) {
	for _, first := range doors {
		for _, second := range doors {
			t.Run(first.name+" beside "+second.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a, b := stint.Limit(1), stint.Limit(1)
					var inA, inB gauge
					err := stint.Range(context.Background(), 1, func(ctx context.Context, _ int) error {
						var calls sync.WaitGroup
						calls.Go(func() { // b, and in that tasks which it waits for
							first.run(ctx, 1, func(ctx context.Context, _ int) error {
								inB.hold(0)
								return apart(ctx, first, 2*time.Second, nil)
							}, b)
						})
						calls.Go(func() { // a in a, and in that b
							apart(ctx, second, time.Second, func(ctx context.Context) error {
								return second.run(ctx, 1, func(ctx context.Context, _ int) error {
									inA.hold(0)
									return second.run(ctx, 1, func(context.Context, int) error { inB.hold(time.Second); return nil }, b)
								}, a)
							})
						})
						calls.Wait()
						return nil
					}, a)
					equal(t, "error", err, nil)
					equal(t, "time passed", sinceBubble(), 3*time.Second)
					inA.is(t, 0, 1, 1)
					inB.is(t, 0, 1, 2)
					synctest.Wait()
					equal(t, "a at the end", usage(a), [3]int{1})
					equal(t, "b at the end", usage(b), [3]int{1})
				})
			})
		}
	}
}

// apart makes a call of two tasks by d, with a limit of its own: one of them ends at
// once, and one, which is not on the caller's goroutine, sleeps and then calls f.
func apart(ctx context.Context, d door, sleep time.Duration, f func(context.Context) error) error {
	var both sync.WaitGroup
	both.Add(2)
	own := goroutine.ID()
	var other atomic.Bool
	return d.run(ctx, 2, func(ctx context.Context, _ int) error {
		both.Done()
		both.Wait()
		if goroutine.ID() == own || !other.CompareAndSwap(false, true) {
			return nil
		}
		time.Sleep(sleep)
		if f == nil {
			return nil
		}
		return f(ctx)
	}, stint.Limit(2))
}

// The same where a task makes no goroutine: the sequence of a MapSeq makes calls with
// the task's context, on the goroutine that pulls it.
func TestSequenceNestsAsItsTasksDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := stint.Limit(1), stint.Limit(1)
		each := doors[0]
		var inA, inB gauge
		err := each.run(context.Background(), 1, func(ctx context.Context, _ int) error {
			seq := func(yield func(int) bool) {
				for i := range 3 {
					each.run(ctx, 1, func(ctx context.Context, _ int) error {
						inB.hold(0)
						return apart(ctx, each, time.Second, nil)
					}, b)
					if !yield(i) {
						return
					}
				}
			}
			return yielded(stint.MapSeq(ctx, seq, func(ctx context.Context, i int) (int, error) {
				return i, each.run(ctx, 1, func(ctx context.Context, _ int) error {
					inA.hold(time.Second / 2)
					return each.run(ctx, 1, func(context.Context, int) error { inB.hold(0); return nil }, b)
				}, a)
			}, stint.Limit(3)))
		}, a)
		equal(t, "error", err, nil)
		inA.is(t, 0, 1, 3)
		inB.is(t, 0, 1, 6)
	})
}

// A call that returns does not wait for tasks of another call, which have what that
// has lent: they may wait for what the task does next.
func TestCallsOfATaskAndAChannel(t *testing.T) {
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, c := stint.Limit(1), make(chan int)
				err := d.run(context.Background(), 1, func(ctx context.Context, _ int) error {
					var calls sync.WaitGroup
					calls.Go(func() {
						apart(ctx, d, 2*time.Second, nil)
						c <- 1
					})
					calls.Go(func() {
						apart(ctx, d, time.Second, func(ctx context.Context) error {
							return d.run(ctx, 1, func(context.Context, int) error { <-c; return nil }, a)
						})
					})
					calls.Wait()
					return nil
				}, a)
				equal(t, "error", err, nil)
				equal(t, "time passed", sinceBubble(), 2*time.Second)
			})
		})
	}
}

// A task waits in one call while tasks of another one, which it has begun, use its place.
// It goes on alone: not before the one that is at work there has given the place back.
func TestTaskGoesOnAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := stint.Limit(1)
		var in gauge
		err := stint.Range(context.Background(), 1, func(ctx context.Context, _ int) error {
			g := stint.NewGroup(ctx, stint.Limit(1))
			g.Go(func(ctx context.Context) error { // started, and not waited for yet
				return stint.Range(ctx, 1, func(context.Context, int) error { in.hold(time.Minute); return nil }, a)
			})
			apart(ctx, doors[0], time.Second, nil) // waited for
			in.hold(time.Second)
			return g.Wait()
		}, a)
		equal(t, "error", err, nil)
		equal(t, "time passed", sinceBubble(), time.Minute+time.Second)
		in.is(t, 0, 1, 2)
	})
}

// Calls of a task may depend on each other: whichever of them it waits in, the tasks of
// all may use its place.
func TestCallsThatDependOnEachOther(t *testing.T) {
	nest := func(ctx context.Context, a stint.Option) error {
		time.Sleep(time.Second)
		return stint.Range(ctx, 3, func(context.Context, int) error { time.Sleep(time.Second); return nil }, a)
	}
	produce := func(ctx context.Context, a stint.Option, opts ...stint.Option) (*stint.Group, chan int) {
		c := make(chan int)
		g := stint.NewGroup(ctx, opts...)
		g.Go(func(ctx context.Context) error {
			defer close(c)
			for i := range 3 {
				if err := nest(ctx, a); err != nil {
					return err
				}
				c <- i
			}
			return nil
		})
		return g, c
	}
	for name, f := range map[string]func(t *testing.T, ctx context.Context, a stint.Option) error{
		"a consumer is waited for before its producer": func(t *testing.T, ctx context.Context, a stint.Option) error {
			producer, c := produce(ctx, a)
			consumer := stint.NewGroup(ctx)
			consumer.Go(func(context.Context) error {
				for range c {
				}
				return nil
			})
			return errors.Join(consumer.Wait(), producer.Wait())
		},
		"a sequence of what a group produces": func(t *testing.T, ctx context.Context, a stint.Option) error {
			producer, c := produce(ctx, a)
			err := yielded(stint.MapSeq(ctx, func(yield func(int) bool) {
				for v := range c {
					if !yield(v) {
						return
					}
				}
			}, valued(func(context.Context, int) error { return nil }), stint.Limit(2)))
			return errors.Join(err, producer.Wait())
		},
		"groups on one limiter, the last first": func(t *testing.T, ctx context.Context, a stint.Option) error {
			b := stint.Limit(1)
			first, second := stint.NewGroup(ctx, b), stint.NewGroup(ctx, b)
			first.Go(func(ctx context.Context) error { return nest(ctx, a) })
			second.Go(func(context.Context) error { return nil })
			return errors.Join(second.Wait(), first.Wait())
		},
		"Pool.Idle": func(t *testing.T, ctx context.Context, a stint.Option) error {
			p := stint.NewPool(stint.Limit(2))
			defer p.Close()
			g := stint.NewGroup(ctx, p)
			g.Go(func(ctx context.Context) error { return nest(ctx, a) })
			return errors.Join(p.Idle(ctx), g.Wait())
		},
		"Pool.Shutdown": func(t *testing.T, ctx context.Context, a stint.Option) error {
			p := stint.NewPool(stint.Limit(2))
			g := stint.NewGroup(ctx, p)
			g.Go(func(ctx context.Context) error { return nest(ctx, a) })
			_, err := p.Shutdown(ctx)
			return errors.Join(err, g.Wait())
		},
		"Pool.GoContext": func(t *testing.T, ctx context.Context, a stint.Option) error {
			p := stint.NewPool(stint.Limit(1), stint.Queue(1))
			defer p.Close()
			g := stint.NewGroup(ctx, p)
			g.Go(func(ctx context.Context) error { return nest(ctx, a) })
			for range 3 {
				equal(t, "GoContext", p.GoContext(ctx, func(context.Context) {}), nil)
			}
			return g.Wait()
		},
		"Group.GoContext": func(t *testing.T, ctx context.Context, a stint.Option) error {
			g := stint.NewGroup(ctx, stint.Limit(1), stint.Queue(1))
			for range 4 {
				equal(t, "GoContext", g.GoContext(ctx, func(ctx context.Context) error { return nest(ctx, a) }), nil)
			}
			return g.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := stint.Limit(1)
				err := stint.Range(context.Background(), 1, func(ctx context.Context, _ int) error { return f(t, ctx, a) }, a)
				equal(t, "error", err, nil)
				synctest.Wait()
				equal(t, "the limiter at the end", usage(a), [3]int{1})
			})
		})
	}
}

// Calls of one task at the same time, from goroutines of its own, have one place
// of the family's and no more than the limit.
func TestSiblingCallsOfATask(t *testing.T) {
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
				var g gauge
				err := d.run(context.Background(), 1, func(ctx context.Context, _ int) error {
					var wg sync.WaitGroup
					for range 3 {
						wg.Go(func() {
							d.run(ctx, 3, func(context.Context, int) error { g.hold(time.Second); return nil }, opt)
						})
					}
					wg.Wait()
					return nil
				}, opt)
				equal(t, "error", err, nil)
				g.is(t, 0, 1, 9)
				equal(t, "time passed", sinceBubble(), 9*time.Second)
			})
		})
	}
}

// A stranger does not get the place of a task that waits: the tasks that have
// begun, with those that run in their place, are never more than the limit.
func TestStrangersWaitForTheWholeFamily(t *testing.T) {
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
				bg := context.Background()
				var wg sync.WaitGroup
				wg.Go(func() {
					d.run(bg, 1, func(ctx context.Context, _ int) error {
						time.Sleep(time.Second)
						defer time.Sleep(time.Second)
						return d.run(ctx, 3, func(context.Context, int) error { time.Sleep(time.Second); return nil }, opt)
					}, opt)
				})
				synctest.Wait()
				wg.Go(func() {
					d.run(bg, 1, func(context.Context, int) error { equal(t, "begun at", sinceBubble(), 5*time.Second); return nil }, opt)
				})
				wg.Wait()
			})
		})
	}
}

// Groups and sequences that a task has waited for leave nothing in the limiter's
// line.
func TestNestedCallsLeaveTheLine(t *testing.T) {
	l := stint.Limit(1)
	nothing := func(context.Context, int) (int, error) { return 0, nil }
	err := stint.Range(context.Background(), 1, func(ctx context.Context, _ int) error {
		for range 100 {
			g := stint.NewGroup(ctx, l)
			g.Go(func(context.Context) error { return nil })
			g.Wait()
			for range stint.MapSeq(ctx, count(3), nothing, l) {
			}
		}
		equal(t, "waiting", l.Stats().Waiting, 0)
		return nil
	}, l)
	equal(t, "error", err, nil)
	equal(t, "at the end", usage(l), [3]int{1})
}

// A loop does not stand in line when it has nothing left to do.
func TestEndedLoopWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		var other sync.WaitGroup
		other.Go(func() {
			time.Sleep(time.Second / 2)
			stint.Range(context.Background(), 1, func(context.Context, int) error { time.Sleep(time.Hour); return nil }, l)
		})
		stint.Range(context.Background(), 1, func(context.Context, int) error { time.Sleep(time.Second); return nil }, l)
		equal(t, "time passed", sinceBubble(), time.Second)
		other.Wait()
	})
}

// A task that waited goes on when the one task in its place has ended, also if
// that has more to do there: it is given back between two items.
func TestPlaceIsGivenBackAfterTheItemInHand(t *testing.T) {
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			both(t, 1, func(t *testing.T, opt stint.Option, _ func(int)) {
				g := stint.NewGroup(context.Background(), opt)
				g.Go(func(ctx context.Context) error {
					var at []time.Duration
					for _, err := range stint.MapSeq(ctx, count(2), func(ctx context.Context, i int) (int, error) {
						if i == 0 {
							time.Sleep(500 * time.Millisecond)
							return i, nil
						}
						return i, d.run(ctx, 4, func(context.Context, int) error { time.Sleep(time.Second); return nil }, opt)
					}, stint.Limit(2)) {
						equal(t, "error", err, nil)
						at = append(at, sinceBubble())
						time.Sleep(10 * time.Second) // in its place again
					}
					// One item of the four until the first result is taken, three afterwards.
					if want := []time.Duration{time.Second, 14 * time.Second}; !slices.Equal(at, want) {
						t.Errorf("the task went on at %v, want %v", at, want)
					}
					return nil
				})
				equal(t, "error", g.Wait(), nil)
			})
		})
	}
}

// sounding is a context that notes how deep the stack is at which it is asked.
type sounding struct {
	context.Context
	mu      *sync.Mutex
	deepest *int
}

func (s sounding) Value(key any) any {
	var pcs [4096]uintptr
	n := runtime.Callers(0, pcs[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	*s.deepest = max(*s.deepest, n)
	return s.Context.Value(key)
}

// No goroutine of nested groups asks through the contexts of all those around it: each
// would need a stack that grows with the depth, and all of them one that grows with its
// square.
func TestStacksDoNotGrowWithDepth(t *testing.T) {
	for name, opts := range map[string][]stint.Option{"one limiter": {stint.Limit(1)}, "named": {stint.Name("n")}, "none": nil} {
		var at [2]int
		for i, depth := range []int{20, 200} {
			ctx := sounding{context.Background(), new(sync.Mutex), &at[i]}
			var nest func(ctx context.Context, depth int) error
			nest = func(ctx context.Context, depth int) error {
				if depth == 0 {
					return nil
				}
				g := stint.NewGroup(ctx, opts...)
				g.Go(func(ctx context.Context) error { return nest(ctx, depth-1) })
				return g.Wait()
			}
			equal(t, name+": error", nest(ctx, depth), nil)
		}
		if at[1] > at[0] {
			t.Errorf("%s: the stacks are %d frames deep at 20 levels, %d at 200", name, at[0], at[1])
		}
	}
}
