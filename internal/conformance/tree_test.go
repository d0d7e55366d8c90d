package conformance_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
)

// A call without a limit that is made by a task of another such call shares its limit. The
// searches of the tests are bounded by within, which nested calls need not be given.

// next returns each entry point that searches together with the one behind it, so that each
// is once outside and once inside.
func next() (pairs [][2]entryPoint) {
	all := searching()
	for i, e := range all {
		pairs = append(pairs, [2]entryPoint{e, all[(i+1)%len(all)]})
	}
	return pairs
}

// 300 x 300 sleepers are never more than 256 at once, the default maximum, and the search
// finds that.
func TestTreeOfSleepers(t *testing.T) {
	const outer, inner, most, nap = 300, 300, 256, 10 * time.Millisecond
	const ideal = outer * inner * nap / most
	for i, p := range next() {
		if i%4 != 0 || i > 0 && (race.Enabled || testing.Short()) {
			continue // it takes seconds
		}
		bubble(t, p[1].name+" in "+p[0].name, func(t *testing.T) {
			var g gauge
			err := p[0].run(bg, outer, func(ctx context.Context, _ int) error { return p[1].run(ctx, inner, holds(&g, nap)) })
			equal(t, "error", err, nil)
			g.Is(t, 0, most, outer*inner)
			if took := sinceBubble(); took > ideal*13/10 {
				t.Errorf("took %v, the ideal is %v", took, ideal)
			}
		})
	}
}

// Tasks that wait for each other start in the end, also if tasks around them hold all permits:
// each of 300 tasks waits until the two tasks of its group have met.
func TestTreeOfDependentTasks(t *testing.T) {
	for i, p := range next() {
		before := []time.Duration{0, 10 * time.Millisecond, time.Second, time.Minute}[i%4]
		bubble(t, p[1].name+" in "+p[0].name, func(t *testing.T) {
			var met atomic.Int64
			err := p[0].run(bg, 300, func(ctx context.Context, _ int) error {
				time.Sleep(before)
				c := make(chan int, 1)
				there := [2]func(){func() { c <- 1; c <- 1 }, func() { <-c; <-c; met.Add(1) }}
				return p[1].run(ctx, 2, func(_ context.Context, i int) error { there[i](); return nil })
			})
			equal(t, "error", err, nil)
			equal(t, "groups that met", met.Load(), 300)
			if took := sinceBubble(); took > 300*max(before, time.Second) {
				t.Errorf("took %v", took)
			}
		})
	}
}

// The tasks of a tree share one limit exactly, and its permits are lent, at any limit.
func TestTreeSharesOneLimit(t *testing.T) {
	through := searching()[0]
	for _, limit := range []int{1, 2, 4} {
		t.Run(fmt.Sprint("limit=", limit), func(t *testing.T) {
			pairs(t, searching(), func(t *testing.T, outer, inner entryPoint) { shareOne(t, limit, outer, inner) })
			bubble(t, "through one item", func(t *testing.T) { shareOne(t, limit, through, within1(through, one)) })
			bubble(t, "through First", func(t *testing.T) { shareOne(t, limit, through, within1(through, first)) })
		})
	}
	each(t, func(t *testing.T, e entryPoint) {
		if e.name != "First" {
			walkTree(t, e, 2, 5, 2, func(depth int) stint.Option { return within(2, 2) })
		}
	})
}

// within1 is e in a call of one task by between, which holds no permit of its own.
func within1(e entryPoint, between run) entryPoint {
	return entryPoint{e.name, func(ctx context.Context, n int, f body, _ ...stint.Option) error {
		return between(ctx, 1, func(ctx context.Context, _ int) error { return e.run(ctx, n, f) })
	}}
}

func shareOne(t *testing.T, limit int, outer, inner entryPoint) {
	var g gauge
	err := outer.run(bg, 4, func(ctx context.Context, _ int) error { return inner.run(ctx, 4, holds(&g, time.Second)) }, within(limit, limit))
	equal(t, "error", err, nil)
	if limit == 4 { // a lent permit may be idle at the end
		g.Is(t, 0, min(g.Max(), limit), 16)
		return
	}
	g.Is(t, 0, limit, 16)
	equal(t, "time passed", sinceBubble(), time.Duration(16/limit)*time.Second)
}

