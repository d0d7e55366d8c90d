package stint_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

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
		started := g.Go(func(ctx context.Context) error {
			return upload(ctx, part)
		})
		if !started {
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

// Give up waiting for room when the one who asked has gone away. The group and
// its tasks go on.
func ExampleGroup_GoContext() {
	g := stint.NewGroup(context.Background(), stint.Limit(1), stint.Queue(0))
	client, hangUp := context.WithCancelCause(context.Background())
	release := make(chan struct{})
	g.Go(func(context.Context) error {
		hangUp(errors.New("client hung up"))
		<-release
		return nil
	})

	err := g.GoContext(client, func(context.Context) error {
		fmt.Println("not reached")
		return nil
	})
	fmt.Println(err)

	close(release)
	fmt.Println(g.Wait())
	// Output:
	// client hung up
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

// Ask three mirrors; those that fail leave the others alone.
func ExampleNewResults() {
	r := stint.NewResults[int](context.Background(), stint.KeepGoing())
	for _, mirror := range []string{"north", "", "south"} {
		r.Go(func(context.Context) (int, error) {
			if mirror == "" {
				return 0, errors.New("no name")
			}
			return len(mirror), nil
		})
	}
	lengths, err := r.Wait()
	fmt.Println(lengths, err)
	// Output: [5 0 5] item 1: no name
}

// A task that calls runtime.Goexit, as t.FailNow does, is an error and not a
// success.
func ExampleGroup_goexit() {
	g := stint.NewGroup(context.Background())
	g.Go(func(context.Context) error {
		runtime.Goexit()
		return nil
	})
	fmt.Println(errors.Is(g.Wait(), stint.ErrGoexit))
	// Output: true
}
