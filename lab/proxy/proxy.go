// Package proxy delays TCP connections, so that a server on this machine answers as if it were far away.
package proxy

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// A Proxy forwards connections to a server. Connecting is not delayed.
type Proxy struct {
	To        string        // the TCP address of the server
	RoundTrip time.Duration // a round trip takes so much longer, half of it in each direction
	Jitter    time.Duration // and, at random, up to this much more
}

// Serve forwards the connections of a listener until ctx ends. Then it closes them and the listener, and returns when its
// goroutines have ended.
func (p Proxy) Serve(ctx context.Context, l net.Listener) {
	defer context.AfterFunc(ctx, func() { l.Close() })()
	var all sync.WaitGroup
	defer all.Wait()
	for c, err := l.Accept(); err == nil; c, err = l.Accept() {
		all.Go(func() { p.forward(ctx, c) })
	}
}

// forward connects a client to the server until both directions have ended.
func (p Proxy) forward(ctx context.Context, client net.Conn) {
	defer client.Close() // also if there is no server
	server, err := new(net.Dialer).DialContext(ctx, "tcp", p.To)
	if err != nil {
		return
	}
	defer server.Close()
	defer context.AfterFunc(ctx, func() {
		client.Close()
		server.Close()
	})()
	var other sync.WaitGroup
	other.Go(func() { p.pipe(server, client) })
	p.pipe(client, server)
	other.Wait()
}

const chunkSize, queueLength = 16 << 10, 1024

// A chunk is due at a time.
type chunk struct {
	bytes []byte
	due   time.Time
}

// pipe forwards one direction, in which up to queueLength chunks are under way. The end of the input, delayed as bytes
// are, is the end of the output; the other direction continues. If the output fails, the input is closed, so that its
// sender sees it.
func (p Proxy) pipe(to, from net.Conn) {
	queue := make(chan chunk, queueLength)
	go p.read(from, queue)
	for c := range queue {
		time.Sleep(time.Until(c.due))
		if _, err := to.Write(c.bytes); err != nil {
			from.Close()
		}
	}
	to.(*net.TCPConn).CloseWrite()
}

// read queues what it reads until the input ends.
func (p Proxy) read(from net.Conn, queue chan<- chunk) {
	defer close(queue)
	b := make([]byte, chunkSize)
	for {
		n, err := from.Read(b)
		queue <- chunk{bytes.Clone(b[:n]), time.Now().Add(p.RoundTrip/2 + rand.N(p.Jitter/2+1))}
		if err != nil {
			return
		}
	}
}
