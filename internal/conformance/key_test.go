package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
)

// keyedRuns are the functions that keep the order within a key. Each calls f for 0 to n-1.
var keyedRuns = map[string]func(ctx context.Context, n int, key func(int) int, f body, opts ...stint.Option) error{
	"EachKey": func(ctx context.Context, n int, key func(int) int, f body, opts ...stint.Option) error {
		return stint.EachKey(ctx, count(n), key, f, opts...)
	},
	"MapKey": func(ctx context.Context, n int, key func(int) int, f body, opts ...stint.Option) error {
		return yielded(stint.MapKey(ctx, count(n), key, valued(f), opts...))
	},
	"MapKey, Unordered": func(ctx context.Context, n int, key func(int) int, f body, opts ...stint.Option) error {
		return yielded(stint.MapKey(ctx, count(n), key, valued(f), append(opts, stint.Unordered())...))
	},
}

// Values of different keys are handled at once, and those of one key one after the other.
func TestKeysAreConcurrent(t *testing.T) {
	for name, run := range keyedRuns {
		synctest.Test(t, func(t *testing.T) {
			var g gauge
			err := run(context.Background(), 40, func(i int) int { return i % 4 }, func(context.Context, int) error {
				g.Hold(time.Second)
				return nil
			}, stint.Limit(8))
			equal(t, name+": error", err, nil)
			equal(t, name+": at once", g.Max(), 4)
			equal(t, name+": time", sinceBubble(), 10*time.Second)
		})
	}
}

// With one permit, values are handled in the order of the sequence, whatever their keys are,
// as far as that was pulled before them.
func TestKeysAtLimit1(t *testing.T) {
	for name, run := range keyedRuns {
		for _, queue := range []int{0, 1, 7, 1000} {
			next := 0
			err := run(context.Background(), 500, func(i int) int { return i * i % 7 }, func(_ context.Context, i int) error {
				if i != next {
					t.Errorf("%s: value %d, want %d", name, i, next)
				}
				next++
				return nil
			}, stint.Limit(1), stint.Queue(queue))
			equal(t, name+": error", err, nil)
			equal(t, name+": values handled", next, 500)
		}
	}
}

// A key that has many of the values neither holds up the others nor is held up: all permits
// are in use, or its values run one after the other, for at least 0.9 of the time.
func TestSkewedKeys(t *testing.T) {
	const n = 3000
	zipf, keys := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, 9999), make([]int, n)
	numbers, most := map[int]int{}, 0
	for i := range keys {
		keys[i] = int(zipf.Uint64())
		numbers[keys[i]]++
		most = max(most, numbers[keys[i]])
	}
	for name, run := range keyedRuns {
		for _, limit := range []int{2, 4, 8, 64} {
			for _, queue := range []int{100, 1000, n} {
				synctest.Test(t, func(t *testing.T) {
					err := run(context.Background(), n, func(i int) int { return keys[i] }, func(context.Context, int) error {
						time.Sleep(time.Millisecond)
						return nil
					}, stint.Limit(limit), stint.Queue(queue))
					equal(t, name+": error", err, nil)
					ideal := max(most, n/limit)
					if ratio := float64(ideal) / float64(sinceBubble().Milliseconds()); ratio < 0.9 {
						t.Errorf("%s, limit %d, queue %d: %.2f of the ideal", name, limit, queue, ratio)
					}
				})
			}
		}
	}
}

// A keyOracle follows tasks with keys, and knows the order that a sequential program has.
type keyOracle struct {
	t    *testing.T
	name string
	keys []int
	mu   sync.Mutex
	last map[int]int  // of each key
	busy map[int]bool // a task of the key runs
	ran  int
}

func newKeyOracle(t *testing.T, name string, keys []int) *keyOracle {
	return &keyOracle{t: t, name: name, keys: keys, last: map[int]int{}, busy: map[int]bool{}}
}

func (o *keyOracle) begin(i int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	k := o.keys[i]
	if last, ok := o.last[k]; ok && last >= i || o.busy[k] {
		o.t.Errorf("%s: value %d of key %d after %d, busy %v", o.name, i, k, last, o.busy[k])
	}
	for j := o.last[k]; j < i; j++ { // none is left out
		if _, started := o.last[k]; o.keys[j] == k && (j > o.last[k] || !started) {
			o.t.Errorf("%s: value %d of key %d before %d", o.name, i, k, j)
		}
	}
	o.last[k], o.busy[k] = i, true
	o.ran++
}

func (o *keyOracle) end(i int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.busy[o.keys[i]] = false
}

