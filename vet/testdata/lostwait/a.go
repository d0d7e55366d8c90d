package lostwait

import (
	"context"
	"errors"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/errgroup"
)

func task(context.Context) error           { return nil }
func plain(context.Context)                {}
func keep(*stint.Group)                    {}
func run(context.Context) (_ int, _ error) { return }

type request interface{ Context() context.Context }

var errEmpty = errors.New("empty")

func never(ctx context.Context) {
	g := stint.NewGroup(ctx) // want `no g.Wait on the path to line 28: the context of g does not end, and its tasks, if any, run on; wait there, or defer g.Wait\(\) here`
	g.Go(task)
	g.Go(func(ctx context.Context) error { return g.GoContext(ctx, task) })
}

func early(ctx context.Context, names []string) error {
	r := stint.NewResults[int](ctx) // want `no r.Wait on the path to line 34`
	for _, name := range names {
		if name == "" {
			return errEmpty
		}
		r.Go(run)
	}
	_, err := r.Wait()
	return err
}

func loop(ctx context.Context) error {
	for {
		var g = stint.NewGroup(ctx) // want `no g.Wait on the path to line 49`
		g.Go(task)
		if ctx.Err() != nil {
			return g.Wait()
		}
	}
}

func main() {
	var p *stint.Pool
	p = stint.NewPool() // want `no p.Close on the path to line 57: its tasks may run on; close it there, or defer p.Close\(\) here`
	p.Go(plain)
	p.Stats()
}

func pools(ctx context.Context, names []string) error {
	p := stint.NewPool()
	if len(names) == 0 {
		return errEmpty // the pool has no task yet
	}
	p.GoContext(ctx, plain)
	return p.Idle(ctx)
}

func deferred(ctx context.Context, names []string) error {
	p := stint.NewPool()
	defer p.Close()
	g := stint.NewGroup(ctx, p)
	defer func() { g.Wait() }()
	if len(names) == 0 {
		return errEmpty
	}
	p.Go(plain)
	g.Go(task)
	if len(names) == 1 {
		os.Exit(1)
	}
	return nil
}

func passed(ctx context.Context, n int) *stint.Group {
	g := stint.NewGroup(ctx)
	h := stint.NewGroup(ctx)
	keep(h)
	kept := struct{ g *stint.Group }{stint.NewGroup(ctx)}
	kept.g.Go(task)
	switch n {
	case 1:
		log.Fatal(n)
	case 2:
		panic(n)
	}
	return g
}

func captured(ctx context.Context) (g *stint.Group, wait func() error) {
	g = stint.NewGroup(ctx)
	h := stint.NewGroup(ctx)
	return g, func() error { return h.Wait() }
}

func refused(ctx context.Context, p *stint.Pool, r request) error {
	g := stint.NewGroup(ctx)
	defer g.Wait()
	g.TryGo(task)  // want `g.TryGo may refuse the task, and nobody learns of it: use its result, or assign it to _ if`
	p.TryGo(plain) // want `p.TryGo may refuse`
	_ = g.TryGo(task)
	if !p.TryGo(plain) {
		return nil
	}
	with, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	g.GoContext(with, task)         // want `g.GoContext drops the task if with has ended, and nobody learns of it: use its error, or assign it to _`
	p.GoContext(r.Context(), plain) // want `p.GoContext drops the task if r.Context\(\) has ended`
	g.Go(task)
	p.Go(plain)
	g.GoContext(ctx, task)
	p.GoContext(ctx, plain)
	term, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	p.GoContext(term, plain) // want `p.GoContext drops the task if term has ended`
	h := stint.NewGroup(with)
	h.GoContext(with, task)
	new(errgroup.Group).TryGo(func() error { return nil })
	return h.Wait()
}

func rounds(ctx context.Context, batches [][]string) error {
	for i := 0; i < len(batches); i++ {
		g := stint.NewGroup(ctx) // want `no g.Wait on the path to line 136`
		g.Go(task)
		if len(batches[i]) == 0 {
			continue
		}
		g.Wait()
	}
each:
	for _, batch := range batches {
		g := stint.NewGroup(ctx) // want `no g.Wait on the path to line 145`
		for range batch {
			if len(batch) == 1 {
				continue each
			}
			continue
		}
		g.Wait()
	}
	for range batches {
		g := stint.NewGroup(ctx) // want `no g.Wait on the path to line 154`
		if ctx.Err() != nil {
			return errEmpty // no task yet
		}
		g.Go(task)
		g.Wait()
	}
	return nil
}
