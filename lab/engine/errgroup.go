package engine

import (
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/errgroup"
)

// Errgroup is golang.org/x/sync/errgroup with SetLimit.
func Errgroup() Open {
	return Open{Model: result.Peer.Model("errgroup", "x/sync v0.24.0, errgroup.SetLimit"),
		New: func(limit int, t Task) Engine {
			e := &errGroup{f: func() error { t.Plain(); return nil }}
			e.SetLimit(limit)
			return e
		}}
}

type errGroup struct {
	noClose
	errgroup.Group
	f func() error
}

func (g *errGroup) Go(n int) {
	for range n {
		g.Group.Go(g.f)
	}
}

func (g *errGroup) Wait() { must(g.Group.Wait()) }

// must panics on an error that an engine has no reason to return.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// ErrgroupEach is errgroup with SetLimit and a function per item.
func ErrgroupEach() Loop {
	return Loop{Model: result.Peer.Model("errgroup", "x/sync v0.24.0, errgroup.SetLimit, a function an item"),
		Run: func(n, limit int, b Body) {
			var g errgroup.Group
			g.SetLimit(limitOrProcs(limit))
			for i := range n {
				g.Go(func() error { b.Plain(i); return nil })
			}
			must(g.Wait())
		}}
}
