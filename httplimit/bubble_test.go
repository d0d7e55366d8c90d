package httplimit_test

import (
	"io"
	"net"
	"net/http"
	"sync"
	"testing/synctest"
	"time"
)

// server calls f in a bubble, with a server of net/http for h. dial connects to it.
func server(h http.Handler, f func(dial func() net.Conn)) {
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

func (l *listener) dial() net.Conn {
	client, server := net.Pipe()
	l.conns <- server
	return client
}

// send sends text, as far as the server reads it.
func send(c net.Conn, text string) {
	go io.WriteString(c, text)
	synctest.Wait()
}

// received returns what the server has sent.
func received(c net.Conn) string {
	c.SetReadDeadline(time.Now().Add(time.Millisecond))
	text, _ := io.ReadAll(c)
	return string(text)
}