// one is a call of one item.
func one(ctx context.Context, _ int, f body, opts ...stint.Option) error {
	return stint.Range(ctx, 1, f, opts...)
}

// A call in a task that runs on a permit of a Limiter or a Pool has a search of its own, also
// if the task belongs to a tree. First in a tree starts all its items.
func TestTreeEndsAtALimiter(t *testing.T) {
	own, l := within(2, 2), stint.Limit(3)
	for name, c := range map[string]struct {
		most, total int
		run         func(g *gauge, inside body) error // inside is a call with a limit of 2, in a task
	}{
		"Limiter": {6, 12, func(_ *gauge, inside body) error { return stint.Range(bg, 3, inside, l) }},
		"Limiter in a tree": {6, 12, func(_ *gauge, inside body) error {
			return stint.Range(bg, 2, func(ctx context.Context, i int) error { return stint.Range(ctx, 1+i, inside, l) }, own)
		}},
		"Do in a tree": {4, 8, func(_ *gauge, inside body) error {
			return stint.Range(bg, 2, func(ctx context.Context, i int) error {
				return l.Do(ctx, func(ctx context.Context) error { return inside(ctx, i) })
			}, own)
		}},
		"Pool in a tree": {6, 12, func(_ *gauge, inside body) error {
			p := stint.NewPool(stint.Limit(3))
			defer p.Close()
			return stint.Range(bg, 2, func(ctx context.Context, i int) error { return stint.Range(ctx, 1+i, inside, p) }, own)
		}},
		"First in a tree": {6, 6, func(g *gauge, _ body) error {
			return stint.Range(bg, 2, func(ctx context.Context, _ int) error { return first(ctx, 3, holds(g, time.Second)) }, own)
		}},
	} {
		bubble(t, name, func(t *testing.T) {
			var g gauge
			inside := func(ctx context.Context, _ int) error { return stint.Range(ctx, 4, holds(&g, time.Second), own) }
			equal(t, "error", c.run(&g, inside), nil)
			g.Is(t, 0, c.most, c.total)
		})
	}
}

// Calls that outlive the tree's outermost call, against the rules, run to their end.
func TestTreeIsOutlived(t *testing.T) {
	for i, p := range next() {
		limit := 1 + 2*(i%2)
		bubble(t, p[1].name+" in "+p[0].name, func(t *testing.T) { outlived(t, p[0], p[1], limit) })
	}
}

func outlived(t *testing.T, outer, inner entryPoint, limit int) {
	var g gauge
	var left sync.WaitGroup
	outer.run(bg, 3, func(ctx context.Context, i int) error {
		ctx = context.WithoutCancel(ctx)
		late := func() {
			equal(t, "error", inner.run(ctx, 5, holds(&g, time.Second)), nil)
		}
		left.Add(1)
		time.AfterFunc(time.Duration(i)*time.Second, func() { defer left.Done(); late() }) // some start when the tree has ended
		time.Sleep(time.Second / 2)
		return nil
	}, within(limit, limit))
	left.Wait()
	equal(t, "tasks", g.Total(), 3*5)
}

// Contexts that tasks of a tree have kept keep neither its items nor its calls.
func TestTreeIsNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var x tracker
		var mu sync.Mutex
		var kept []context.Context
		keep := func(ctx context.Context, x *thing) (*thing, error) {
			mu.Lock()
			kept = append(kept, ctx)
			mu.Unlock()
			time.Sleep(time.Second) // the others run on helpers, and some wait for a permit
			return x, nil
		}
		stint.Each(bg, x.things(5), func(ctx context.Context, item *thing) error {
			keep(ctx, item)
			if _, err := stint.Map(ctx, x.things(5), keep); err != nil {
				return err
			}
			r := stint.NewResults[*thing](ctx)
			for _, item := range x.things(5) {
				r.Go(func(ctx context.Context) (*thing, error) { return keep(ctx, item) })
			}
			_, err := r.Wait()
			return err
		}, within(3, 3))
		x.collected(t, 5+5*10)
		equal(t, "contexts kept", len(kept), 5+5*10)
	})
}
