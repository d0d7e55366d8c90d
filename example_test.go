package stint_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing/fstest"

	"github.com/stint-go/stint"
)

// Read files, at most eight at once.
func Example() {
	names := []string{"LICENSE", "go.mod", "map.go"}
	texts, err := stint.Map(context.Background(), names, func(_ context.Context, name string) ([]byte, error) {
		return os.ReadFile(name)
	}, stint.Limit(8))
	fmt.Println(len(texts), err)
	// Output: 3 <nil>
}

func ExampleEach() {
	hosts := []string{"alpha", "beta", "gamma", "delta"}
	ping := func(_ context.Context, host string) error {
		if host == "gamma" {
			return fmt.Errorf("%s: no answer", host)
		}
		return nil
	}

	// At most two at once. The first error cancels the rest and is returned.
	err := stint.Each(context.Background(), hosts, ping, stint.Limit(2))
	fmt.Println(err)
	// Output: gamma: no answer
}

// What a task is given ends when another fails, and says why.
func ExampleEach_cancel() {
	offline := errors.New("the network is down")
	started := make(chan struct{})
	err := stint.Each(context.Background(), []string{"upload", "probe"}, func(ctx context.Context, job string) error {
		if job == "probe" {
			<-started
			return offline
		}
		close(started)
		<-ctx.Done() // pass ctx on, and what you call stops too
		fmt.Println(job, "stops:", context.Cause(ctx))
		return ctx.Err()
	}, stint.Limit(2))
	fmt.Println("returned:", err)
	// Output:
	// upload stops: the network is down
	// returned: the network is down
}

// The caller's own deadline or cancellation is returned as it is.
func ExampleEach_parent() {
	ctx, cancel := context.WithCancelCause(context.Background())
	err := stint.Each(ctx, []int{1, 2, 3, 4}, func(_ context.Context, n int) error {
		if n == 2 {
			cancel(errors.New("user pressed Ctrl-C"))
		}
		return nil
	}, stint.Limit(1))
	fmt.Println(err)
	// Output: user pressed Ctrl-C
}

func ExampleMap() {
	disk := fstest.MapFS{
		"a.txt": {Data: []byte("one")},
		"b.txt": {Data: []byte("three")},
		"c.txt": {Data: []byte("eleven")},
	}
	names := []string{"c.txt", "a.txt", "b.txt"}

	// One result for each name, in the order of the names.
	sizes, err := stint.Map(context.Background(), names, func(_ context.Context, name string) (int64, error) {
		info, err := fs.Stat(disk, name)
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}, stint.Limit(2))
	fmt.Println(sizes, err)
	// Output: [6 3 5] <nil>
}

// After an error the slice still has a place for every item.
func ExampleMap_error() {
	halves, err := stint.Map(context.Background(), []int{2, 4, 5}, func(_ context.Context, n int) (int, error) {
		if n%2 != 0 {
			return 0, fmt.Errorf("%d is odd", n)
		}
		return n / 2, nil
	}, stint.Limit(1))
	fmt.Println(halves, err)
	// Output: [1 2 0] 5 is odd
}

func ExampleRange() {
	a, b := []int{1, 2, 3, 4}, []int{10, 20, 30, 40}
	sum := make([]int, len(a))
	err := stint.Range(context.Background(), len(a), func(_ context.Context, i int) error {
		sum[i] = a[i] + b[i] // each index has one writer: no lock
		return nil
	})
	fmt.Println(sum, err)
	// Output: [11 22 33 44] <nil>
}

func ExampleKeepGoing() {
	check := func(_ context.Context, port int) error {
		if port < 1024 {
			return fmt.Errorf("port %d needs privileges", port)
		}
		return nil
	}

	// Every port is tried. The errors come in the order of the ports.
	err := stint.Each(context.Background(), []int{8080, 80, 443, 9000}, check, stint.KeepGoing())
	fmt.Println(err)
	// Output:
	// item 1: port 80 needs privileges
	// item 2: port 443 needs privileges
}

// Find out which items failed, to try those again.
func ExampleItemError() {
	busy := errors.New("busy")
	shards := []string{"eu", "us", "asia"}
	err := stint.Each(context.Background(), shards, func(_ context.Context, shard string) error {
		if shard != "us" {
			return busy
		}
		return nil
	}, stint.KeepGoing())

	fmt.Println("any busy:", errors.Is(err, busy))
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range all.Unwrap() {
			if item, ok := errors.AsType[*stint.ItemError](err); ok {
				fmt.Println("again:", shards[item.Index], item.Err)
			}
		}
	}
	// Output:
	// any busy: true
	// again: eu busy
	// again: asia busy
}

