package taskgo

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/stint-go/stint"
)

func nop(context.Context) error { return nil }

func direct(ctx context.Context, links []string) error {
	g := stint.NewGroup(ctx)
	g.Go(func(ctx context.Context) error {
		g.Go(nop)       // want `g.Go in a task of g can wait for ever: call g.GoContext with the task's context`
		if !g.Go(nop) { // want `g.Go in a task of g`
			return nil
		}
		if g.Go(nop) { // want `g.Go in a task of g`
			return nil
		}
		ok := g.Go(nop) // want `g.Go in a task of g`
		_ = ok
		g.GoContext(ctx, nop)
		g.TryGo(nop)
		go g.Go(nop)
		return g.Wait() // want `g.Wait in a task of g waits for the task itself, for ever: call it outside of its tasks`
	})
	g.GoContext(ctx, func(context.Context) error {
		g.Go(nop) // want `g.Go in a task of g`
		return nil
	})
	g.Go(func(ctx context.Context) error {
		for range links {
			slices.SortFunc(links, func(a, b string) int {
				g.Go(nop) // want `g.Go in a task of g`
				return 0
			})
			defer func() {
				g.Go(nop) // want `g.Go in a task of g`
			}()
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		g.Go(nop) // want `g.Go in a task of g`
		{
			ctx := 1
			g.Go(nop) // want `g.Go in a task of g`
			_ = ctx
		}
		return stint.Each(ctx, links, func(each context.Context, _ string) error {
			g.Go(nop) // want `g.Go in a task of g`
			return nil
		})
	})
	return g.Wait()
}

func pools(ctx context.Context) {
	p := stint.NewPool()
	defer p.Close()
	p.Go(func(ctx context.Context) {
		_ = p.Go(func(context.Context) {})                     // want `p.Go in a task of p`
		if err := p.Go(func(context.Context) {}); err != nil { // want `p.Go in a task of p`
			return
		}
		p.Close() // want `p.Close in a task of p waits for the task itself`
	})
	stint.Each(ctx, []int{1}, func(ctx context.Context, _ int) error {
		p.Go(func(context.Context) {}) // want `p.Go in a task of p`
		return nil
	}, p)
	g := stint.NewGroup(ctx, p)
	h := stint.NewResults[int](ctx, p)
	g.Go(func(ctx context.Context) error {
		h.Go(func(context.Context) (int, error) { return 0, nil }) // want `h.Go in a task of p`
		p.Go(func(context.Context) {})                             // want `p.Go in a task of p`
		_, err := h.Wait()
		return err
	})
	g.Wait()
}

// Groups that a task makes are its own.
func nested(ctx context.Context, p *stint.Pool, n int) error {
	g := stint.NewGroup(ctx, p)
	h := stint.NewGroup(ctx)
	g.Go(func(ctx context.Context) error {
		inner := stint.NewGroup(ctx, p)
		inner.Go(func(ctx context.Context) error {
			g.Go(nop)     // want `g.Go in a task of g`
			inner.Go(nop) // want `inner.Go in a task of inner`
			return nil
		})
		h.Go(nop)
		return inner.Wait()
	})
	g.Go(func(ctx context.Context) error { return nested(ctx, p, n-1) })
	h.Go(func(context.Context) error {
		time.AfterFunc(time.Second, func() { h.Go(nop) })
		var wg sync.WaitGroup
		wg.Go(func() { h.Go(nop) })
		return nil
	})
	return g.Wait()
}

// A crawler, as closures.
func closures(ctx context.Context) error {
	g := stint.NewGroup(ctx)
	var visit func(string) func(context.Context) error
	visit = func(page string) func(context.Context) error {
		return func(ctx context.Context) error {
			g.Go(visit(page + "/")) // want `g.Go in a task of g`
			return nil
		}
	}
	var crawl func(string)
	crawl = func(page string) {
		g.Go(func(ctx context.Context) error { // want `g.Go in a task of g .*`
			crawl(page)
			return nil
		})
	}
	g.Go(visit("a"))
	crawl("b")
	return g.Wait()
}

type crawler struct {
	group *stint.Group
	other *stint.Group
}

// A crawler, as methods.
func (c *crawler) visit(page string) {
	c.group.Go(func(ctx context.Context) error { // want `c.group.Go in a task of c.group`
		c.visit(page + "/")
		return nil
	})
	c.other.Go(func(ctx context.Context) error {
		(&crawler{}).visit(page)
		return nil
	})
}

func (c *crawler) run(ctx context.Context) error { return c.wait() }
func (c *crawler) wait() error                   { return c.group.Wait() } // want `c.group.Wait in a task of c.group waits for the task itself, for ever: call it outside of its tasks .the task is started in line 152`

func (c *crawler) start() { c.group.Go(c.run) }

// A crawler, as functions.
func follow(g *stint.Group, page string) {
	g.Go(func(ctx context.Context) error { // want `g.Go in a task of g`
		follow(g, page)
		return nil
	})
}

func between(g, h *stint.Group) {
	g.Go(func(ctx context.Context) error {
		h.Go(nop)
		return nil
	})
}

// A helper.
type helper struct{ *stint.Group }

func (h *helper) add(f func(context.Context) error) {
	h.Go(f) // want `h.Go in a task of h .*the task is started in line 183`
}

func helped(ctx context.Context) error {
	h, other := &helper{stint.NewGroup(ctx)}, &helper{stint.NewGroup(ctx)}
	other.add(nop)
	h.add(func(context.Context) error {
		other.add(nop)
		return nil
	})
	h.add(func(context.Context) error {
		h.add(nop)
		return nil
	})
	return h.Wait()
}
