package conformance_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/option"
	"github.com/stint-go/stint/internal/race"
)

// A task of a test, with the number of its item.
type body = func(ctx context.Context, i int) error

// A run runs n tasks and waits for them.
type run = func(ctx context.Context, n int, f body, opts ...stint.Option) error

// An entryPoint is one way to do that.
type entryPoint struct {
	name string
	run  run
}

// inOrder reports whether results are yielded in input order, so that an item that blocks
// holds up others.
func (e entryPoint) inOrder() bool { return strings.HasSuffix(e.name, "MapSeq") || e.name == "MapKey" }

// withRoom is opts, and for results in input order a queue of n, so that none holds up others.
func (e entryPoint) withRoom(n int, opts ...stint.Option) []stint.Option {
	if e.inOrder() {
		return append(opts, stint.Queue(n))
	}
	return opts
}

// itself is a key that no other index has.
func itself(i int) int { return i }

// entryPoints are all of them. A Pool is not an entry point but a limitKind.
var entryPoints = []entryPoint{
	{"Each", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
		return stint.Each(ctx, indexes(n), f, opts...)
	}},
	{"Map", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
		_, err := stint.Map(ctx, indexes(n), valued(f), opts...)
		return err
	}},
	{"Range", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
		return stint.Range(ctx, n, f, opts...)
	}},
	{"EachSeq", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
		return stint.EachSeq(ctx, count(n), f, opts...)
	}},
	{"MapSeq", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
		return yielded(stint.MapSeq(ctx, count(n), valued(f), opts...))
	}},
	{"Unordered", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
		return yielded(stint.MapSeq(ctx, count(n), valued(f), append(opts, stint.Unordered())...))
	}},
	{"EachKey", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
		return stint.EachKey(ctx, count(n), itself, f, opts...)
	}},
	{"MapKey", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
		return yielded(stint.MapKey(ctx, count(n), itself, valued(f), opts...))
	}},
	{"Group", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
		g := stint.NewGroup(ctx, opts...)
		for i := range n {
			if !g.Go(func(ctx context.Context) error { return f(ctx, i) }) {
				break
			}
		}
		return g.Wait()
	}},
	{"GoContext", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
		g := stint.NewGroup(ctx, opts...)
		for i := range n {
			if g.GoContext(ctx, func(ctx context.Context) error { return f(ctx, i) }) != nil {
				break
			}
		}
		return g.Wait()
	}},
	{"Results", func(ctx context.Context, n int, f body, opts ...stint.Option) error {
		r := stint.NewResults[int](ctx, opts...)
		for i := range n {
			if !r.Go(func(ctx context.Context) (int, error) { return i, f(ctx, i) }) {
				break
			}
		}
		_, err := r.Wait()
		return err
	}},
	{"First", first},
}

// searching are those that search for a limit: all but First, which starts all items at once.
func searching() []entryPoint {
	return slices.DeleteFunc(slices.Clone(entryPoints), func(e entryPoint) bool { return e.name == "First" })
}

// valued makes f return the number of its item.
func valued(f body) func(context.Context, int) (int, error) {
	return func(ctx context.Context, i int) (int, error) { return i, f(ctx, i) }
}

// yielded joins the errors of a sequence, or returns the only one as it is.
func yielded(seq func(func(int, error) bool)) error {
	var errs []error
	for _, err := range seq {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) == 1 {
		if _, ok := errs[0].(*stint.ItemError); !ok {
			return errs[0]
		}
	}
	return errors.Join(errs...)
}

// A limitKind is what limits the tasks of an entry point. Its open returns the options.
type limitKind struct {
	name string
	open func(limit int) (opts []stint.Option, shut func())
}

var limitKinds = []limitKind{
	{"own", func(limit int) ([]stint.Option, func()) {
		return []stint.Option{within(limit, limit)}, func() {}
	}},
	{"Auto", func(limit int) ([]stint.Option, func()) {
		return []stint.Option{stint.Auto(limit, limit)}, func() {}
	}},
	{"Limiter", func(limit int) ([]stint.Option, func()) {
		return []stint.Option{stint.Limit(limit)}, func() {}
	}},
	{"Pool", func(limit int) ([]stint.Option, func()) {
		p := stint.NewPool(stint.Limit(limit))
		return []stint.Option{p}, p.Close
	}},
	{"OwnOnPool", func(limit int) ([]stint.Option, func()) {
		p := stint.NewPool(stint.Limit(max(limit, limit+1)))
		return []stint.Option{p, stint.Limit(limit)}, p.Close
	}},
}

