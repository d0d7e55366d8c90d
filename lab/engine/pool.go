package engine

import (
	"context"
	"fmt"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/result"
)

// Pool is stint.Pool. Closing it is measured, as for conc, pond and workerpool,
// whose workers have also ended then.
func Pool(opts ...stint.Option) Open {
	return Open{Model: result.Ours.Model("stint.Pool", "NewPool with a Limit, Go, Close"),
		New: func(limit int, t Task) Engine {
			return &stintPool{pool: stint.NewPool(append(opts, bound(limit)...)...), f: t.Pool}
		}}
}

// Queued is a stint engine with a queue of n.
func Queued(engine func(...stint.Option) Open, n int) Open {
	o := engine(stint.Queue(n))
	o.Name = fmt.Sprintf("%s+queue=%d", o.Name, n)
	o.Doc = fmt.Sprintf("%s, Queue(%d)", o.Doc, n)
	return o
}

type stintPool struct {
	noClose
	pool *stint.Pool
	f    func(context.Context)
}

func (p *stintPool) Go(n int) {
	for range n {
		must(p.pool.Go(p.f))
	}
}

func (p *stintPool) Wait() { p.pool.Close() }
