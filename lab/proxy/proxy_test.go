package proxy

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// start returns a proxy in front of a server.
func start(t *testing.T, roundTrip, jitter time.Duration, serve func(*net.TCPConn)) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				serve(c.(*net.TCPConn))
			})
		}
	})
	p, err := Listen(l.Addr().String(), roundTrip, jitter)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		p.Close()
		all.Wait()
	})
	return p
}

func dial(t *testing.T, p *Proxy) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

func random(seed uint64, n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed)}).Read(b)
	return b
}

// The server answers with what it got, after the end of the input: the bytes are
// intact, in order, and the output still open.
func TestBytesAndHalfClose(t *testing.T) {
	for _, jitter := range []time.Duration{0, time.Millisecond} {
		p := start(t, time.Millisecond, jitter, func(c *net.TCPConn) {
			all, err := io.ReadAll(c)
			if err != nil {
				t.Error(err)
			}
			sum := sha256.Sum256(all)
			c.Write(sum[:])
			c.Write(all)
		})
		var clients sync.WaitGroup
		for i := range 8 {
			c, sent := dial(t, p), random(uint64(i), 1<<20+i)
			clients.Go(func() {
				if n, err := c.Write(sent); n != len(sent) || err != nil {
					t.Errorf("wrote %d bytes, %v", n, err)
				}
				c.CloseWrite()
				got, err := io.ReadAll(c)
				sum := sha256.Sum256(sent)
				if err != nil || !bytes.Equal(got, append(sum[:], sent...)) {
					t.Errorf("got %d bytes, %v; want the sum and the %d bytes sent", len(got), err, len(sent))
				}
			})
		}
		clients.Wait()
	}
}

// No round trip takes less than the delay. 100 connections, and 100 messages of one
// connection that are sent together, take one round trip, not 100: in all less than
// half of that.
func TestDelay(t *testing.T) {
	const roundTrip, n = 20 * time.Millisecond, 100
	p := start(t, roundTrip, 0, func(c *net.TCPConn) { io.Copy(c, c) })
	began := time.Now()
	var clients sync.WaitGroup
	for range n {
		c := dial(t, p)
		clients.Go(func() {
			began := time.Now()
			echo(t, c, 1)
			if took := time.Since(began); took < roundTrip {
				t.Errorf("a round trip took %v", took)
			}
		})
	}
	clients.Wait()
	echo(t, dial(t, p), n)
	if took := time.Since(began); took > n*roundTrip {
		t.Errorf("together took %v, as long as one after the other", took)
	}
}

// echo sends n messages and reads them all.
func echo(t *testing.T, c net.Conn, n int) {
	t.Helper()
	for i := range n {
		c.Write([]byte{byte(i)})
	}
	got := make([]byte, n)
	if _, err := io.ReadFull(c, got); err != nil {
		t.Error(err)
	}
	for i, b := range got {
		if b != byte(i) {
			t.Errorf("byte %d is %d", i, b)
		}
	}
}

// A server that closes the connection, and one that is not there.
func TestEnds(t *testing.T) {
	p := start(t, time.Millisecond, 0, func(*net.TCPConn) {})
	gone, err := Listen("127.0.0.1:1", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	for _, p := range []*Proxy{p, gone} {
		if n, err := dial(t, p).Read(make([]byte, 1)); n > 0 || err == nil {
			t.Errorf("read %d bytes, %v", n, err)
		}
	}
}

// Close ends open connections.
func TestClose(t *testing.T) {
	p := start(t, time.Millisecond, 0, func(c *net.TCPConn) { io.Copy(c, c) })
	c := dial(t, p)
	echo(t, c, 1)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if _, err := net.Dial("tcp", p.Address()); err == nil {
		t.Error("the proxy still listens")
	}
}
