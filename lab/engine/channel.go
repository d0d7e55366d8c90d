package engine

import (
	"sync"

	"github.com/stint-go/stint/lab/result"
)

// Channel is the pool that most people write: as many goroutines as may run,
// all of them there from the start, on one channel of functions.
func Channel() Open {
	return Open{Name: "channel", Doc: "limit goroutines, started first, on a channel of 1,024 functions", Kind: result.Peer,
		New: func(limit int, t Task) Engine {
			c := &channel{tasks: make(chan func(), 1024), f: t.Plain}
			for range limit {
				c.wg.Go(func() {
					for f := range c.tasks {
						f()
					}
				})
			}
			return c
		}}
}

type channel struct {
	keeper
	wg    sync.WaitGroup
	tasks chan func()
	f     func()
}

func (c *channel) Go(n int) {
	for range n {
		c.tasks <- c.f
	}
}

func (c *channel) Wait() {
	close(c.tasks)
	c.wg.Wait()
}
