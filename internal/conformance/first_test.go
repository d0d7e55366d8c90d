package conformance_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/internal/option"
)

// errNext is the error of an item of First whose task has succeeded.
var errNext = errors.New("the next one")

// first runs tasks by First, turned round: the error of a task is the result of its item,
// which ends the call, and other items fail. Under KeepGoing an error is an error.
func first(ctx context.Context, n int, f body, opts ...stint.Option) error {
	o := option.Collect("stint", "First", ^option.Set(0), opts)
	opts = withoutKeepGoing(opts)
	if o.Max > 0 {
		opts = append(opts, stint.Limit(o.Max))
	}
	result, err := stint.First(ctx, indexes(n), func(ctx context.Context, i int) (error, error) {
		err := f(ctx, i)
		switch {
		case err == nil:
			return nil, errNext
		case o.Has(option.KeepGoing), ctx.Err() != nil: // a late error does not count
			return nil, err
		}
		return err, nil
	}, opts...)
	all, ok := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return result
	case n == 0:
		return nil
	case !ok:
		return err
	}
	var errs []error
	for _, err := range all.Unwrap() {
		if !errors.Is(err, errNext) {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 && !o.Has(option.KeepGoing) {
		return errors.Unwrap(errs[0])
	}
	return errors.Join(errs...)
}

// withoutKeepGoing returns opts without KeepGoing and without the option of within.
func withoutKeepGoing(opts []stint.Option) (rest []stint.Option) {
	for _, opt := range opts {
		if o := option.Collect("stint", "First", ^option.Set(0), []stint.Option{opt}); !o.Has(option.KeepGoing) && o.Max == 0 {
			rest = append(rest, opt)
		}
	}
	return rest
}

// isFirst reports whether the test is named after the entry point First.
func isFirst(t *testing.T) bool { return strings.Contains(t.Name()+"/", "/First/") }

// The first result counts, whichever item it is from. The calls that run are cancelled and
// waited for, and those that wait do not start.
func TestFirst(t *testing.T) {
	everyLimit(t, 3, func(t *testing.T, opts []stint.Option) {
		var g gauge
		start := time.Now()
		got, err := stint.First(bg, []time.Duration{9, 5, 2, 7, 1}, func(ctx context.Context, d time.Duration) (time.Duration, error) {
			g.Enter()
			defer g.Leave()
			select {
			case <-time.After(d * time.Second):
				return d, nil
			case <-ctx.Done():
				time.Sleep(time.Hour) // it is slow to give up
				equal(t, "cause", context.Cause(ctx), context.Canceled)
				return 0, ctx.Err()
			}
		}, opts...)
		equal(t, "error", err, nil)
		equal(t, "result", got, 2)
		g.Is(t, 0, 3, 3)
		took(t, start, time.Hour+2*time.Second)
	})
	for name, opts := range map[string][]stint.Option{"without a limit": nil, "hedged without a limit": {stint.HedgeAfter(1)}} {
		bubble(t, name, func(t *testing.T) {
			var g gauge
			got, err := stint.First(bg, indexes(1000), func(ctx context.Context, i int) (int, error) {
				g.Enter()
				defer g.Leave()
				time.Sleep(time.Duration(2000-i) * time.Second)
				return i, ctx.Err()
			}, opts...)
			equal(t, "error", err, nil)
			equal(t, "result", got, 999)
			g.Is(t, 0, 1000, 1000)
			equal(t, "time passed", sinceBubble(), 2000*time.Second)
		})
	}
}

// Without a result all errors are returned, in the order of the items. Without items there
// is an error, too.
func TestFirstWithoutAResult(t *testing.T) {
	everyLimit(t, 4, func(t *testing.T, opts []stint.Option) {
		caller := goroutine.ID()
		errs := []error{errBoom, fs.ErrNotExist, nil, errGone}
		got, err := stint.First(bg, indexes(4), func(_ context.Context, i int) (int, error) {
			time.Sleep(time.Duration(9-i) * time.Second)
			if errs[i] == nil && goroutine.ID() != caller {
				runtime.Goexit()
			}
			return i, cmp.Or(errs[i], stint.ErrGoexit)
		}, opts...)
		equal(t, "result", got, 0)
		equal(t, "error", fmt.Sprint(err), "item 0: boom\nitem 1: file does not exist\nitem 2: stint: task called runtime.Goexit\nitem 3: gone")
		for _, want := range []error{errBoom, fs.ErrNotExist, stint.ErrGoexit, errGone} {
			equal(t, "errors.Is", errors.Is(err, want), true)
		}
		item, ok := errors.AsType[*stint.ItemError](err)
		equal(t, "an ItemError", ok && item.Index == 0 && item.Err == errBoom, true)

		_, err = stint.First(bg, nil, func(context.Context, int) (int, error) { panic("called") }, opts...)
		equal(t, "error without items", fmt.Sprint(err), "stint: First: no items")
	})
}

// If the context ends before every item has failed, its cause is the error, also when some
// have failed by then. A result counts at any time, and an end after the last failure does not.
func TestFirstAndTheCallersContext(t *testing.T) {
	for _, c := range []firstCase{
		{"before", []time.Duration{1, 2}, 0, errBoom, "gone"},
		{"between", []time.Duration{1, 3}, 2, errBoom, "gone"},
		{"after", []time.Duration{1, 2}, 3, errBoom, "item 0: boom\nitem 1: boom"},
		{"result between", []time.Duration{1, 3}, 2, nil, "<nil>"},
		{"result after", []time.Duration{1, 2}, 3, nil, "<nil>"},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t) })
	}
}