// LowPriority has a meaning where the limit is shared.
func init() {
	for _, k := range limitKinds[2:4] {
		limitKinds = append(limitKinds, limitKind{"Low" + k.name, func(limit int) ([]stint.Option, func()) {
			opts, shut := k.open(limit)
			return append(opts, stint.LowPriority()), shut
		}})
	}
}

// with is the run of e with options.
func (e entryPoint) with(opts ...stint.Option) run {
	return func(ctx context.Context, n int, f body, more ...stint.Option) error {
		return e.run(ctx, n, f, append(more, opts...)...)
	}
}

// everywhere runs a test for every entry point with every kind of limit, each in a bubble.
// The test is given a function that runs tasks so. No goroutine may be left at its end.
func everywhere(t *testing.T, limit int, test func(t *testing.T, run run)) {
	for _, k := range limitKinds {
		for _, e := range entryPoints {
			bubble(t, e.name+"/"+k.name, func(t *testing.T) {
				opts, shut := k.open(limit)
				defer shut()
				test(t, e.with(opts...))
			})
		}
	}
}

// both runs a test for a Limiter, for a Pool, and for a Limiter on a Pool, each in a bubble. set
// changes the limit of all that is given the option.
func both(t *testing.T, limit int, test func(t *testing.T, opt stint.Option, set func(int))) {
	bubble(t, "Limiter", func(t *testing.T) {
		l := stint.Limit(limit)
		test(t, l, l.Set)
		synctest.Wait()
		equal(t, "what the limiter has out at the end", usage(l), [3]int{l.Current()})
	})
	bubble(t, "Pool", func(t *testing.T) {
		p := stint.NewPool(stint.Limit(limit))
		defer p.Close()
		test(t, p, p.SetLimit)
	})
	bubble(t, "Limiter on a Pool", func(t *testing.T) {
		l, p := stint.Limit(limit), stint.NewPool(stint.Limit(limit+12))
		defer p.Close()
		test(t, together(l, p), l.Set)
		synctest.Wait()
		equal(t, "what the limiter has out at the end", usage(l), [3]int{l.Current()})
	})
}

// together is one option for opts.
func together(opts ...stint.Option) stint.Option {
	all := option.Collect("stint", "together", option.Limiter|option.Pool, opts)
	return option.Func(func(o *option.Options) {
		o.Given |= all.Given
		o.Limiter, o.Engine = all.Limiter, all.Engine
	})
}

// onBoth is both for every entry point.
func onBoth(t *testing.T, limit int, test func(t *testing.T, e entryPoint, opt stint.Option, set func(int))) {
	for _, e := range entryPoints {
		t.Run(e.name, func(t *testing.T) {
			both(t, limit, func(t *testing.T, opt stint.Option, set func(int)) { test(t, e, opt, set) })
		})
	}
}

// each runs a test for every entry point, in a bubble.
func each(t *testing.T, test func(t *testing.T, e entryPoint)) {
	for _, e := range entryPoints {
		bubble(t, e.name, func(t *testing.T) { test(t, e) })
	}
}

// pairs runs a test for every two entry points, in a bubble; with -short or the race detector for a
// quarter of them, each in both roles.
func pairs(t *testing.T, all []entryPoint, test func(t *testing.T, outer, inner entryPoint)) {
	for i, outer := range all {
		for j, inner := range all {
			if (i+j)%4 != 0 && (testing.Short() || race.Enabled) {
				continue
			}
			bubble(t, inner.name+" in "+outer.name, func(t *testing.T) { test(t, outer, inner) })
		}
	}
}

// usage is the limit, and how many permits are held and are waited for.
func usage(l *stint.Limiter) [3]int {
	s := l.Stats()
	return [3]int{s.Limit, s.Running, s.Waiting}
}
