package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
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
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/stream"
)

// A keyedRun calls f for 0 to n-1, and keeps the order within a key.
type keyedRun = func(ctx context.Context, n int, key func(int) int, f body, opts ...stint.Option) error

var keyedRuns = map[string]keyedRun{
	"EachKey": func(ctx context.Context, n int, key func(int) int, f body, opts ...stint.Option) error {
		return stint.EachKey(ctx, count(n), key, f, opts...)
	},
	"MapKey": func(ctx context.Context, n int, key func(int) int, f body, opts ...stint.Option) error {
		return inTurn(n, noKey, stint.MapKey(ctx, count(n), key, valued(f), opts...))
	},
	"MapKey, Unordered": func(ctx context.Context, n int, key func(int) int, f body, opts ...stint.Option) error {
		return inTurn(n, key, stint.MapKey(ctx, count(n), key, valued(f), append(opts, stint.Unordered())...))
	},
	"ParMapKey": func(ctx context.Context, n int, key func(int) int, f body, opts ...stint.Option) error {
		return inTurn(n, noKey, stream.ParMapKey(stream.FromSeq(count(n)), key, valued(f), opts...).All(ctx))
	},
	"ParMapKey, Unordered": func(ctx context.Context, n int, key func(int) int, f body, opts ...stint.Option) error {
		s := stream.ParMapKey(stream.FromSeq(count(n)), key, valued(f), append(opts, stint.Unordered())...)
		return inTurn(n, key, s.All(ctx))
	},
}

// noKey is one key for all values.
func noKey(int) int { return 0 }

// inTurn returns the error of results. If it is nil, they must be of n values, those of one key in
// their order.
func inTurn(n int, key func(int) int, results iter.Seq2[int, error]) error {
	next, values := map[int]int{}, 0
	err := yielded(func(yield func(int, error) bool) {
		for i, err := range results {
			if values++; err == nil && i < next[key(i)] {
				err = fmt.Errorf("%d comes after %d", i, next[key(i)]-1)
			} else if err == nil {
				next[key(i)] = i + 1
			}
			yield(i, err)
		}
	})
	if err == nil && values != n {
		return fmt.Errorf("results of %d values, want %d", values, n)
	}
	return err
}

// eachKeyed runs a test for each of them, in a bubble.
func eachKeyed(t *testing.T, test func(t *testing.T, run keyedRun)) {
	for name, run := range keyedRuns {
		bubble(t, name, func(t *testing.T) { test(t, run) })
	}
}

// With one permit, values are handled in the order of the sequence, whatever their keys are,
// as far as that was pulled before them.
func TestKeysAtLimit1(t *testing.T) {
	eachKeyed(t, func(t *testing.T, run keyedRun) {
		for _, queue := range []int{0, 1, 7, 1000} {
			var order []int
			note := func(_ context.Context, i int) error { order = append(order, i); return nil }
			equal(t, "error", run(bg, 500, func(i int) int { return i * i % 7 }, note, stint.Limit(1), stint.Queue(queue)), nil)
			equal(t, "in order", slices.Equal(order, indexes(500)), true)
		}
	})
}

// A key that has many of the values neither holds up the others nor is held up: all permits
// are in use, or its values run one after the other, for at least 0.9 of the time.
func TestSkewedKeys(t *testing.T) {
	const n = 1500
	zipf, keys := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, 9999), make([]int, n)
	numbers, most := map[int]int{}, 0
	for i := range keys {
		keys[i] = int(zipf.Uint64())
		numbers[keys[i]]++
		most = max(most, numbers[keys[i]])
	}
	for i, limit := range []int{2, 4, 8, 64} {
		queue := []int{1000, 100, n, 100}[i]
		eachKeyed(t, func(t *testing.T, run keyedRun) {
			err := run(bg, n, func(i int) int { return keys[i] }, sleeps(time.Millisecond), stint.Limit(limit), stint.Queue(queue))
			equal(t, "error", err, nil)
			if ratio := float64(max(most, n/limit)) / float64(sinceBubble().Milliseconds()); ratio < 0.9 {
				t.Errorf("limit %d, queue %d: %.2f of the ideal", limit, queue, ratio)
			}
		})
	}
}