// A firstCase ends the context of a call of two items.
type firstCase struct {
	name string
	at   []time.Duration // when an item fails
	end  time.Duration   // when the context ends
	last error           // of the last item
	want string
}

func (c firstCase) run(t *testing.T) {
	everyLimit(t, 2, func(t *testing.T, opts []stint.Option) {
		ctx, cancel := context.WithCancelCause(bg)
		time.AfterFunc(c.end*time.Second, func() { cancel(errGone) })
		synctest.Wait()
		got, err := stint.First(ctx, c.at, func(_ context.Context, at time.Duration) (time.Duration, error) {
			time.Sleep(at * time.Second)
			return at, map[time.Duration]error{c.at[0]: errBoom, c.at[1]: c.last}[at]
		}, opts...)
		equal(t, "error", fmt.Sprint(err), c.want)
		equal(t, "result", got, map[bool]time.Duration{true: c.at[1]}[c.last == nil])
		time.Sleep(c.end * time.Second)
	})
}

// A panic is raised although another call succeeds, before it or after it, and its Also has
// the errors that came before.
func TestFirstAndPanics(t *testing.T) {
	for _, at := range []time.Duration{2, 4} { // the result comes at 3
		everyLimit(t, 3, func(t *testing.T, opts []stint.Option) {
			ends := map[time.Duration]func(){at: func() { explode("late") }, 1: func() {}, 3: func() {}}
			task := func(_ context.Context, d time.Duration) (int, error) {
				time.Sleep(d * time.Second)
				ends[d]()
				return 1, map[time.Duration]error{1: errBoom}[d]
			}
			p := raises(t, "late", func() { stint.First(bg, []time.Duration{1, at, 3}, task, opts...) })
			equal(t, "the error is told", errors.Is(p.Also(), errBoom), true)
		})
	}
}

// An item starts a delay after the last start or when a call has failed, and when it has a permit.
func TestHedgeAfter(t *testing.T) {
	for _, c := range []struct {
		limit  int
		takes  []time.Duration // of the items; one with less than 0 fails
		starts []time.Duration
		total  time.Duration
	}{
		{9, []time.Duration{99, 98, 5, 1}, []time.Duration{0, 10, 20}, 25},
		{9, []time.Duration{-4, 99, -2, 3}, []time.Duration{0, 4, 14, 16}, 19},
		{9, []time.Duration{-15, -14, -4}, []time.Duration{0, 10, 15}, 24},
		{2, []time.Duration{99, -25, 3}, []time.Duration{0, 10, 35}, 38},
		{1, []time.Duration{-25, -1, 3}, []time.Duration{0, 25, 26}, 29},
	} {
		everyLimit(t, c.limit, func(t *testing.T, opts []stint.Option) {
			begun := make([]time.Duration, len(c.starts))
			_, err := stint.First(bg, c.takes, func(ctx context.Context, d time.Duration) (int, error) {
				begun[slices.Index(c.takes, d)] = sinceBubble() / time.Second
				select {
				case <-ctx.Done():
				case <-time.After(max(d, -d) * time.Second):
				}
				return 0, cmp.Or(ctx.Err(), map[bool]error{true: errBoom}[d < 0])
			}, append(opts, stint.HedgeAfter(10*time.Second))...)
			equal(t, "failed", err != nil, slices.Max(c.takes) < 0)
			equal(t, "starts", fmt.Sprint(begun), fmt.Sprint(c.starts))
			equal(t, "time", sinceBubble(), c.total*time.Second)
		})
	}
}

// everyLimit runs a test with each kind of limit, in a bubble.
func everyLimit(t *testing.T, limit int, test func(t *testing.T, opts []stint.Option)) {
	for _, kind := range limitKinds[1:] { // First has no limit of its own
		bubble(t, kind.name, func(t *testing.T) {
			opts, shut := kind.open(limit)
			defer shut()
			test(t, opts)
		})
	}
}

// An item of First that waits for another one to succeed is not claimed together with it.
func TestFirstClaimsItemsAlone(t *testing.T) {
	for _, opt := range []stint.Option{stint.Limit(2), stint.Auto(2, 2)} {
		for blocked := 1000; blocked < 1130; blocked++ {
			got, err := stint.First(t.Context(), indexes(2000), func(ctx context.Context, i int) (int, error) {
				if i == blocked {
					<-ctx.Done()
				}
				return i, map[bool]error{false: errBoom}[i == blocked+1]
			}, opt)
			equal(t, "result", fmt.Sprint(got, err), fmt.Sprint(blocked+1, " <nil>"))
		}
	}
}
