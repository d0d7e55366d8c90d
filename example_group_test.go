package stint_test

import (
	"context"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint"
)

// Two different tasks, side by side.
func ExampleNewGroup() {
	var user, balance string
	g := stint.NewGroup(context.Background(), stint.Limit(2))
	g.Go(func(context.Context) error {
		user = "Ada" // from one service
		return nil
	})
	g.Go(func(context.Context) error {
		balance = "12.50" // from another
		return nil
	})
	if err := g.Wait(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(user, balance)
	// Output: Ada 12.50
}

// Each export may use two of the workers that all share.
func ExampleNewGroup_limitOnAPool() {
	pool := stint.NewPool(stint.Limit(8))
	defer pool.Close()
	export := func(ctx context.Context, parts int) error {
		g := stint.NewGroup(ctx, pool, stint.Limit(2))
		for range parts {
			g.Go(func(context.Context) error { return nil }) // writes a part
		}
		return g.Wait()
	}
	fmt.Println(export(context.Background(), 100))
	// Output: <nil>
}

// Go returns false once a task has failed, so that the loop which starts tasks
// can end by itself.
func ExampleGroup() {
	upload := func(_ context.Context, part int) error {
		if part == 3 {
			return fmt.Errorf("part %d: disk full", part)
		}
		return nil
	}

	g := stint.NewGroup(context.Background(), stint.Limit(4))
	for part := range 1_000_000 {
		accepted := g.Go(func(ctx context.Context) error {
			return upload(ctx, part)
		})
		if !accepted {
			break
		}
	}
	fmt.Println(g.Wait())
	// Output: part 3: disk full
}

// Shed load: take a task only if it can start now.
func ExampleGroup_TryGo() {
	g := stint.NewGroup(context.Background(), stint.Limit(2), stint.Queue(0))
	release := make(chan struct{})
	for request := range 4 {
		if !g.TryGo(func(context.Context) error { <-release; return nil }) {
			fmt.Println("request", request, "refused: busy")
		}
	}
	close(release)
	fmt.Println(g.Wait())
	// Output:
	// request 2 refused: busy
	// request 3 refused: busy
	// <nil>
}

// Tasks that start tasks of the same group: GoContext with the task's context,
// so that a full queue does not stop them all.
func ExampleGroup_crawl() {
	links := map[string][]string{
		"/":     {"/a", "/b"},
		"/a":    {"/b", "/c"},
		"/b":    {"/"},
		"/c":    {"/c/1", "/c/2"},
		"/c/1":  nil,
		"/c/2":  nil,
		"/gone": nil,
	}
	g := stint.NewGroup(context.Background(), stint.Limit(2), stint.Queue(1))
	var mu sync.Mutex
	var seen []string
	var visit func(ctx context.Context, page string) error
	visit = func(ctx context.Context, page string) error {
		mu.Lock()
		known := slices.Contains(seen, page)
		if !known {
			seen = append(seen, page)
		}
		mu.Unlock()
		if known {
			return nil
		}
		for _, next := range links[page] {
			err := g.GoContext(ctx, func(ctx context.Context) error { return visit(ctx, next) })
			if err != nil {
				return err
			}
		}
		return nil
	}

	g.Go(func(ctx context.Context) error { return visit(ctx, "/") })
	err := g.Wait()
	slices.Sort(seen)
	fmt.Println(strings.Join(seen, " "), err)
	// Output: / /a /b /c /c/1 /c/2 <nil>
}

// The values come in the order in which the tasks were started.
func ExampleResults() {
	r := stint.NewResults[string](context.Background(), stint.Limit(2))
	last := make(chan struct{})
	r.Go(func(context.Context) (string, error) { <-last; return "first", nil })
	r.Go(func(context.Context) (string, error) { close(last); return "second", nil })
	fmt.Println(r.Wait())
	// Output: [first second] <nil>
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

// A request does not wait behind background work that shares its limit.
func ExampleLowPriority() {
	ctx, one := context.Background(), stint.Limit(1)
	started, request := make(chan struct{}), make(chan struct{})

	background := stint.NewGroup(ctx, one, stint.LowPriority())
	background.Go(func(context.Context) error {
		close(started)
		<-request
		fmt.Println("background 1")
		return nil
	})
	background.Go(func(context.Context) error { fmt.Println("background 2"); return nil })
	<-started

	urgent := stint.NewGroup(ctx, one)
	urgent.Go(func(context.Context) error { fmt.Println("request"); return nil })
	close(request)
	fmt.Println(urgent.Wait(), background.Wait())
	// Output:
	// background 1
	// request
	// background 2
	// <nil> <nil>
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
