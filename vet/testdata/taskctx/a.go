package taskctx

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

func nop(context.Context, string) error { return nil }

func named(ctx context.Context, items []string, db *sql.DB) error {
	return stint.Each(ctx, items, func(task context.Context, item string) error {
		stint.Each(ctx, items, nop)                                                                   // want `stint.Each gets ctx in a task that has a context of its own: pass task`
		req, _ := http.NewRequestWithContext(ctx, "GET", item, nil)                                   // want `http.NewRequestWithContext gets ctx .*: pass task`
		db.QueryContext(ctx, item)                                                                    // want `db.QueryContext gets ctx`
		exec.CommandContext(ctx, item)                                                                // want `exec.CommandContext gets ctx`
		new(net.Dialer).DialContext(ctx, "tcp", item)                                                 // want `gets ctx`
		g := stint.NewGroup(ctx)                                                                      // want `stint.NewGroup gets ctx`
		for range stint.MapSeq(ctx, nil, func(context.Context, int) (int, error) { return 0, nil }) { // want `stint.MapSeq gets ctx`
		}
		for range stream.From(items).All(ctx) { // want `gets ctx`
		}
		func() {
			g.GoContext(ctx, func(context.Context) error { return nil }) // want `g.GoContext gets ctx`
		}()

		stint.Each(task, items, nop)
		with, cancel := context.WithTimeout(task, time.Second)
		defer cancel()
		stint.Each(with, items, nop)
		slog.InfoContext(ctx, item)
		stint.Each(context.Background(), items, nop)
		stint.Each(context.WithoutCancel(ctx), items, nop)
		go stint.Each(ctx, items, nop)
		defer db.ExecContext(ctx, item)
		go func() { stint.Each(ctx, items, nop) }()
		stint.Each(req.Context(), items, nop)
		return g.Wait()
	})
}

func derived(ctx context.Context, items []string) error {
	return stint.Each(ctx, items, func(task context.Context, item string) error {
		with, cancel := context.WithTimeout(ctx, time.Second) // want `stint.Each gets ctx .*: pass task`
		defer cancel()
		other := with
		for range 2 {
			if err := stint.Each(other, items, nop); err != nil {
				return err
			}
		}
		server := &http.Server{}
		shutdown, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return server.Shutdown(shutdown)
	})
}

func unnamed(ctx context.Context, items []string) error {
	stint.Each(ctx, items, func(_ context.Context, item string) error {
		return stint.Each(ctx, items, nop) // want `stint.Each gets ctx .*: name it, and pass it`
	})
	stint.NewGroup(ctx).Go(func(context.Context) error {
		return stint.Each(ctx, items, nop) // want `stint.Each gets ctx .*: name it, and pass it`
	})
	stint.Range(ctx, 2, func(context.Context, int) error {
		return stint.Each(ctx, items, nop) // want `stint.Each gets ctx .*: name it, and pass it`
	})
	return stint.Each(ctx, items, func(_ context.Context, item string) error {
		<-ctx.Done()                       // another use: no fix
		return stint.Each(ctx, items, nop) // want `stint.Each gets ctx .*: name it, and pass it`
	})
}

func detached(ctx context.Context, items []string) error {
	bg := context.Background()
	audit, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	g := stint.NewGroup(bg)
	g.Go(func(task context.Context) error { return fetch(bg, "") }) // want `fetch gets bg`
	g.Wait()
	return stint.Each(ctx, items, func(task context.Context, item string) error {
		return errors.Join(fetch(audit, item), fetch(bg, item))
	})
}

func wrap(ctx context.Context) context.Context { return ctx }

func onlyUse(items []string) {
	ctx := wrap(background)
	stint.Each(background, items, func(task context.Context, item string) error {
		return stint.Each(ctx, items, nop) // want `stint.Each gets ctx .*: pass task`
	})
}

