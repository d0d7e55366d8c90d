package tests

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/stint-go/stint/cluster"
)

// An item is an item of the tasks of the tests.
type item struct {
	N    int
	Do   string        // what the function does; "" only the arithmetic
	For  time.Duration // and how long it takes
	Gate string        // and at which gate it waits
	Size int           // of a big result
	Text string
}

// An outcome is the result of an item.
type outcome struct {
	N       int
	Worker  string
	Attempt int
	Text    string
}

// work is the function behind all tasks of the tests.
type work = cluster.Task[item, outcome]

var (
	errKnown   = errors.New("known to both sides")
	errUnknown = errors.New("known to one side only")
)

// newTask returns the task "work/v1", which notes in j what it does.
func newTask(j journal, opts ...cluster.TaskOption) *work {
	return named("work/v1", j, opts...)
}

// named returns a task with another name.
func named(name string, j journal, opts ...cluster.TaskOption) *work {
	opts = append([]cluster.TaskOption{cluster.Lease(lease), cluster.Sentinels(errKnown)}, opts...)
	return cluster.NewTask(name, func(ctx context.Context, in item) (outcome, error) {
		info := cluster.TaskInfo(ctx)
		j.noteTask(info, "begin", "")
		defer func() { j.noteTask(info, "end", causeOf(ctx)) }()
		out := outcome{N: answer(in.N), Worker: j.Worker, Attempt: info.Attempt}
		return out, act(ctx, j, in, &out)
	}, opts...)
}

// lease is the default lease of the tests: long enough that none is lost on a busy machine.
const lease = 2 * time.Second

// short is the lease of the tests that wait for its end.
const short = 400 * time.Millisecond

// tick is how long a task takes, in tests where it takes some time.
const tick = 10 * time.Millisecond

// answer is the right result for an item.
func answer(n int) int { return 3*n + 1 }

// causeOf says what ended a context.
func causeOf(ctx context.Context) string {
	if err := context.Cause(ctx); err != nil {
		return err.Error()
	}
	return ""
}

// act does what an item asks for.
func act(ctx context.Context, j journal, in item, out *outcome) error {
	attempt := cluster.TaskInfo(ctx).Attempt
	switch in.Do {
	case "":
		time.Sleep(in.For)
	case "wait": // until the gate opens or ctx ends
		if !j.opened(in.Gate, ctx.Done()) {
			return context.Cause(ctx)
		}
	case "wait at first":
		if attempt == 1 {
			<-ctx.Done()
			return context.Cause(ctx)
		}
	case "go on at first": // when ctx has ended
		if attempt == 1 {
			<-ctx.Done()
		}
	case "ignore at first": // that ctx ends
		if attempt == 1 {
			j.opened(in.Gate, nil)
		}
	case "exit":
		time.Sleep(in.For)
		os.Exit(3)
	case "panic":
		panic(fmt.Sprintf("boom %d", in.N))
	case "goexit":
		runtime.Goexit()
	case "fail":
		if in.Gate != "" {
			j.opened(in.Gate, ctx.Done())
		}
		return fmt.Errorf("item %d failed: %w", in.N, errUnknown)
	case "fail as known":
		return fmt.Errorf("item %d failed: %w", in.N, errKnown)
	case "fail twice":
		if attempt < 3 {
			return errUnknown
		}
	case "echo":
		out.Text = in.Text
	case "big":
		if in.Gate != "" && !j.opened(in.Gate, ctx.Done()) {
			return context.Cause(ctx)
		}
		out.Text = strings.Repeat("x", max(in.N, in.Size))
	default:
		return fmt.Errorf("no such thing to do: %s", in.Do)
	}
	return nil
}
