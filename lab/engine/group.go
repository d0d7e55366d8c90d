package engine

import (
	"context"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/result"
)

// Group is stint.Group.
func Group(opts ...stint.Option) Open {
	return Open{Model: result.Ours.Model("stint.Group", "NewGroup with a Limit, Go, Wait"),
		New: func(limit int, t Task) Engine {
			g := stint.NewGroup(context.Background(), append(opts, stint.Limit(limit))...)
			return &stintGroup{group: g, f: t.Group}
		}}
}

type stintGroup struct {
	noClose
	group *stint.Group
	f     func(context.Context) error
}

func (g *stintGroup) Go(n int) {
	for range n {
		if !g.group.Go(g.f) {
			panic("engine: the group refused a task")
		}
	}
}

func (g *stintGroup) Wait() { must(g.group.Wait()) }
