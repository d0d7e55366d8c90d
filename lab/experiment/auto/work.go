package auto

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint/lab/load"
)

// A work makes n tasks, and says afterwards whether each has done its part once.
type work func(n int) (task func(i int), check func() error)

// A law is a distribution, as its quantile function.
type law func(q float64) float64

func alike(float64) float64         { return 1 }
func uniform(q float64) float64     { return q }
func exponential(q float64) float64 { return -math.Log(1 - q) }

// times are n times with a mean in ns: the quantiles of the law in some order. The
// same each time.
func times(l law, n int, mean float64) []time.Duration {
	sum := 0.0
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = l((float64(i) + 0.5) / float64(n))
		sum += weights[i]
	}
	out := make([]time.Duration, n)
	for i, k := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		out[i] = time.Duration(weights[k] / sum * float64(n) * mean)
	}
	return out
}

// shuffled puts times into another order.
func shuffled(times []time.Duration) []time.Duration {
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(times), func(i, k int) { times[i], times[k] = times[k], times[i] })
	return times
}

// spinning is tasks that compute.
func spinning(l law, mean float64) work {
	return func(n int) (func(int), func() error) {
		s := newSums(times(l, n, mean))
		return s.add, s.check
	}
}

// sums are what tasks compute, each for its time.
type sums struct {
	steps []int
	out   []uint64
}

func newSums(times []time.Duration) *sums {
	s := &sums{out: make([]uint64, len(times))}
	for _, d := range times {
		s.steps = append(s.steps, load.Steps(d))
	}
	return s
}

// known are the results of so many steps: to compute them takes as long as the
// sample did.
var known sync.Map

func (s *sums) add(i int) { s.out[i] += load.Spin(s.steps[i]) }

func (s *sums) check() error {
	for i, got := range s.out {
		want, ok := known.Load(s.steps[i])
		if !ok {
			want = load.Spin(s.steps[i])
			known.Store(s.steps[i], want)
		}
		if got != want {
			return fmt.Errorf("task %d has computed %d, want %d", i, got, want)
		}
	}
	return nil
}

// A count is how many tasks have ended.
type count struct {
	n     int
	ended atomic.Int64
}

func (c *count) check() error {
	if ended := c.ended.Load(); ended != int64(c.n) {
		return fmt.Errorf("%d tasks ended, want %d", ended, c.n)
	}
	return nil
}

// sleeping is tasks that do nothing else.
func sleeping(l law, mean float64) work {
	return func(n int) (func(int), func() error) {
		naps, c := times(l, n, mean), &count{n: n}
		return func(i int) {
			time.Sleep(naps[i])
			c.ended.Add(1)
		}, c.check
	}
}

// slots is tasks for a server that serves k at once, first come, first served.
func slots(k int, mean float64) work {
	return func(n int) (func(int), func() error) {
		nap, free, c := time.Duration(mean), make(chan struct{}, k), &count{n: n}
		return func(int) {
			free <- struct{}{}
			time.Sleep(nap)
			<-free
			c.ended.Add(1)
		}, c.check
	}
}

// mixed is tasks that compute and then wait, for times of their own.
func mixed(compute, wait float64) work {
	return func(n int) (func(int), func() error) {
		s, naps := newSums(times(exponential, n, compute)), shuffled(times(exponential, n, wait))
		return func(i int) {
			s.add(i)
			time.Sleep(naps[i])
		}, s.check
	}
}

// locked is tasks that compute, half of it inside one lock.
func locked(half float64) work {
	return func(n int) (func(int), func() error) {
		steps, c := load.Steps(time.Duration(half)), &count{n: n}
		want := load.Spin(steps)
		var mu sync.Mutex
		return func(int) {
			first := load.Spin(steps)
			mu.Lock()
			second := load.Spin(steps)
			mu.Unlock()
			if first == want && second == want {
				c.ended.Add(1)
			}
		}, c.check
	}
}
