package conformance_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// Random callers of a few keys, for hours, whose new panics now and then: never more calls of a key
// run than its limit, each call that ends without an error was made once, the others never, and no
// key stays in use.
func TestLimitersAreExact(t *testing.T) {
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			var k keyed
			k.m = stint.NewLimiters(k.limiter)
			var callers sync.WaitGroup
			for i := range uint64(8) {
				callers.Go(func() {
					for r := rand.New(rand.NewPCG(seed, i)); k.calls[i] < 30; k.calls[i]++ {
						k.call(t, r)
					}
				})
			}
			callers.Wait()
			for key := range k.inside {
				if n := k.inside[key].Max(); n > limitOf(key) {
					t.Errorf("seed %d: %d calls of key %d at once", seed, n, key)
				}
			}
			time.Sleep(10 * time.Minute)
			equal(t, "keys in use", k.m.Len(), 0)
		})
	}
}

// A keyed is Limiters of a few keys, with what their calls do.
type keyed struct {
	m      *stint.Limiters[int]
	made   atomic.Int32
	inside [5]gauge
	calls  [8]int
}

func limitOf(key int) int { return 1 + key%3 }

func (k *keyed) limiter(key int) *stint.Limiter {
	time.Sleep(time.Duration(key) * time.Minute)
	if k.made.Add(1)%4 == 0 {
		panic(errBoom)
	}
	return stint.Limit(limitOf(key))
}

// call makes a random call, whose context ends at some time. Some calls nest another one.
func (k *keyed) call(t *testing.T, r *rand.Rand) {
	minutes := func(n int) time.Duration { return time.Duration(r.IntN(n)) * time.Minute }
	time.Sleep(minutes(12))
	ctx, cancel := context.WithTimeoutCause(bg, time.Minute+minutes(20), errGone)
	defer cancel()
	key, calls, do := r.IntN(len(k.inside)), 0, k.m.Do
	if r.IntN(3) == 0 {
		do = k.m.TryDo
	}
	var err error
	v := recovered(func() {
		err = do(ctx, key, func(ctx context.Context) error {
			calls++
			k.inside[key].Hold(minutes(15))
			if err := k.m.Do(ctx, key, sleep(0)); err != nil && err != errGone {
				t.Error("nested:", err)
			}
			return nil
		})
	})
	returned := v == nil && err == nil
	if refused := v == any(errBoom) || err == errGone || err == stint.ErrBusy; returned == refused || returned != (calls == 1) {
		t.Errorf("%d calls, panic %v, error %v", calls, v, err)
	}
}

// A key has one limiter while a call uses it, and for ten minutes afterwards. An adaptive limiter
// keeps what it has found for that time.
func TestLimitersAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		var l *stint.Limiter
		m := stint.NewLimiters(func(string) *stint.Limiter { made++; l = stint.Auto(1, 64); return l })
		var calls sync.WaitGroup
		for range 1000 {
			calls.Go(func() { m.Do(bg, "a", sleep(time.Second)) })
		}
		calls.Wait()
		found := l.Current()
		for _, takes := range []time.Duration{0, time.Hour, 0} {
			equal(t, "error", m.Do(bg, "a", sleep(takes)), nil)
			time.Sleep(10*time.Minute - 1)
			equal(t, "keys", m.Len(), 1)
		}
		equal(t, "limit", l.Current(), found)
		time.Sleep(time.Nanosecond)
		equal(t, "keys", m.Len(), 0)
		equal(t, "error", m.Do(bg, "a", sleep(0)), nil)
		equal(t, "made", made, 2)
		if first := l.Current(); first == found {
			t.Errorf("a new limiter starts at %d", first)
		}
	})
}

// Of the keys that no call uses, the 1,000 used last are kept.
func TestLimitersAreDropped(t *testing.T) {
	var made [3000]int
	m := stint.NewLimiters(func(key int) *stint.Limiter { made[key]++; return stint.Limit(1) })
	use := func(key int) { m.TryDo(bg, key, sleep(0)) }
	m.Do(bg, 0, func(context.Context) error {
		for key := 1; key < len(made); key++ {
			use(key)
			use(1) // is always among the last
		}
		return nil
	})
	equal(t, "keys", m.Len(), 1000)
	for _, key := range []int{0, 1, 2002, 2999} {
		use(key)
		equal(t, "times made", made[key], 1)
	}
	use(2001)
	equal(t, "times made", made[2001], 2)
}

