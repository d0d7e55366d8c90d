// Package proxy delays TCP connections, so that a server on this machine
// answers as if it were far away.
package proxy

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// A Proxy forwards connections to a server. Each direction takes half of the
// round trip. It holds what is under way, so it does not limit the throughput of
// a connection to less than queueLength chunks per delay. Connecting is not
// delayed.
type Proxy struct {
	to     string
	delay  time.Duration // of a direction
	jitter time.Duration // added, at random, up to this
	listen net.Listener
	all    sync.WaitGroup

	open context.Context // ends with Close
	end  context.CancelFunc
}

// Chunks of a connection that are under way.
const (
	chunkSize   = 16 << 10
	queueLength = 1024
)

// Listen starts a proxy on a free port of the loopback interface, for a server at a
// TCP address. Each round trip takes the given time longer, and up to jitter more.
// Close must be called.
func Listen(to string, roundTrip, jitter time.Duration) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{to: to, delay: roundTrip / 2, jitter: jitter / 2, listen: l}
	p.open, p.end = context.WithCancel(context.Background())
	p.all.Go(p.accept)
	return p, nil
}

// Address returns the address to connect to.
func (p *Proxy) Address() string { return p.listen.Addr().String() }

// Close ends the proxy and its connections, and returns when its goroutines have
// ended.
func (p *Proxy) Close() error {
	err := p.listen.Close()
	p.end()
	p.all.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		c, err := p.listen.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err == nil:
			p.all.Go(func() { p.forward(c) })
		default: // too many open files
			time.Sleep(time.Millisecond)
		}
	}
}

// forward connects a client to the server until both directions have ended.
func (p *Proxy) forward(client net.Conn) {
	defer client.Close() // also if there is no server
	server, err := new(net.Dialer).DialContext(p.open, "tcp", p.to)
	if err != nil {
		return
	}
	defer server.Close()
	defer context.AfterFunc(p.open, func() {
		client.Close()
		server.Close()
	})()
	var both sync.WaitGroup
	both.Go(func() { p.pipe(server, client) })
	both.Go(func() { p.pipe(client, server) })
	both.Wait()
}

// A chunk is due at a time. The last one of a direction has no bytes.
type chunk struct {
	bytes []byte
	due   time.Time
}

// pipe forwards one direction. The end of the input, delayed as bytes are, is the
// end of the output; the other direction continues. If the output fails, the input
// is closed, so that its sender sees it.
func (p *Proxy) pipe(to, from net.Conn) {
	queue := make(chan chunk, queueLength)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(queue)
		p.read(from, queue)
	})
	for c := range queue {
		time.Sleep(time.Until(c.due))
		if c.bytes == nil {
			to.(*net.TCPConn).CloseWrite()
		} else if _, err := to.Write(c.bytes); err != nil {
			from.Close()
			break
		}
	}
	for range queue { // the reader may wait for a slot
	}
	reader.Wait()
}

// read queues what it reads, and the end.
func (p *Proxy) read(from net.Conn, queue chan<- chunk) {
	last, b := time.Time{}, make([]byte, chunkSize)
	for {
		n, err := from.Read(b)
		due := time.Now().Add(p.delay)
		if p.jitter > 0 {
			due = due.Add(rand.N(p.jitter))
		}
		if due.Before(last) { // bytes keep their order
			due = last
		}
		last = due
		if n > 0 {
			queue <- chunk{bytes.Clone(b[:n]), due}
		}
		if err != nil {
			queue <- chunk{nil, due}
			return
		}
	}
}
