package errgroup

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/errgroup"
	upstream "golang.org/x/sync/errgroup"
)

// Random programs behave the same on both packages, to the moment of virtual
// time: the results of TryGo, when Go returns and each task starts, Wait and
// the context, and what SetLimit accepts.
func TestBothDoTheSame(t *testing.T) {
	for seed := range uint64(300) {
		var logs [2][]string
		for i, open := range opens {
			synctest.Test(t, func(t *testing.T) { logs[i] = play(seed, open) })
		}
		if !slices.Equal(logs[0], logs[1]) {
			t.Fatalf("seed %d:\n%s %q\n%s %q", seed, stintName, logs[0], upstreamName, logs[1])
		}
		if len(logs[0]) < 10 {
			t.Errorf("seed %d: only %d lines", seed, len(logs[0]))
		}
	}
}

// both is the common interface of the groups.
type both interface {
	Go(func() error)
	TryGo(func() error) bool
	SetLimit(int)
	Wait() error
}

// opens create a group with a context, or as a zero value.
var opens = []func(ctx context.Context) (both, context.Context){
	func(ctx context.Context) (both, context.Context) {
		if ctx == nil {
			return new(errgroup.Group), nil
		}
		return errgroup.WithContext(ctx)
	},
	func(ctx context.Context) (both, context.Context) {
		if ctx == nil {
			return new(upstream.Group), nil
		}
		return upstream.WithContext(ctx)
	},
}

// play runs a random program on a group, and returns the events, sorted by time
// and then by text.
func play(seed uint64, open func(context.Context) (both, context.Context)) []string {
	random := rand.New(rand.NewPCG(seed, 8))
	j := &journal{began: time.Now()}
	var parent context.Context
	if random.IntN(2) == 0 {
		parent = context.Background()
	}
	g, ctx := open(parent)
	limited := false
	for step := range 40 {
		switch random.IntN(12) {
		case 0:
			j.note("Wait: %v", g.Wait())
			if ctx != nil {
				j.note("the context: %v, %v", ctx.Err(), context.Cause(ctx))
			}
		case 1: // after Wait, without active tasks
			j.note("Wait: %v", g.Wait())
			limit := random.IntN(6) - 1
			if limit == 0 {
				limit = 9
			}
			limited = limit > 0
			g.SetLimit(limit)
		case 2:
			if !limited { // while tasks are active the original panics under a limit only
				continue
			}
			g.Go(j.task(random, step))
			j.note("SetLimit panicked: %v", panics(func() { g.SetLimit(3) }))
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
	return j.sorted()
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

// odd returns a duration that no sum of others is likely to equal, so that no
// two unrelated events happen at the same moment.
func odd(random *rand.Rand) time.Duration {
	return time.Duration(1 + random.Int64N(int64(time.Second)))
}

// panics reports whether f panics.
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

func (j *journal) sorted() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	slices.Sort(j.lines)
	return j.lines
}

// Rules of both packages that a random program does not reach.
func TestBothKeepTheFirstError(t *testing.T) {
	for _, open := range opens {
		g, _ := open(nil)
		one, two := errors.New("one"), errors.New("two")
		for _, err := range []error{nil, one, nil, two} {
			g.Go(func() error { return err })
			g.Wait()
		}
		if err := g.Wait(); err != one {
			t.Errorf("%T: Wait returned %v", g, err)
		}
	}
}
