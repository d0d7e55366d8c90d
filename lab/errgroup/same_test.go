// Package errgroup compares package errgroup of stint with the original.
package errgroup

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/errgroup"
	original "golang.org/x/sync/errgroup"
)

// Random programs behave the same on both packages, to the moment of virtual time: the results of TryGo, when Go returns
// and each task starts, Wait and the context, and what SetLimit accepts.
func TestErrgroupsDoTheSame(t *testing.T) {
	for seed := range uint64(300) {
		ours, theirs := play(t, seed, withStint), play(t, seed, withOriginal)
		if !slices.Equal(ours, theirs) || len(ours) < 10 {
			t.Fatalf("seed %d:\nours %q\nthe original %q", seed, ours, theirs)
		}
	}
}

// A group is what both groups have.
type group interface {
	Go(func() error)
	TryGo(func() error) bool
	SetLimit(int)
	Wait() error
}

func withStint() (group, group, context.Context) {
	g, ctx := errgroup.WithContext(context.Background())
	return new(errgroup.Group), g, ctx
}

func withOriginal() (group, group, context.Context) {
	g, ctx := original.WithContext(context.Background())
	return new(original.Group), g, ctx
}

// play runs a random program on a group, and returns the events, sorted by time and then by text.
func play(t *testing.T, seed uint64, open func() (zero, with group, ctx context.Context)) []string {
	var j journal
	synctest.Test(t, func(t *testing.T) {
		j.began = time.Now()
		random := rand.New(rand.NewPCG(seed, 8))
		zero, g, ctx := open()
		if random.IntN(2) == 0 {
			g = zero
		}
		limited := false
		for step := range 40 {
			switch random.IntN(12) {
			case 0, 1: // SetLimit after Wait, without active tasks
				j.note("Wait: %v, the context: %v, %v", g.Wait(), ctx.Err(), context.Cause(ctx))
				if limit := random.IntN(9) - 3; limit != 0 {
					limited = limit > 0
					g.SetLimit(max(-1, limit))
				}
			case 2:
				if limited { // while tasks are active the original panics under a limit only
					g.Go(j.task(random, step))
					j.note("SetLimit panicked: %v", panics(func() { g.SetLimit(3) }))
				}
			case 3:
				time.Sleep(odd(random))
			case 4, 5, 6:
				j.note("TryGo: %v", g.TryGo(j.task(random, step)))
			default:
				g.Go(j.task(random, step))
				j.note("Go returned")
			}
		}
		j.note("Wait: %v", g.Wait())
	})
	slices.Sort(j.lines)
	return j.lines
}

// odd returns a duration that no sum of others is likely to equal, so that no two unrelated events are at the same moment.
func odd(random *rand.Rand) time.Duration {
	return time.Duration(1 + random.Int64N(int64(time.Second)))
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// A journal records events with their times.
type journal struct {
	began time.Time
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf("%15d ", time.Since(j.began))+fmt.Sprintf(format, args...))
}

// task returns a task that sleeps and may fail.
func (j *journal) task(random *rand.Rand, number int) func() error {
	var err error
	if random.IntN(4) == 0 {
		err = fmt.Errorf("task %d", number)
	}
	d := odd(random)
	return func() error {
		j.note("task %d begins", number)
		time.Sleep(d)
		return err
	}
}
