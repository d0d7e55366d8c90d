package engine

import (
	"context"
	"fmt"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/result"
)

// Pool is stint.Pool. Its end is measured, as those of conc, pond and
// workerpool are: its workers too have ended then.
func Pool(opts ...stint.Option) Open {
	return Open{Name: "stint.Pool", Doc: "NewPool with a Limit, Go, Close", Kind: result.Ours,
		New: func(limit int, t Task) Engine {
			return &stintPool{pool: stint.NewPool(append(opts, bound(limit)...)...), f: t.Pool}
		}}
}

// Queued is an engine of stint with a queue of n, and a name that says so.
func Queued(engine func(...stint.Option) Open, n int) Open {
	o := engine(stint.Queue(n))
	o.Name = fmt.Sprintf("%s+queue=%d", o.Name, n)
	o.Doc = fmt.Sprintf("%s, Queue(%d)", o.Doc, n)
	return o
}

type stintPool struct {
	keeper
	pool *stint.Pool
	f    func(context.Context)
}

func (p *stintPool) Go(n int) {
	for range n {
		must(p.pool.Go(p.f))
	}
}

func (p *stintPool) Wait() { p.pool.Close() }