// Whatever the keys, the limit, the queue, the errors and the changes of the limit are: the
// order within a key is that of the sequence, no value is left out, and the limit holds.
func TestKeysInOrder(t *testing.T) {
	for name, run := range keyedRuns {
		for seed := range uint64(rounds(40)) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 1))
				n, distinct := 1+r.IntN(300), 1+r.IntN(1+r.IntN(100))
				keys := make([]int, n)
				for i := range keys {
					keys[i] = r.IntN(distinct) * r.IntN(2) // half of them are 0
				}
				limit, most := stint.Limit(1+r.IntN(8)), 12
				var g gauge
				o := newKeyOracle(t, fmt.Sprint(name, " ", seed), keys)
				failing, changes := r.IntN(3) == 0, r.IntN(2) == 0
				opts := []stint.Option{limit, stint.KeepGoing()}
				switch r.IntN(4) {
				case 0:
					opts = append(opts, stint.Queue(r.IntN(20)))
				case 1:
					p := stint.NewPool(limit)
					defer p.Close()
					opts[0] = p
				case 2:
					opts[0] = stint.Auto(1, 12)
				}
				err := run(context.Background(), n, func(i int) int { return keys[i] }, func(_ context.Context, i int) error {
					o.begin(i)
					defer o.end(i)
					if changes && i%7 == 0 {
						limit.Set(1 + i%12)
					}
					g.Hold(time.Duration(i%5) * time.Millisecond)
					switch {
					case failing && i%11 == 3:
						return errBoom
					case failing && i%11 == 5:
						runtime.Goexit()
					}
					return nil
				}, opts...)
				equal(t, o.name+": values handled", o.ran, n)
				equal(t, o.name+": failed", err != nil, failing && n > 3)
				if g.Max() > most {
					t.Errorf("%s: %d at once", o.name, g.Max())
				}
				for at, e := range members(err) { // in order, with their numbers
					item, _ := errors.AsType[*stint.ItemError](e)
					if item == nil || item.Index%11 != 3 && item.Index%11 != 5 {
						t.Errorf("%s: error %d is %v", o.name, at, e)
					}
				}
			})
		}
	}
}

// However a call is cut short: of each key the values are handled up to some value, in order
// and one at a time, and nothing runs when the call has returned.
func TestKeysCutShort(t *testing.T) {
	for name, run := range keyedRuns {
		for seed := range uint64(rounds(60)) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 4))
				n, distinct, at := 200+r.IntN(200), 1+r.IntN(30), r.IntN(200)
				keys := make([]int, n)
				for i := range keys {
					keys[i] = r.IntN(distinct) * r.IntN(2)
				}
				limit := stint.Limit(1 + r.IntN(8))
				opts := []stint.Option{limit, stint.Queue(r.IntN(100))}
				ctx, cancel := context.WithCancelCause(context.Background())
				defer cancel(nil)
				pool := stint.NewPool(limit)
				defer pool.Close()
				if r.IntN(2) == 0 {
					opts[0] = pool
				}
				way, o, returned := r.IntN(5), newKeyOracle(t, fmt.Sprint(name, " ", seed), keys), false
				f := func(_ context.Context, i int) error {
					o.begin(i)
					defer o.end(i)
					if returned {
						t.Errorf("%s: value %d is handled after the end", o.name, i)
					}
					time.Sleep(time.Duration(i%5) * time.Millisecond)
					limit.Set(1 + i%9)
					if i != at {
						return nil
					}
					switch way {
					case 0:
						cancel(errBoom)
					case 1:
						return errBoom
					case 2:
						panic(errBoom)
					case 3:
						go pool.Shutdown(canceled())
					case 4:
						runtime.Goexit()
					}
					return nil
				}
				var err error
				v := recovered(func() { err = run(ctx, n, func(i int) int { return keys[i] }, f, opts...) })
				returned = true
				p, _ := v.(*stint.PanicError)
				switch {
				case way == 2:
					equal(t, o.name+": panicked", p != nil && p.Value == any(errBoom), true)
				case way == 3 && opts[0] != stint.Option(pool):
					equal(t, o.name+": error", err, nil)
					equal(t, o.name+": values handled", o.ran, n)
				default:
					equal(t, o.name+": error", err, []error{errBoom, errBoom, nil, stint.ErrClosed, stint.ErrGoexit}[way])
				}
				time.Sleep(time.Second)
			})
		}
	}
}

// canceled returns a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// rounds returns n, or less with -short.
func rounds(n int) int {
	if testing.Short() {
		return n / 4
	}
	return n
}

