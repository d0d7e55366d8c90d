package loops

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/errgroup"
)

// errEnough ends a loop.
var errEnough = errors.New("enough")

// A fallible loop ends at the first error of an item, or when ctx ends.
type fallible func(ctx context.Context, n int, item func(i int) error) error

// ended loops over n items of 100 ns end early. Their time is how long they continue.
func ended(n int, byError bool) func() []experiment.Model {
	model := func(m result.Model, run fallible) experiment.Model {
		return experiment.Model{Model: m, Run: func(m *measure.Meter) error {
			m.Start()
			var sum time.Duration
			for range m.N {
				late, err := lateness(run, n, byError)
				if err != nil {
					return err
				}
				sum += late
			}
			m.Stop()
			m.Report(measure.Time, float64(sum.Nanoseconds())/float64(m.N))
			return nil
		}}
	}
	return func() []experiment.Model {
		return []experiment.Model{
			model(result.Peer.Model("ctx-errgroup", "errgroup.WithContext, SetLimit(GOMAXPROCS), the context asked before each item"), endErrgroup),
			model(engine.Range().Model, func(ctx context.Context, n int, item func(int) error) error {
				return stint.Range(ctx, n, func(_ context.Context, i int) error { return item(i) })
			}),
		}
	}
}

// lateness makes item n/8 fail or end the context, and returns how long the loop continues
// after it. x/sync/errgroup returns no error at the end of the context.
func lateness(run fallible, n int, byError bool) (time.Duration, error) {
	steps := load.Steps(100 * time.Nanosecond)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var at time.Time // written by one item, read when all have finished
	err := run(ctx, n, func(i int) error {
		runtime.KeepAlive(load.Spin(steps))
		if i != n/8 {
			return nil
		}
		at = time.Now()
		if byError {
			return errEnough
		}
		cancel()
		return nil
	})
	late := time.Since(at)
	if at.IsZero() || byError != errors.Is(err, errEnough) {
		return 0, fmt.Errorf("the loop returned %v", err)
	}
	return late, nil
}

func endErrgroup(ctx context.Context, n int, item func(int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := 0; i < n && ctx.Err() == nil; i++ {
		g.Go(func() error { return item(i) })
	}
	return g.Wait()
}
