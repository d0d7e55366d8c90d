package httplimit_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing/synctest"
)

// server calls f in a bubble, with a server of net/http for h. dial connects to it.
func server(h http.Handler, f func(dial func() *conn)) {
	l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	s := &http.Server{Handler: h}
	var serving sync.WaitGroup
	serving.Go(func() { s.Serve(l) })
	f(l.dial)
	s.Close()
	serving.Wait()
}

// A listener is a network in memory.
type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *listener) Addr() net.Addr { return new(net.TCPAddr) }

func (l *listener) dial() *conn {
	client, server := net.Pipe()
	l.conns <- server
	c := &conn{Conn: client}
	go io.Copy(c, client)
	return c
}

// A conn is that of a client. It collects what the server sends.
type conn struct {
	net.Conn
	mu   sync.Mutex
	text strings.Builder
}

func (c *conn) Write(data []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.Write(data)
}

// send sends text, as far as the server reads it.
func (c *conn) send(text string) {
	go io.WriteString(c.Conn, text)
	synctest.Wait()
}

// received is what the server has sent.
func (c *conn) received() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}
