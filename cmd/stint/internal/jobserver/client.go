package jobserver

import (
	"context"
	"io"
	"sync"
)

// A Client starts jobs with the tokens of a jobserver. Its first job needs none: that is counted
// where the Client itself was started. So n jobs need n-1 tokens, and it does not matter which of
// them ends first. It must be made by NewClient, and closed. Its methods may be called
// concurrently.
type Client struct {
	send    func(message int) // to the Keeper
	ended   chan struct{}     // closed when the Keeper is
	turn    chan struct{}     // has the caller that waits
	changed chan struct{}     // has an element if that caller should look again

	mu      sync.Mutex
	running int
	tokens  int
	waiting bool // a job
	asked   bool // for a token
}

// NewClient returns a Client. send sends a message to its Keeper, which writes to grants.
func NewClient(send func(message int), grants io.Reader) *Client {
	c := &Client{send: send, ended: make(chan struct{}), turn: make(chan struct{}, 1), changed: make(chan struct{}, 1)}
	go c.receive(grants)
	return c
}

// receive counts the tokens that the Keeper has taken.
func (c *Client) receive(grants io.Reader) {
	defer close(c.ended)
	for b := make([]byte, 1); ; {
		n, err := grants.Read(b)
		c.mu.Lock()
		if n == 0 || err != nil { // the watcher was killed, perhaps
			c.asked = true // and no more: the first job runs, and those that follow it
			c.mu.Unlock()
			return
		}
		c.tokens++
		c.asked = false
		c.settle()
		c.mu.Unlock()
	}
}

// settle returns the tokens that neither the jobs that run need nor the one that has waited for
// one, and lets the caller look who waits. It is called with mu held.
func (c *Client) settle() {
	need := c.running - 1
	if c.waiting && !c.asked {
		need++
	}
	for ; c.tokens > max(0, need); c.tokens-- {
		c.send(Return)
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// Acquire waits until one more job may run. It returns the cause of ctx if ctx ends first. Calls
// that wait return in the order in which they were made.
func (c *Client) Acquire(ctx context.Context) error {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.turn }()
	for !c.start() {
		select {
		case <-c.changed:
		case <-ctx.Done():
			c.mu.Lock()
			defer c.mu.Unlock()
			c.waiting = false
			c.settle()
			return context.Cause(ctx)
		}
	}
	return nil
}

// start counts one more job if it may run, and asks for a token otherwise.
func (c *Client) start() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting = c.tokens < c.running; c.waiting {
		if !c.asked {
			c.asked = true
			c.send(Want)
		}
		return false
	}
	c.running++
	return true
}

// Release tells that a job has ended. The token goes back even if another job waits: it is the
// turn of other programs, too.
func (c *Client) Release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	c.settle()
}

// Running returns how many jobs run.
func (c *Client) Running() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}

// Close returns all tokens. No job may run or wait.
func (c *Client) Close() {
	c.send(End)
	<-c.ended
}
