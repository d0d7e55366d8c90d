package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
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
		if uid, ok := peerUser(c, "/proc/net/"); !ok || uid != os.Geteuid() {
			t.Errorf("%s: user %d, %v; want this one", listen, uid, ok)
		}
		dir := t.TempDir() + "/"
		local, remote := netip.MustParseAddrPort(c.LocalAddr().String()), netip.MustParseAddrPort(c.RemoteAddr().String())
		table := fmt.Sprintf("  sl  local_address rem_address   st\n   0: %s %s 01 0 0 0 0 0 0\n   1: %[1]s %[2]s 01 0 0 0 65534 0 5\n", inTable(remote, "tcp6"), inTable(local, "tcp6"))
		if err := os.WriteFile(dir+"tcp6", []byte(table), 0o600); err != nil {
			t.Fatal(err)
		}
		if uid, ok := peerUser(c, dir); !ok || uid != 65534 {
			t.Errorf("%s: user %d, %v; want the one of the table", listen, uid, ok)
		}
	}
}

// TestServerOfAnotherUser has clients without a secret dial a server of another user, that of
// the thread that accepts, which root may change. TestNames is for all users.
func TestServerOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root accepts as another user")
	}
	for _, url := range []string{"nats://127.0.0.1:P", "nats://127.0.0.1:P,nats://127.0.0.1:P", "nats://LOCALHOST:P", "ws://127.0.0.1:P"} {
		t.Run(url, func(t *testing.T) { testServerOfAnotherUser(t, url) })
	}
}

func testServerOfAnotherUser(t *testing.T, url string) {
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
		for range strings.Count(url, ":P") { // a connection each
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
	c := &Connection{URL: strings.ReplaceAll(url, ":P", ":"+port)}
	_, err = c.Connect(t.Context())
	if err == nil || errors.Is(err, nats.ErrNoServers) || !strings.Contains(err.Error(), "user 65534, and not you") {
		t.Errorf("Connect = %v; want that the server is of another user", err)
	}
	if got := <-sent; got != "" && !strings.HasPrefix(got, "GET / ") {
		t.Errorf("the client sent %q; want nothing", got)
	}
}
