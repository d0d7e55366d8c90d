package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

func TestBubbles(t *testing.T) {
	// In a bubble, outside, and in another bubble: nothing crosses over.
	for _, k := range limitKinds {
		for _, e := range entryPoints {
			t.Run(e.name+"/"+k.name, func(t *testing.T) {
				all := func(t *testing.T) { nestedIn(t, e, k) }
				synctest.Test(t, all)
				all(t)
				synctest.Test(t, all)
			})
		}
	}
	bubble(t, "blocking is durable", func(t *testing.T) {
		// If a wait of the library were not, synctest.Wait would not return, or
		// the clock not advance.
		p := stint.NewPool(stint.Limit(1), stint.Queue(0))
		l := stint.Limit(1)
		p.Go(func(context.Context) { time.Sleep(time.Hour) })
		hold := stint.NewGroup(bg, l, stint.Queue(0))
		hold.Go(sleep(time.Hour))
		synctest.Wait()
		var wg sync.WaitGroup
		wg.Go(func() { p.Go(func(context.Context) {}) })
		wg.Go(func() { p.Idle(bg) })
		wg.Go(func() { hold.Go(sleep(0)) })
		wg.Go(func() { doing(l)(bg, 3, nothing) })
		for _, e := range entryPoints {
			wg.Go(func() { e.run(bg, 3, nothing, l) })
			wg.Go(func() { e.run(bg, 3, nothing, p) })
		}
		synctest.Wait()
		equal(t, "time passed", sinceBubble(), 0)
		wg.Wait()
		hold.Wait()
		p.Close()
		equal(t, "time passed", sinceBubble(), time.Hour)
	})
	l := stint.Limit(2) // one for all
	for range 3 {
		synctest.Test(t, func(t *testing.T) { equal(t, "error of Do", doing(l)(bg, 50, nothing), nil) })
		equal(t, "error of Do", doing(l)(bg, 50, nothing), nil)
	}
}

// nestedIn runs calls in the tasks of a call on the same limit.
func nestedIn(t *testing.T, e entryPoint, k limitKind) {
	opts, shut := k.open(2)
	defer shut()
	var n atomic.Int64
	err := e.run(bg, 50, func(ctx context.Context, i int) error {
		return e.run(ctx, 2, func(context.Context, int) error { n.Add(1); return nil }, opts...)
	}, opts...)
	if err != nil || n.Load() != 100 {
		t.Error(err, n.Load())
	}
}

// retry calls f again and again, after pauses of 1, 2, 4 and more seconds, until it
// succeeds or ctx ends.
func retry(ctx context.Context, f func(context.Context) error) error {
	for pause := time.Second; ; pause *= 2 {
		if f(ctx) == nil {
			return nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func TestRetriesBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()

		var mu sync.Mutex
		var tries []float64 // seconds after the start
		err := stint.Range(ctx, 2, func(ctx context.Context, _ int) error {
			return retry(ctx, func(context.Context) error {
				mu.Lock()
				defer mu.Unlock()
				tries = append(tries, time.Since(start).Seconds())
				return errors.New("busy")
			})
		}, stint.Limit(2))

		if want := []float64{0, 0, 1, 1, 3, 3, 7, 7}; !slices.Equal(tries, want) {
			t.Errorf("tried at %v, want %v", tries, want)
		}
		if took := time.Since(start); err != context.DeadlineExceeded || took != 10*time.Second {
			t.Errorf("%v after %v, want the end of the deadline after 10s", err, took)
		}
	})
}

func TestThreeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var running, most int
		start := time.Now()
		err := stint.Range(t.Context(), 12, func(context.Context, int) error {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		}, stint.Limit(3))

		if took := time.Since(start); err != nil || most != 3 || took != 4*time.Second {
			t.Errorf("%d at once, %v, error %v; want 3, 4s and none", most, took, err)
		}
	})
}

func TestShutdownAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := stint.NewPool(stint.Limit(2))
		for range 20 {
			pool.Go(func(context.Context) { time.Sleep(3 * time.Second) })
		}

		start := time.Now()
		grace, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		dropped, err := pool.Shutdown(grace) // two begin at 0, 3, 6 and 9 seconds
		if took := time.Since(start); dropped != 12 || err != context.DeadlineExceeded || took != 12*time.Second {
			t.Errorf("%d dropped after %v, error %v; want 12 after 12s", dropped, took, err)
		}
	})
}

func TestAnyLimitGivesTheSame(t *testing.T) {
	words := strings.Fields("the limit must not show in the result")
	var want []int
	for _, w := range words {
		want = append(want, len(w))
	}
	for _, limit := range []*stint.Limiter{stint.Limit(1), stint.Limit(8), stint.Auto(1, 256)} {
		got, err := stint.Map(t.Context(), words, func(_ context.Context, w string) (int, error) {
			return len(w), nil
		}, limit)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("limit %d: %v, %v; want %v", limit.Current(), got, err, want)
		}
	}
}

// One at a time, tasks run in the order of the items.
func ExampleLimit_order() {
	err := stint.Each(context.Background(), []string{"read", "check", "write"}, func(_ context.Context, step string) error {
		fmt.Println(step)
		return nil
	}, stint.Limit(1))
	fmt.Println(err)
	// Output:
	// read
	// check
	// write
	// <nil>
}

// A bubble reports a pool that is not closed, and a group that nobody waits for.
func TestBubblesReportWhatIsLeft(t *testing.T) {
	for name, leave := range map[string]func(){
		"pool":  func() { stint.NewPool().Go(func(context.Context) {}) },
		"group": func() { stint.NewGroup(context.Background()).Go(func(context.Context) error { return nil }) },
	} {
		t.Run(name, func(t *testing.T) {
			if isChild() {
				synctest.Test(t, func(*testing.T) { leave() })
				return
			}
			output, failed := child(t)
			if !failed || !strings.Contains(output, "main bubble goroutine has exited but blocked goroutines remain") {
				t.Error(output)
			}
		})
	}
}

// An adaptive limiter is used outside, then in a bubble for so long that a timer which was armed
// outside would fire, and in two more bubbles, as one in a package variable is.
func TestTimersStayInTheirBubble(t *testing.T) {
	for _, name := range []string{"Range", "Group", "MapSeq"} { // each engine, and a Demand: it takes a while
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := stint.Auto(1, 10_000, stint.Burst(1))
			all := func(t *testing.T, task func()) {
				err := entry(name)(t.Context(), limit.Current()+1, func(context.Context, int) error { task(); return nil }, limit)
				equal(t, "error", err, nil)
			}
			wait := func(t *testing.T) { all(t, func() { time.Sleep(time.Millisecond) }) }
			wait(t)
			equal(t, "refused outside", limit.Do(t.Context(), func(context.Context) error {
				return limit.TryDo(bg, sleep(0))
			}), stint.ErrBusy)
			overdue := make(chan struct{})
			time.AfterFunc(600*time.Millisecond, func() { close(overdue) })
			synctest.Test(t, func(t *testing.T) { all(t, func() { <-overdue }) })
			synctest.Test(t, wait)
			synctest.Test(t, func(t *testing.T) {
				var here sync.WaitGroup // the last task starts by a tick of this bubble
				here.Add(limit.Current() + 1)
				all(t, func() { here.Done(); here.Wait() })
			})
		})
	}
}