// Any number of keys takes no more memory than a thousand, even of keys that equal no other.
func TestManyKeys(t *testing.T) {
	n := 300_000
	if testing.Short() {
		n = 100_000
	}
	m := stint.NewLimiters(func(float64) *stint.Limiter { return stint.Limit(1) })
	calls := 0
	_, kept := memory(t, func() {
		for i := range n {
			key := float64(i)
			if i%4 == 0 {
				key = math.NaN()
			}
			m.Do(bg, key, func(context.Context) error { calls++; return nil })
		}
	})
	equal(t, "calls", calls, n)
	if keys := m.Len(); kept > 2<<20 || keys > 1000 {
		t.Errorf("%d bytes are kept, and %d keys", kept, keys)
	}
}

// While new makes the limiter of a key, others that use the key wait, and may give up; those of
// other keys do not wait. After a panic or Goexit, which pass through, the next one calls new.
func TestLimitersAreMadeOnce(t *testing.T) {
	for _, leave := range []func(){func() { panic(errBoom) }, runtime.Goexit, func() {}} {
		synctest.Test(t, func(t *testing.T) {
			made := 0
			m := stint.NewLimiters(func(key string) *stint.Limiter {
				if key != "slow" {
					return stint.Limit(1)
				}
				time.Sleep(time.Second)
				if made++; made == 1 {
					leave()
				}
				return stint.Limit(2)
			})
			var first, others sync.WaitGroup
			var ended atomic.Int32
			use := func() {
				recovered(func() { m.Do(bg, "slow", sleep(0)); ended.Add(1) })
			}
			first.Go(use)
			synctest.Wait()
			ctx, cancel := context.WithTimeoutCause(bg, time.Second/2, errGone)
			defer cancel()
			for range 3 {
				others.Go(use)
				others.Go(func() { equal(t, "TryDo that gives up", m.TryDo(ctx, "slow", sleep(0)), errGone) })
			}
			equal(t, "another key", m.TryDo(bg, "quick", sleep(0)), nil)
			equal(t, "time passed", sinceBubble(), 0)
			first.Wait()
			equal(t, "time passed", sinceBubble(), time.Second)
			others.Wait()
			equal(t, "time passed", sinceBubble(), time.Duration(made)*time.Second)
			equal(t, "calls", int(ended.Load()), 5-made) // the first is not one if new did not return
			equal(t, "keys", m.Len(), 2)
		})
	}
}

// A key without a limiter, or that cannot be compared, is a panic each time, and leaves nothing.
func TestLimitersWithoutALimiter(t *testing.T) {
	var l *stint.Limiter
	m := stint.NewLimiters(func(any) *stint.Limiter { return l })
	var notComparable runtime.Error
	for range 2 {
		equal(t, "panic", recovered(func() { m.Do(bg, 1, sleep(0)) }), any("stint: NewLimiters: new: nil Limiter"))
		if err, _ := recovered(func() { m.Do(bg, []int{}, sleep(0)) }).(error); !errors.As(err, &notComparable) {
			t.Error("panic:", err)
		}
	}
	l = new(stint.Limiter)
	equal(t, "panic", recovered(func() { m.Do(bg, 1, sleep(0)) }), any("stint: NewLimiters: new: Limiter was not made by Limit or Auto"))
	equal(t, "keys", m.Len(), 0)
	l = stint.Limit(1)
	equal(t, "error", m.Do(bg, 1, sleep(0)), nil)
	equal(t, "error of a context that has ended", m.Do(ended(), 2, sleep(0)), errGone)
	equal(t, "keys", m.Len(), 1)
}

// At most 2 calls of a tenant and 8 in all, and a tenant floods: it waits at its own limiter, and
// the calls of the others take no longer than one call.
func TestFloodOfATenant(t *testing.T) {
	const takes = 10 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		tenants, all := stint.NewLimiters(func(int) *stint.Limiter { return stint.Limit(2) }), stint.Limit(8)
		handle := func(tenant int) {
			start := time.Now()
			tenants.Do(bg, tenant, func(ctx context.Context) error { return all.Do(ctx, sleep(takes)) })
			if tenant > 0 {
				took(t, start, takes)
			}
		}
		var calls sync.WaitGroup
		for range 1000 {
			calls.Go(func() { handle(0) })
		}
		for i := range 1000 { // a call in 2 ms: 5 run, beside 2 of the flood
			calls.Go(func() { handle(1 + i%20) })
			time.Sleep(2 * time.Millisecond)
		}
		synctest.Wait()
		equal(t, "calls that have finished", all.Stats().Completed, 1000-4+2*200)
		calls.Wait()
	})
}

// A key made in a bubble may be used outside, where time is another one.
func TestLimitersOutliveABubble(t *testing.T) {
	m := stint.NewLimiters(func(int) *stint.Limiter { return stint.Limit(1) })
	for range 3 {
		equal(t, "error", m.Do(bg, 1, sleep(0)), nil)
		synctest.Test(t, func(*testing.T) { equal(t, "error", m.Do(bg, 1, sleep(time.Hour)), nil) })
	}
}
