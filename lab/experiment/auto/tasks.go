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

// A tasks function makes n tasks. check reports afterwards whether each ran
// once.
type tasks func(n int) (task func(i int), check func() error)

// A distribution is given by its quantile function.
type distribution func(q float64) float64

func alike(float64) float64         { return 1 }
func uniform(q float64) float64     { return q }
func exponential(q float64) float64 { return -math.Log(1 - q) }

// times returns n times with the given mean in ns: the quantiles of the
// distribution in random but fixed order.
func times(l distribution, n int, mean float64) []time.Duration {
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

// shuffled changes the order of times.
func shuffled(times []time.Duration) []time.Duration {
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(times), func(i, k int) { times[i], times[k] = times[k], times[i] })
	return times
}

// spinning tasks compute.
func spinning(l distribution, mean float64) tasks {
	return func(n int) (func(int), func() error) {
		s := newSums(times(l, n, mean))
		return s.add, s.check
	}
}

// sums holds the results of tasks that compute, each for its own time.
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

// known caches results by number of steps: computing them takes as long as the
// sample.
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
			return fmt.Errorf("task %d computed %d, want %d", i, got, want)
		}
	}
	return nil
}

// A count is the number of finished tasks.
type count struct {
	n     int
	ended atomic.Int64
}

func (c *count) check() error {
	if ended := c.ended.Load(); ended != int64(c.n) {
		return fmt.Errorf("%d tasks finished, want %d", ended, c.n)
	}
	return nil
}

// sleeping tasks only sleep.
func sleeping(l distribution, mean float64) tasks {
	return func(n int) (func(int), func() error) {
		sleeps, c := times(l, n, mean), &count{n: n}
		return func(i int) {
			time.Sleep(sleeps[i])
			c.ended.Add(1)
		}, c.check
	}
}

// slots returns tasks for a server that serves k at a time, first come, first
// served.
func slots(k int, mean float64) tasks {
	return func(n int) (func(int), func() error) {
		sleep, free, c := time.Duration(mean), make(chan struct{}, k), &count{n: n}
		return func(int) {
			free <- struct{}{}
			time.Sleep(sleep)
			<-free
			c.ended.Add(1)
		}, c.check
	}
}

// mixed tasks compute and then wait, for independent times.
func mixed(compute, wait float64) tasks {
	return func(n int) (func(int), func() error) {
		s, sleeps := newSums(times(exponential, n, compute)), shuffled(times(exponential, n, wait))
		return func(i int) {
			s.add(i)
			time.Sleep(sleeps[i])
		}, s.check
	}
}

// locked tasks compute, half of the time under one lock.
func locked(half float64) tasks {
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