func shadowed(ctx context.Context, items []string) error {
	outer := ctx
	return stint.Each(ctx, items, func(ctx context.Context, item string) error {
		stint.Each(outer, items, nop) // want `stint.Each gets outer .*: pass ctx`
		{
			ctx := 1
			stint.Each(outer, items, nop) // want `stint.Each gets outer .*: pass ctx`
			_ = ctx
		}
		return stint.Each(ctx, items, func(inner context.Context, item string) error {
			return stint.Each(ctx, items, nop) // want `stint.Each gets ctx .*: pass inner`
		})
	})
}

type server struct{ ctx context.Context }

var background = context.Background()

func elsewhere(t *testing.T, r *http.Request, s *server) {
	var kept context.Context
	stint.Each(t.Context(), nil, func(task context.Context, item string) error {
		stint.Each(t.Context(), nil, nop) // want `stint.Each gets t.Context\(\) .*: pass task`
		stint.Each(r.Context(), nil, nop) // want `stint.Each gets r.Context\(\)`
		stint.Each(s.ctx, nil, nop)       // want `stint.Each gets s.ctx`
		stint.Each(background, nil, nop)
		kept = task
		return stint.Each(kept, nil, nop)
	})
}

func fetch(ctx context.Context, name string) error {
	with, cancel := context.WithCancel(ctx)
	defer cancel()
	_, err := http.NewRequestWithContext(ctx, "GET", name, nil)
	_ = with
	return err
}

func fetchAll(ctx context.Context, name string) error { return fetch(ctx, name) }

func logs(ctx context.Context, name string) { slog.InfoContext(ctx, name) }

func calls(ctx context.Context, items []string) iter.Seq2[string, error] {
	stint.Each(ctx, items, func(task context.Context, item string) error {
		logs(ctx, item)
		return fetchAll(ctx, item) // want `fetchAll gets ctx .*: pass task`
	})
	return stream.MapErr(stream.From(items), func(task context.Context, item string) (string, error) {
		return item, fetch(ctx, item) // want `fetch gets ctx .*: pass task`
	}).All(ctx)
}

func try(ctx context.Context, l *stint.Limiter) {
	l.Do(ctx, func(context.Context) error {
		return l.TryDo(ctx, func(context.Context) error { return nil })
	})
	waiting, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	l.Do(waiting, func(context.Context) error { return nop(ctx, "") })
	l.Do(waiting, func(context.Context) error { return fetch(ctx, "") })
	l.Do(ctx, func(context.Context) error { return fetch(ctx, "") }) // want `fetch gets ctx .*: name it, and pass it`
}

// Tasks that are no literals.
func variable(ctx context.Context, items []string) error {
	visit := func(task context.Context, item string) error {
		return stint.Each(ctx, items, nop) // want `stint.Each gets ctx .*: pass task`
	}
	return stint.Each(ctx, items, visit)
}

func visits(ctx context.Context, item string) func(context.Context) error {
	return func(task context.Context) error { return fetch(ctx, item) } // want `fetch gets ctx .*: pass task`
}

type job struct{ ctx context.Context }

func (j *job) run(ctx context.Context) error {
	return stint.Each(j.ctx, nil, nop) // want `stint.Each gets j.ctx .*: pass ctx`
}

func (j *job) item(ctx context.Context) error { return stint.Each(j.ctx, nil, nop) }

func (j *job) one(ctx context.Context, k *job) error { return stint.Each(k.ctx, nil, nop) }

func (j *job) start(ctx context.Context, jobs []*job) error {
	stint.Each(ctx, jobs, func(ctx context.Context, j *job) error { return stint.Each(j.ctx, nil, nop) })
	stint.Each(ctx, jobs, j.one)
	stint.Each(ctx, jobs, func(ctx context.Context, j *job) error { return j.item(ctx) })
	g := stint.NewGroup(ctx)
	g.Go(j.run)
	g.Go(visits(ctx, "a"))
	return g.Wait()
}
