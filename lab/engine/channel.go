package engine

import (
	"sync"

	"github.com/stint-go/stint/lab/result"
)

// Channel is the common hand-written worker pool: limit goroutines, all started
// first, on one channel of functions.
func Channel() Open {
	return Open{Model: result.Peer.Model("channel", "limit goroutines, started first, on a channel of 1,024 functions"),
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
	noClose
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
