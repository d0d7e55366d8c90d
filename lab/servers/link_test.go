package servers

import (
	"context"
	"math/rand/v2"
	"net"
	"time"
)

// A link makes a server far away: its answers take so much longer and, at random, up to jitter more. Connecting does not.
type link struct{ delay, jitter time.Duration }

func (l link) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil || l == (link{}) {
		return c, err
	}
	return far{c, l}, nil
}

// A far connection delays what it reads. An answer, which is a page or a row, comes by one read.
type far struct {
	net.Conn
	link link
}

func (c far) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == nil {
		time.Sleep(c.link.delay + rand.N(c.link.jitter/2+1) + rand.N(c.link.jitter/2+1))
	}
	return n, err
}