// A panic of a task ends the call that waits for it. Code that must outlive a
// faulty task recovers there, where the panic would be in a sequential program.
func ExamplePanicError() {
	defer func() {
		if p, ok := recover().(*stint.PanicError); ok {
			fmt.Println("value:", p.Value)
			fmt.Println("has the task's stack:", bytes.Contains(p.Stack, []byte("ExamplePanicError")))
		}
	}()
	days := []string{"Mon", "Tue"}
	stint.Range(context.Background(), 3, func(_ context.Context, i int) error {
		_ = days[i]
		return nil
	})
	// Output:
	// value: runtime error: index out of range [2] with length 2
	// has the task's stack: true
}

// Options given twice: the later one counts. So a function can have defaults
// that its caller overrides.
func ExampleOption() {
	upper := func(words []string, opts ...stint.Option) ([]string, error) {
		opts = append([]stint.Option{stint.Limit(4), stint.Name("upper")}, opts...)
		return stint.Map(context.Background(), words, func(_ context.Context, w string) (string, error) {
			return strings.ToUpper(w), nil
		}, opts...)
	}

	fmt.Println(upper([]string{"a", "b"}))
	fmt.Println(upper([]string{"c", "d"}, stint.Limit(1)))
	// Output:
	// [A B] <nil>
	// [C D] <nil>
}

func ExampleLimit() {
	running := make(chan struct{}, 2) // full when two tasks run
	err := stint.Range(context.Background(), 100, func(context.Context, int) error {
		select {
		case running <- struct{}{}:
			<-running
			return nil
		default:
			return errors.New("more than two at once")
		}
	}, stint.Limit(2))
	fmt.Println(err)
	// Output: <nil>
}

// A limit is a value. The calls, groups and pools that it is given to share it.
func ExampleLimiter() {
	connections := stint.Limit(3)
	open := make(chan struct{}, 3)
	query := func(_ context.Context, id int) (string, error) {
		select {
		case open <- struct{}{}:
			<-open
			return fmt.Sprint("row ", id), nil
		default:
			return "", errors.New("more than three connections")
		}
	}

	both := stint.NewResults[[]string](context.Background())
	for _, ids := range [][]int{{1, 2, 3}, {10, 20, 30, 40}} {
		both.Go(func(ctx context.Context) ([]string, error) {
			return stint.Map(ctx, ids, query, connections)
		})
	}
	fmt.Println(both.Wait())
	// Output: [[row 1 row 2 row 3] [row 10 row 20 row 30 row 40]] <nil>
}

// A task may call and wait on the limiter that it runs on, at any depth, if it
// passes its context on: the tasks it waits for run in its place.
func ExampleLimiter_nested() {
	below := map[string][]string{
		"/":    {"/etc", "/usr"},
		"/usr": {"/usr/bin", "/usr/lib"},
	}
	one := stint.Limit(1)

	var count func(ctx context.Context, dir string) (int, error)
	count = func(ctx context.Context, dir string) (int, error) {
		counts, err := stint.Map(ctx, below[dir], count, one) // ctx is that of the task
		n := 1
		for _, c := range counts {
			n += c
		}
		return n, err
	}
	fmt.Println(count(context.Background(), "/"))
	// Output: 5 <nil>
}

// A limit may be changed while tasks run and wait.
func ExampleLimiter_Set() {
	limit := stint.Limit(1)
	g := stint.NewGroup(context.Background(), limit)
	hello := make(chan string)
	g.Go(func(context.Context) error { hello <- "hello"; return nil })
	g.Go(func(context.Context) error { fmt.Println(<-hello); return nil }) // one alone waits for the other

	limit.Set(2)
	fmt.Println(g.Wait(), limit.Current())
	// Output:
	// hello
	// <nil> 2
}

func ExampleLimiterStats() {
	limit := stint.Limit(1)
	started, release := make(chan struct{}), make(chan struct{})
	first := stint.NewGroup(context.Background(), limit)
	first.Go(func(context.Context) error {
		close(started)
		<-release
		return nil
	})
	<-started
	second := stint.NewGroup(context.Background(), limit)
	second.Go(func(context.Context) error { return nil }) // has to wait

	s := limit.Stats()
	fmt.Printf("%d of %d run, %d in line\n", s.Running, s.Limit, s.Waiting)

	close(release)
	fmt.Println(first.Wait(), second.Wait())
	// Output:
	// 1 of 1 run, 1 in line
	// <nil> <nil>
}
