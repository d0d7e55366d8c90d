package stint_test

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"sync/atomic"

	"github.com/stint-go/stint"
)

// One pool for the whole program; each request is a group on it. However many
// requests there are, eight tasks run at once.
func ExamplePool() {
	pool := stint.NewPool(stint.Limit(8))
	defer pool.Close()

	answer := func(ctx context.Context, words ...string) (int, error) {
		lengths, err := stint.Map(ctx, words, func(_ context.Context, w string) (int, error) {
			return len(w), nil
		}, pool)
		sum := 0
		for _, n := range lengths {
			sum += n
		}
		return sum, err
	}
	fmt.Println(answer(context.Background(), "a", "bb"))
	fmt.Println(answer(context.Background(), "ccc", "dddd", "eeeee"))
	// Output:
	// 3 <nil>
	// 12 <nil>
}

// Tasks that nobody waits for one by one. Close runs what was accepted.
func ExampleNewPool() {
	var sent atomic.Int32
	mailer := stint.NewPool(stint.Limit(2), stint.Queue(100))
	for range 10 {
		if err := mailer.Go(func(context.Context) { sent.Add(1) }); err != nil {
			fmt.Println(err)
		}
	}
	mailer.Close()
	fmt.Println(sent.Load(), "sent")
	// Output: 10 sent
}

func ExamplePool_Go_closed() {
	pool := stint.NewPool()
	pool.Close()
	err := pool.Go(func(context.Context) { fmt.Println("not reached") })
	fmt.Println(errors.Is(err, stint.ErrClosed), err)
	// Output: true stint: closed
}

// Wait until the pool has nothing to do, and keep it open.
func ExamplePool_Idle() {
	pool := stint.NewPool(stint.Limit(2))
	defer pool.Close()
	var done atomic.Int32
	for round := range 2 {
		for range 5 {
			pool.Go(func(context.Context) { done.Add(1) })
		}
		err := pool.Idle(context.Background())
		fmt.Println("round", round, done.Load(), err)
	}
	// Output:
	// round 0 5 <nil>
	// round 1 10 <nil>
}

// Stop with a deadline: the tasks that wait are dropped and counted, the context
// of those that run ends, and Shutdown returns when they have returned.
func ExamplePool_Shutdown() {
	pool := stint.NewPool(stint.Limit(1))
	started := make(chan struct{})
	pool.Go(func(ctx context.Context) {
		close(started)
		<-ctx.Done() // a long task watches its context
		fmt.Println("stopped:", context.Cause(ctx))
	})
	<-started
	for range 3 {
		pool.Go(func(context.Context) { fmt.Println("not reached") })
	}

	// No time at all, here; a server gives some seconds.
	grace, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	dropped, err := pool.Shutdown(grace)
	fmt.Println(dropped, "dropped:", err)
	// Output:
	// stopped: stint: closed
	// 3 dropped: context deadline exceeded
}

func ExamplePool_SetLimit() {
	pool := stint.NewPool(stint.Limit(8))
	defer pool.Close()
	pool.SetLimit(2) // at night
	fmt.Println(pool.Stats().Limit)
	// Output: 2
}

// Without OnPanic this would end the process, as in a goroutine.
func ExampleOnPanic() {
	pool := stint.NewPool(stint.Limit(1), stint.OnPanic(func(p *stint.PanicError) {
		fmt.Println("reported:", p.Value)
	}))
	pool.Go(func(context.Context) { panic("bad input") })
	pool.Go(func(context.Context) { fmt.Println("next task") })
	pool.Close()
	// Output:
	// reported: bad input
	// next task
}

// How many tasks may wait is a decision: a long queue hides an overload.
func ExampleQueue() {
	pool := stint.NewPool(stint.Limit(1), stint.Queue(2))
	started, release := make(chan struct{}), make(chan struct{})
	pool.Go(func(context.Context) { close(started); <-release })
	<-started // one runs

	for i := range 3 {
		fmt.Println(i, pool.TryGo(func(context.Context) {}))
	}
	close(release)
	pool.Close()
	// Output:
	// 0 true
	// 1 true
	// 2 false
}

// A name shows up in Stats, in execution traces, and as a label in profiles.
func ExampleName() {
	pool := stint.NewPool(stint.Name("thumbnails"))
	pool.Go(func(ctx context.Context) {
		label, _ := pprof.Label(ctx, "stint")
		fmt.Println("label:", label)
	})
	pool.Close()
	fmt.Println("stats:", pool.Stats().Name)
	// Output:
	// label: thumbnails
	// stats: thumbnails
}

func ExampleStats() {
	pool := stint.NewPool(stint.Limit(1))
	started, release := make(chan struct{}), make(chan struct{})
	pool.Go(func(context.Context) { close(started); <-release })
	<-started
	pool.Go(func(context.Context) {})

	s := pool.Stats()
	fmt.Printf("limit %d: %d running, %d queued\n", s.Limit, s.Running, s.Queued)

	close(release)
	pool.Close()
	fmt.Println(pool.Stats().Completed, "completed")
	// Output:
	// limit 1: 1 running, 1 queued
	// 2 completed
}
