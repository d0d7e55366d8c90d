package loops

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/sourcegraph/conc/pool"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/errgroup"
)

// errEnough ends a loop.
var errEnough = errors.New("enough")

// A fallible is a loop that ends early: at the first error of a call, or when
// ctx ends.
type fallible func(ctx context.Context, n int, f func(ctx context.Context, i int) error) error

// ending measures how long loops of a million items of 100 ns continue after an
// error or the end of the context.
func (z sizes) ending(yield func(experiment.Study) bool) {
	loops := []struct {
		model result.Model
		run   fallible
	}{
		{result.Peer.Model("ctx-errgroup", "errgroup.WithContext, SetLimit(GOMAXPROCS), the context asked before each item"), endErrgroup},
		{result.Peer.Model("ctx-conc", "pool.New().WithMaxGoroutines(GOMAXPROCS).WithContext, cancelled by the first error, the context asked before each item"), endConc},
		{result.Ours.Model("stint.Range", "Range, with a Limit where there is one"), endRange},
	}
	for _, event := range []struct {
		name string
		end  func(fallible, int) (time.Duration, error)
	}{{"error", endByError}, {"cancel", endByContext}} {
		c := experiment.Case{
			Name: "loop=ended/event=" + event.name, Doc: fmt.Sprintf("the time is from the event to the return of a loop over %d items of 100 ns", z.n(1e6)),
			Reference: "ctx-errgroup", Ops: z.waits,
		}
		for _, l := range loops {
			c.Models = append(c.Models, experiment.Model{Model: l.model, Run: func(m *measure.Meter) error {
				m.Start()
				sum := time.Duration(0)
				for range m.N {
					late, err := event.end(l.run, z.n(1e6))
					if err != nil {
						return err
					}
					sum += late
				}
				m.Stop()
				m.Report(measure.Time, float64(sum.Nanoseconds())/float64(m.N))
				return nil
			}})
		}
		claim := result.Claim{Case: c.Name, Model: "stint.Range", Unit: measure.Time, Form: result.Value, Bar: 100_000}
		if !yield(experiment.One(c, claim)) {
			return
		}
	}
}

// endByError makes item 10 fail and returns how long the loop continues.
func endByError(run fallible, n int) (time.Duration, error) {
	size := load.Steps(100 * time.Nanosecond)
	var at time.Time // written by one item, read when all have finished
	err := run(context.Background(), n, func(_ context.Context, i int) error {
		runtime.KeepAlive(load.Spin(size))
		if i == min(10, n-1) {
			at = time.Now()
			return errEnough
		}
		return nil
	})
	late := time.Since(at)
	if !errors.Is(err, errEnough) {
		return 0, fmt.Errorf("the loop returned %v, want %v", err, errEnough)
	}
	return late, nil
}

// endByContext cancels the context in an item and returns how long the loop
// continues. Some libraries return no error then.
func endByContext(run fallible, n int) (time.Duration, error) {
	size := load.Steps(100 * time.Nanosecond)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var at time.Time // written by one item, read when all have finished
	err := run(ctx, n, func(_ context.Context, i int) error {
		runtime.KeepAlive(load.Spin(size))
		if i == n/8 {
			at = time.Now()
			cancel()
		}
		return nil
	})
	late := time.Since(at)
	if !errors.Is(err, context.Canceled) && err != nil {
		return 0, fmt.Errorf("the loop returned %v, want %v", err, context.Canceled)
	}
	return late, nil
}

func endErrgroup(ctx context.Context, n int, f func(context.Context, int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := 0; i < n && ctx.Err() == nil; i++ {
		g.Go(func() error { return f(ctx, i) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

func endConc(ctx context.Context, n int, f func(context.Context, int) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := pool.New().WithMaxGoroutines(runtime.GOMAXPROCS(0)).WithContext(ctx).WithFirstError()
	for i := 0; i < n && ctx.Err() == nil; i++ {
		p.Go(func(ctx context.Context) error {
			err := f(ctx, i)
			if err != nil {
				cancel() // WithCancelOnError does not notify the submitter
			}
			return err
		})
	}
	if err := p.Wait(); err != nil {
		return err
	}
	return ctx.Err()
}

func endRange(ctx context.Context, n int, f func(context.Context, int) error) error {
	return stint.Range(ctx, n, f)
}
