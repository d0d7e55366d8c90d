package server

import (
	"errors"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
)

// TestPeerUser reads the tables of the system for servers at all kinds of addresses.
func TestPeerUser(t *testing.T) {
	for listen, dial := range map[string]string{"127.0.0.1": "127.0.0.1", "::1": "::1", "::": "127.0.0.1", "0.0.0.0": "127.0.0.2"} {
		l, err := net.Listen("tcp", net.JoinHostPort(listen, "0"))
		if err != nil {
			t.Logf("%s: %v", listen, err) // a machine without IPv6
			continue
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		go func() {
			if c, err := l.Accept(); err == nil {
				_, _ = c.Write([]byte("I"))
				defer c.Close()
				_, _ = c.Read(make([]byte, 1))
			}
		}()
		c, err := net.Dial("tcp", net.JoinHostPort(dial, port))
		if err != nil {
			t.Errorf("%s: %v", listen, err)
			continue
		}
		defer c.Close()
		_, _ = c.Read(make([]byte, 1)) // it is accepted
		if uid, ok := peerUser(c); !ok || uid != os.Geteuid() {
			t.Errorf("%s: user %d, %v; want this one", listen, uid, ok)
		}
	}
}

// TestServerOfAnotherUser has clients without a secret dial a server of another user, that of
// the thread that accepts, which root may change. TestNames is for all users.
func TestServerOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root accepts as another user")
	}
	homes(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	defer l.Close()
	sent := make(chan string, 2)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0)
		_ = syscall.SetNonblock(int(file.Fd()), false)
		for range 2 { // a connection each
			fd, _, err := syscall.Accept(int(file.Fd()))
			if err != nil {
				sent <- err.Error()
				return
			}
			_, _ = syscall.Write(fd, []byte("INFO {\"max_payload\":1048576}\r\n"))
			b := make([]byte, 1000)
			n, _ := syscall.Read(fd, b)
			t.Cleanup(func() { syscall.Close(fd) }) // the user of a closed connection is not known
			sent <- string(b[:max(n, 0)])
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	c := &Connection{URL: "nats://127.0.0.1:" + port + ",localhost:" + port}
	_, err = c.Connect(t.Context())
	if err == nil || errors.Is(err, nats.ErrNoServers) || !strings.Contains(err.Error(), "user 65534, and not you") {
		t.Errorf("Connect = %v; want that the server is of another user", err)
	}
	if got := <-sent; got != "" && !strings.HasPrefix(got, "GET / ") {
		t.Errorf("the client sent %q; want nothing", got)
	}
}