// A keyOracle follows tasks with random keys, and knows the order that a sequential program has.
type keyOracle struct {
	t    *testing.T
	keys []int
	mu   sync.Mutex
	left map[int][]int // of each key: the values that were not begun
	busy map[int]bool  // a task of the key runs
	ran  int
}

func newKeyOracle(t *testing.T, r *rand.Rand, n, distinct int) *keyOracle {
	o := &keyOracle{t: t, keys: make([]int, n), left: map[int][]int{}, busy: map[int]bool{}}
	for i := range o.keys {
		k := r.IntN(distinct) * r.IntN(2) // half of them are 0
		o.keys[i], o.left[k] = k, append(o.left[k], i)
	}
	return o
}

func (o *keyOracle) key(i int) int { return o.keys[i] }

func (o *keyOracle) begin(i int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	k := o.keys[i]
	if next := o.left[k][0]; next != i || o.busy[k] {
		o.t.Errorf("value %d of key %d, want %d; busy %v", i, k, next, o.busy[k])
	}
	o.left[k], o.busy[k] = o.left[k][1:], true
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
	for seed := range uint64(rounds(40)) {
		eachKeyed(t, func(t *testing.T, run keyedRun) { keysInOrder(t, run, rand.New(rand.NewPCG(seed, 1))) })
	}
}

func keysInOrder(t *testing.T, run keyedRun, r *rand.Rand) {
	n := 1 + r.IntN(300)
	o := newKeyOracle(t, r, n, 1+r.IntN(1+r.IntN(100)))
	limit, failing, changes := stint.Limit(1+r.IntN(8)), r.IntN(3) == 0, r.IntN(2) == 0
	p := stint.NewPool(limit)
	defer p.Close()
	opts := [][]stint.Option{{limit}, {limit, stint.Queue(r.IntN(20))}, {p}, {stint.Auto(1, 12)}}[r.IntN(4)]
	if strings.Contains(t.Name(), "ParMapKey") { // without KeepGoing
		failing = false
	} else {
		opts = append(opts, stint.KeepGoing())
	}
	var g gauge
	err := run(bg, n, o.key, func(_ context.Context, i int) error {
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
	equal(t, "values handled", o.ran, n)
	equal(t, "failed", err != nil, failing && n > 3)
	equal(t, "too many at once", g.Max() > 12, false)
	for at, e := range members(err) { // in order, with their numbers
		if item, _ := errors.AsType[*stint.ItemError](e); item == nil || item.Index%11 != 3 && item.Index%11 != 5 {
			t.Errorf("error %d is %v", at, e)
		}
	}
}

// However a call is cut short: of each key the values are handled up to some value, in order
// and one at a time, and nothing runs when the call has returned.
func TestKeysCutShort(t *testing.T) {
	for seed := range uint64(rounds(60)) {
		eachKeyed(t, func(t *testing.T, run keyedRun) { keysCutShort(t, run, rand.New(rand.NewPCG(seed, 4))) })
	}
}

func keysCutShort(t *testing.T, run keyedRun, r *rand.Rand) {
	n, at := 200+r.IntN(200), r.IntN(200)
	o := newKeyOracle(t, r, n, 1+r.IntN(30))
	limit := stint.Limit(1 + r.IntN(8))
	ctx, cancel := context.WithCancelCause(bg)
	defer cancel(nil)
	pool := stint.NewPool(limit)
	defer pool.Close()
	pooled, returned := r.IntN(2) == 0, false
	opt := map[bool]stint.Option{false: limit, true: pool}[pooled]
	ways := []struct {
		end  func() error
		want error
	}{
		{func() error { cancel(errGone); return nil }, errGone},
		{func() error { return errBoom }, errBoom},
		{func() error { panic(errBoom) }, nil},
		{func() error { go pool.Shutdown(ended()); return nil }, map[bool]error{true: stint.ErrClosed}[pooled]},
		{func() error { runtime.Goexit(); return nil }, stint.ErrGoexit},
	}
	way := r.IntN(len(ways))
	var err error
	v := recovered(func() {
		err = run(ctx, n, o.key, func(_ context.Context, i int) error {
			o.begin(i)
			defer o.end(i)
			equal(t, "handled after the end", returned, false)
			time.Sleep(time.Duration(i%5) * time.Millisecond)
			limit.Set(1 + i%9)
			if i != at {
				return nil
			}
			return ways[way].end()
		}, opt, stint.Queue(r.IntN(100)))
	})
	returned = true
	equal(t, "error", err, ways[way].want)
	equal(t, "panicked", v != nil, way == 2)
	if way == 3 && !pooled {
		equal(t, "values handled", o.ran, n)
	}
	time.Sleep(time.Second)
}

// rounds returns n, or less with -short or the race detector.
func rounds(n int) int {
	if testing.Short() || race.Enabled {
		return max(1, n/4)
	}
	return n
}

// After an error nothing of its key, and nothing else that is new, starts.
func TestKeysStopAtAnError(t *testing.T) {
	eachKeyed(t, func(t *testing.T, run keyedRun) {
		var started sync.Map
		err := run(bg, 100, func(i int) int { return i % 3 }, func(_ context.Context, i int) error {
			started.Store(i, true)
			time.Sleep(time.Second)
			if i == 4 {
				return errBoom
			}
			return nil
		}, stint.Limit(5))
		equal(t, "error", err, errBoom)
		for i := range 100 { // 6 and 8 may start in the moment in which 4 fails
			if _, ok := started.Load(i); ok != (i < 6) && i != 6 && i != 8 {
				t.Errorf("value %d started: %v", i, ok)
			}
		}
	})
}

// The values that are pulled and not finished are bounded, however many keys there are, and
// a key that is done leaves nothing behind.
func TestKeysAreBounded(t *testing.T) {
	const n = 2_000
	for name, run := range keyedRuns {
		for _, distinct := range []int{1, 7, math.MaxInt} {
			var g gauge
			var pulled, done atomic.Int64
			most := int64(0)
			err := run(bg, n, func(i int) int {
				if int64(i) == pulled.Load() { // and not its result
					most = max(most, pulled.Add(1)-done.Load())
				}
				return i % distinct
			}, func(context.Context, int) error { g.Hold(0); done.Add(1); return nil }, stint.Limit(4), stint.Queue(6))
			equal(t, name+": error", err, nil)
			if most > 11 || g.Max() > 4 || pulled.Load() != n {
				t.Errorf("%s: %d pulled and not finished, want 11; %d at once; %d pulled", name, most, g.Max(), pulled.Load())
			}
		}
	}
}

// Keys that do not equal themselves have a lane for each value.
func TestKeysThatAreNaN(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := stint.EachKey(bg, count(10), func(int) float64 { return math.NaN() }, sleeps(time.Second), stint.Limit(5))
		equal(t, "error", err, nil)
		equal(t, "time", sinceBubble(), 2*time.Second)
	})
}