// After an error nothing of its key, and nothing else that is new, starts.
func TestKeysStopAtAnError(t *testing.T) {
	for name, run := range keyedRuns {
		synctest.Test(t, func(t *testing.T) {
			var started sync.Map
			err := run(context.Background(), 100, func(i int) int { return i % 3 }, func(_ context.Context, i int) error {
				started.Store(i, true)
				time.Sleep(time.Second)
				if i == 4 {
					return errBoom
				}
				return nil
			}, stint.Limit(5))
			equal(t, name+": error", err, errBoom)
			for i := range 100 { // 6 and 8 may start in the moment in which 4 fails
				if _, ok := started.Load(i); ok != (i < 6) && i != 6 && i != 8 {
					t.Errorf("%s: value %d started: %v", name, i, ok)
				}
			}
		})
	}
}

// The values that are pulled and not finished are bounded, however many keys there are, and
// a key that is done leaves nothing behind.
func TestKeysAreBounded(t *testing.T) {
	for name, run := range keyedRuns {
		for _, distinct := range []int{1, 7, math.MaxInt} {
			var g gauge
			pulled, most, done := 0, 0, 0
			var mu sync.Mutex
			n := 20_000
			err := run(context.Background(), n, func(i int) int {
				mu.Lock()
				defer mu.Unlock()
				pulled++
				most = max(most, pulled-done)
				return i % distinct
			}, func(context.Context, int) error {
				g.Enter()
				defer g.Leave()
				mu.Lock()
				defer mu.Unlock()
				done++
				return nil
			}, stint.Limit(4), stint.Queue(6))
			equal(t, name+": error", err, nil)
			if most > 11 || g.Max() > 4 || pulled != n {
				t.Errorf("%s: %d pulled and not finished, want 11; %d at once; %d pulled", name, most, g.Max(), pulled)
			}
		}
	}
}

// Keys that do not equal themselves have a lane for each value.
func TestKeysThatAreNaN(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := stint.EachKey(context.Background(), count(10), func(int) float64 { return math.NaN() }, func(context.Context, int) error {
			time.Sleep(time.Second)
			return nil
		}, stint.Limit(5))
		equal(t, "error", err, nil)
		equal(t, "time", sinceBubble(), 2*time.Second)
	})
}

// A panic of the key function, and of a key that cannot be compared, reach the caller.
func TestKeysPanic(t *testing.T) {
	v := recovered(func() {
		stint.EachKey(context.Background(), count(10), func(i int) int { panic("key") }, func(context.Context, int) error { return nil })
	})
	if p, ok := v.(*stint.PanicError); !ok || p.Value != any("key") {
		t.Errorf("got %v", v)
	}
	v = recovered(func() {
		stint.EachKey(context.Background(), count(10), func(i int) any { return []int{i} }, func(context.Context, int) error { return nil })
	})
	if p, ok := v.(*stint.PanicError); !ok || p.Unwrap() == nil {
		t.Errorf("got %v", v)
	}
	err := stint.EachKey(context.Background(), count(10), func(i int) int { runtime.Goexit(); return 0 }, func(context.Context, int) error { return nil })
	equal(t, "error", err, stint.ErrGoexit)
}

// A pool that is closed runs what was pulled before, also behind others of their key.
func TestKeysOnAClosedPool(t *testing.T) {
	for name, run := range keyedRuns {
		synctest.Test(t, func(t *testing.T) {
			p := stint.NewPool(stint.Limit(2))
			ran := 0
			done := make(chan error)
			go func() {
				done <- run(context.Background(), 100, func(int) int { return 0 }, func(context.Context, int) error {
					time.Sleep(time.Second)
					ran++
					return nil
				}, p, stint.Queue(3))
			}()
			time.Sleep(time.Second / 2)
			p.Close()
			equal(t, name+": error", <-done, stint.ErrClosed)
			if ran < 5 {
				t.Errorf("%s: %d ran of 5 that were pulled", name, ran)
			}
		})
	}
}

// The results of MapKey are in the order of the sequence, and under Unordered in order
// within a key.
func TestMapKeyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last, next := map[int]int{}, 0
		key := func(i int) int { return i % 7 }
		f := func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Duration(i*i%13) * time.Millisecond)
			return i, nil
		}
		for i, err := range stint.MapKey(context.Background(), count(500), key, f, stint.Limit(5)) {
			if err != nil || i != next {
				t.Errorf("got %d and %v, want %d", i, err, next)
			}
			next++
		}
		equal(t, "results", next, 500)
		next = 0
		for i, err := range stint.MapKey(context.Background(), count(500), key, f, stint.Limit(5), stint.Unordered()) {
			if before, ok := last[key(i)]; err != nil || ok && before > i {
				t.Errorf("got %d after %d, %v", i, before, err)
			}
			last[key(i)] = i
			next++
		}
		equal(t, "results", next, 500)
	})
}
