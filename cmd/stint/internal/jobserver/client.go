package jobserver

import (
	"context"
	"io"
	"slices"
)

// A Client starts jobs with the tokens of a jobserver. The first one needs none: that is counted
// where the Client itself was started. It must be made by NewClient, and closed. Its methods may be
// called concurrently.
type Client struct {
	line
	makeflags string
	say       func(string)
	ended     chan struct{} // closed when the Keeper is
	changed   chan struct{} // has an element if the caller that waits should look again

	send    func(message int) // to the Keeper; these are guarded by mu
	tokens  []byte            // in the order of the Keeper
	waiting bool              // a job
	asked   bool              // for a token
	closing bool
}

// NewClient returns a Client of the jobserver that makeflags name. send sends a message to its Keeper,
// which writes to grants. say is called when the Keeper was killed.
func NewClient(makeflags string, send func(message int), grants io.Reader, say func(string)) *Client {
	c := &Client{
		line: line{turn: make(chan struct{}, 1)}, makeflags: makeflags, say: say,
		ended: make(chan struct{}), changed: make(chan struct{}, 1), send: send,
	}
	go func() {
		defer close(c.ended)
		c.receive(grants)
		if r := c.replace(); r != nil {
			c.receive(r)
		}
	}()
	return c
}

// receive takes the tokens that the Keeper has taken, until that has ended.
func (c *Client) receive(grants io.Reader) {
	for b := make([]byte, 1); ; {
		if n, err := grants.Read(b); n == 0 || err != nil {
			return
		}
		c.mu.Lock()
		c.tokens = append(c.tokens, b[0])
		c.asked = false
		c.settle()
		c.mu.Unlock()
	}
}

// replace returns what another Keeper writes, which has the tokens of one that was killed, in this
// process. Without one the first job runs, and those that follow it.
func (c *Client) replace() io.Reader {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return nil
	}
	pool, err := Open(c.makeflags)
	if err != nil {
		c.asked = true // and no more
		c.say("jobserver: the process with the tokens has ended, and they are lost: one job runs at a time")
		return nil
	}
	c.say("jobserver: the process with the tokens has ended: if this one is killed, they are lost")
	r, w := io.Pipe()
	k := NewKeeper(pool, w)
	k.held = slices.Clone(c.tokens)
	c.send, c.asked = k.Tell, false
	c.settle()
	return r
}

// settle returns the tokens that neither the jobs that run need nor the one that has waited for
// one, and lets the caller look who waits. It is called with mu held.
func (c *Client) settle() {
	need := c.need() - 1
	if c.waiting && !c.asked {
		need++
	}
	for ; len(c.tokens) > max(0, need); c.tokens = c.tokens[1:] {
		c.send(Return)
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// Acquire waits until j may run. It returns the cause of ctx if ctx ends first. Calls that wait return
// in the order in which they were made, but that of the first job at once.
func (c *Client) Acquire(ctx context.Context, j *Job) error {
	return c.wait(ctx, j, func(ctx context.Context) bool {
		for !c.start(j) {
			select {
			case <-c.changed:
			case <-ctx.Done():
				c.mu.Lock()
				defer c.mu.Unlock()
				c.waiting = false
				c.settle()
				return false
			}
		}
		return true
	})
}

// start lets j run if it may, and asks for a token otherwise.
func (c *Client) start(j *Job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting = len(c.tokens) < c.need() && c.jobs[0] != j; c.waiting {
		if !c.asked {
			c.asked = true
			c.send(Want)
		}
		return false
	}
	c.begin(j)
	return true
}

// Release tells that j does not run any more. The token goes back even if another job waits: it is the
// turn of other programs, too.
func (c *Client) Release(j *Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	j.running = false
	c.settle()
}

// End tells that j does not run again.
func (c *Client) End(j *Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(j)
	c.settle()
}

// Close returns all tokens. No job may run or wait.
func (c *Client) Close() {
	c.mu.Lock()
	c.closing = true
	send := c.send
	c.mu.Unlock()
	send(End)
	<-c.ended
}
