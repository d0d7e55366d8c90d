package stint_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// The Examples of this file are the jobs of lab/before, which are written with
// other libraries there; docs/coming-from.md shows each beside the other.

// pageSize returns how many bytes a page has, as from a server.
func pageSize(_ context.Context, page string) (int, error) { return len(page), nil }

// Instead of a group, a limit and a slice for the results.
func ExampleMap() {
	pages := []string{"/", "/about", "/news"}
	sizes, err := stint.Map(context.Background(), pages, pageSize, stint.Limit(8))
	fmt.Println(sizes, err)
	// Output: [1 6 5] <nil>
}

// Instead of a pool with results, a context and the first error.
func ExampleNewResults_fromConc() {
	pages := []string{"/", "/about", "/news"}
	r := stint.NewResults[int](context.Background(), stint.Limit(8))
	for _, page := range pages {
		r.Go(func(ctx context.Context) (int, error) {
			return pageSize(ctx, page)
		})
	}
	sizes, err := r.Wait()
	fmt.Println(sizes, err)
	// Output: [1 6 5] <nil>
}

// Instead of a stream of callbacks.
func ExampleMapSeq() {
	lines := strings.Lines("GET /a\nGET /b\nPUT /a\n")
	for n, err := range stint.MapSeq(context.Background(), lines, pageSize, stint.Limit(8)) {
		fmt.Println(n, err)
	}
	// Output:
	// 7 <nil>
	// 7 <nil>
	// 7 <nil>
}

// Instead of a pool that refuses what does not fit, and hands panics over.
func ExampleNewPool_fromAnts() {
	workers := stint.NewPool(stint.Limit(8), stint.Queue(0),
		stint.OnPanic(func(p *stint.PanicError) { log.Print(p) }))
	var sent atomic.Int32
	for _, to := range []string{"ann", "bob", "cem"} {
		started := workers.TryGo(func(context.Context) {
			sent.Add(1) // simulates sending
		})
		if !started {
			fmt.Println(to, "refused") // busy, or closed
		}
	}
	grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := workers.Shutdown(grace)
	fmt.Println(sent.Load(), "sent", err)
	// Output: 3 sent <nil>
}

// Instead of a pool of results and groups on it.
func ExampleNewResults_fromPond() {
	workers := stint.NewPool(stint.Limit(8))
	defer workers.Close()

	answer := func(ctx context.Context, pages ...string) ([]int, error) {
		r := stint.NewResults[int](ctx, workers)
		for _, page := range pages {
			r.Go(func(ctx context.Context) (int, error) {
				return pageSize(ctx, page)
			})
		}
		return r.Wait()
	}
	fmt.Println(answer(context.Background(), "/", "/about"))
	fmt.Println(answer(context.Background(), "/news"))
	// Output:
	// [1 6] <nil>
	// [5] <nil>
}

// Instead of a pool below a pool: a task under the small limit makes a call of
// one item under the large one, and counts under both.
func ExampleLimiter_fromPond() {
	all, mails := stint.Limit(10), stint.Limit(2)
	send := func(ctx context.Context, to string) error {
		return all.Do(ctx, func(context.Context) error {
			fmt.Println("mail to", to, "counts:", mails.Stats().Running, all.Stats().Running)
			return nil
		})
	}
	err := stint.Each(context.Background(), []string{"ann"}, send, mails)
	fmt.Println(err)
	// Output:
	// mail to ann counts: 1 1
	// <nil>
}

// userNames returns the names of users, as from a server that is asked for
// several at once.
func userNames(_ context.Context, ids []int) ([]string, error) {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprint("user ", id))
	}
	return out, nil
}

// Instead of channels between stages.
func Example_fromRill() {
	ids := stream.From([]int{1, 2, 3, 4, 5})
	batches := stream.ParMap(stream.Chunk(ids, 2, 0), userNames, stint.Limit(3))
	names := stream.FlatMap(batches, slices.Values)
	err := stream.Each(context.Background(), names, func(name string) error {
		fmt.Println(name)
		return nil
	})
	fmt.Println(err)
	// Output:
	// user 1
	// user 2
	// user 3
	// user 4
	// user 5
	// <nil>
}

// A task that is dropped does not clean up: the submitter does.
func ExampleGroup_dropped() {
	ctx, cancel := context.WithCancel(context.Background())
	g := stint.NewGroup(ctx, stint.Limit(1))
	var open atomic.Int32 // connections
	var closes []func()
	started := make(chan struct{})
	for range 3 {
		open.Add(1)
		closeIt := sync.OnceFunc(func() { open.Add(-1) })
		closes = append(closes, closeIt)
		g.Go(func(ctx context.Context) error {
			defer closeIt()
			close(started) // the others are dropped
			<-ctx.Done()
			return context.Cause(ctx)
		})
	}
	<-started
	cancel()
	fmt.Println(g.Wait(), "open:", open.Load())
	for _, closeIt := range closes {
		closeIt()
	}
	fmt.Println("open:", open.Load())
	// Output:
	// context canceled open: 2
	// open: 0
}

// With a context of its own, a group under KeepGoing starts every task.
func ExampleKeepGoing_allStart() {
	ctx, cancel := context.WithCancel(context.Background())
	g := stint.NewGroup(context.WithoutCancel(ctx), stint.Limit(1), stint.KeepGoing())
	var open atomic.Int32 // connections
	for range 3 {
		open.Add(1)
		g.Go(func(context.Context) error {
			defer open.Add(-1)
			<-ctx.Done()
			return context.Cause(ctx)
		})
	}
	cancel()
	err := g.Wait()
	fmt.Println(errors.Is(err, context.Canceled), "open:", open.Load())
	// Output: true open: 0
}
