package proxy

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// start returns what dials a proxy to a server that echoes the first size bytes of a connection, and what ends the proxy.
func start(t *testing.T, size int64, roundTrip, jitter time.Duration) (dial func() *net.TCPConn, end func()) {
	t.Helper()
	server, front := listen(t), listen(t)
	go func() {
		for c, err := server.Accept(); err == nil; c, err = server.Accept() {
			go func() { io.Copy(c, io.LimitReader(c, size)); c.Close() }()
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { Proxy{server.Addr().String(), roundTrip, jitter}.Serve(ctx, front) })
	return func() *net.TCPConn {
		c, err := net.Dial("tcp", front.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c.(*net.TCPConn)
	}, func() { cancel(); all.Wait() }
}

// Bytes come back intact, in order, and after the end of the client's. No round trip takes less than the delay.
func TestBytesAndHalfClose(t *testing.T) {
	const roundTrip = 5 * time.Millisecond
	dial, end := start(t, 1<<30, roundTrip, time.Millisecond)
	defer end()
	var clients sync.WaitGroup
	for i := range 8 {
		c, sent := dial(), make([]byte, i<<18)
		rand.NewChaCha8([32]byte{byte(i)}).Read(sent)
		clients.Go(func() {
			began := time.Now()
			go func() {
				c.Write(sent)
				c.CloseWrite()
			}()
			got, err := io.ReadAll(c)
			if took := time.Since(began); err != nil || !bytes.Equal(got, sent) || took < roundTrip {
				t.Errorf("got %d bytes after %v, %v; want the %d bytes sent", len(got), took, err, len(sent))
			}
		})
	}
	clients.Wait()
}

// A client sees that a server closes the connection, and that the proxy ends.
func TestEnds(t *testing.T) {
	for name, size := range map[string]int64{"server": 1, "proxy": 1 << 30} {
		dial, end := start(t, size, time.Millisecond, 0)
		c, b := dial(), []byte{1}
		c.Write(b)
		if _, err := io.ReadFull(c, b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "proxy" {
			end()
		}
		if n, err := c.Read(b); n > 0 || err == nil {
			t.Errorf("%s: read %d bytes, %v", name, n, err)
		}
		end()
	}
}