// A panic of the key function, and of a key that cannot be compared, reach the caller.
func TestKeysPanic(t *testing.T) {
	raises(t, "key", func() { stint.EachKey(bg, count(10), func(int) int { panic("key") }, nothing) })
	v := recovered(func() { stint.EachKey(bg, count(10), func(i int) any { return []int{i} }, nothing) })
	if p, ok := v.(*stint.PanicError); !ok || p.Unwrap() == nil {
		t.Errorf("got %v", v)
	}
	err := stint.EachKey(bg, count(10), func(i int) int { runtime.Goexit(); return 0 }, nothing)
	equal(t, "error", err, stint.ErrGoexit)
}

// A pool that is closed runs what was pulled before, also behind others of their key.
func TestKeysOnAClosedPool(t *testing.T) {
	eachKeyed(t, func(t *testing.T, run keyedRun) {
		p := stint.NewPool(stint.Limit(2))
		var g gauge
		done := begin(func() error {
			return run(bg, 100, func(int) int { return 0 }, holds(&g, time.Second), p, stint.Queue(3))
		})
		time.Sleep(time.Second / 2)
		p.Close()
		equal(t, "error", <-done, stint.ErrClosed)
		if !strings.HasSuffix(t.Name(), "ParMapKey,_Unordered") { // the error is passed on at once, and cancels the others
			equal(t, "fewer ran than were pulled", g.Total() < 5, false)
		}
	})
}
