package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// background is a command line that runs in this process until it is interrupted.
type background struct {
	t         *testing.T
	first     chan string // the first line; closed without one
	interrupt context.CancelFunc
	done      chan struct{}

	status int
	errs   syncBuilder
}

// syncBuilder is a strings.Builder for several goroutines.
type syncBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuilder) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuilder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// begin runs a command line until the end of the test at the latest. Its first line is
// the first message, or else the first line of its output.
func begin(t *testing.T, messages bool, args ...string) *background {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	b := &background{t: t, first: make(chan string, 1), interrupt: cancel, done: make(chan struct{})}
	out, errs := io.Writer(w), io.Writer(&b.errs)
	if messages {
		out, errs = io.Discard, io.MultiWriter(&b.errs, w)
	}
	go func() {
		defer close(b.done)
		b.status = execute(ctx, args, console.Streams{Stdin: strings.NewReader(""), Stdout: out, Stderr: errs})
		w.Close()
	}()
	go func() {
		defer close(b.first)
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			if !strings.HasPrefix(lines.Text(), "stint: msg=") && len(b.first) == 0 { // not a record of the library's log
				b.first <- lines.Text()
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-b.done
	})
	return b
}

// line returns the first line.
func (b *background) line() string {
	b.t.Helper()
	line, ok := <-b.first
	if !ok {
		b.t.Fatalf("no line; messages %q", &b.errs)
	}
	return line
}

// end interrupts the command, and wants an exit status.
func (b *background) end(want int) {
	b.t.Helper()
	b.interrupt()
	<-b.done
	if b.status != want {
		b.t.Errorf("exit status %d, want %d; messages %q", b.status, want, &b.errs)
	}
}

// child is a command in its own process.
type child struct {
	*exec.Cmd
	lines *bufio.Reader // its messages, or else its output
}

// spawn starts a command, which is killed at the end of the test at the latest.
func spawn(t *testing.T, messages bool, name string, args ...string) *child {
	t.Helper()
	cmd := exec.Command(name, args...)
	pipe := cmd.StdoutPipe
	if messages {
		pipe = cmd.StderrPipe
	}
	r, err := pipe()
	must(t, err)
	if err := cmd.Start(); errors.Is(err, exec.ErrNotFound) {
		t.Skipf("no %s here: %v", name, err)
	} else {
		must(t, err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &child{cmd, bufio.NewReader(r)}
}

// line returns the next line, or what there is of it.
func (p *child) line() string {
	line, _ := p.lines.ReadString('\n')
	return strings.TrimSuffix(line, "\n")
}

// serve runs a server and returns its URL.
func serve(t *testing.T, args ...string) (url string, server *background) {
	t.Helper()
	server = begin(t, false, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	return server.line(), server
}

// withSecret returns url with a user or token.
func withSecret(url, secret string) string { return strings.Replace(url, "//", "//"+secret+"@", 1) }

// worker runs a worker and returns when it is ready.
func worker(t *testing.T, args ...string) *background {
	t.Helper()
	b := begin(t, true, append([]string{"work"}, args...)...)
	if line := b.line(); !strings.HasPrefix(line, "stint: working for ") {
		t.Fatalf("a worker prints %q, want that it works", line)
	}
	return b
}

// state returns the status of the server at url.
func state(t *testing.T, url string) *cluster.Status {
	t.Helper()
	out, errs, code := runStint(t, "", "status", "--json", "--cluster", url)
	s := new(cluster.Status)
	if err := json.Unmarshal([]byte(out), s); code != 0 || err != nil {
		t.Fatalf("status: exit status %d, messages %q, %v", code, errs, err)
	}
	return s
}

// patience is how long a test waits for an event that must come: only a test that hangs waits so
// long, also on a machine that has ten times more to do.
const patience = 5 * time.Minute

// cleanup is how long what is deleted at an end may stay: less than the minute after which the
// server deletes a consumer by itself.
const cleanup = 45 * time.Second

// until waits for a state of the server at url.
func until(t *testing.T, url, what string, wanted func(*cluster.Status) bool) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		s := state(t, url)
		if wanted(s) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after %v, no state in which %s: %+v", patience, what, s)
		}
	}
}

// freeAddress returns a local address at which no program listens. Its port is below those that
// a system assigns by itself, so it is there again for the next server of a test.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		address := fmt.Sprint("127.0.0.1:", 20_000+rand.IntN(12_000))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("no address is free")
	return ""
}

// connect connects a NATS client to the server at url.
func connect(t *testing.T, url string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, natsOptions(t, url)...)
	must(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// natsOptions are those of a client of a server that may have a generated token.
func natsOptions(t *testing.T, url string) []nats.Option {
	t.Helper()
	token, _ := os.ReadFile(tokenPath(t, url[strings.LastIndex(url, ":")+1:]))
	return []nats.Option{nats.Token(string(token)), func(o *nats.Options) error {
		o.TLSConfig = &tls.Config{InsecureSkipVerify: true} // if the server wants TLS
		return nil
	}}
}

// tokenPath returns where a server at that port of this machine writes its token.
func tokenPath(t *testing.T, port string) string {
	t.Helper()
	dir, err := os.UserConfigDir()
	must(t, err)
	machine, err := os.Hostname()
	must(t, err)
	return filepath.Join(dir, "stint", "token-"+port+"@"+machine)
}

// put publishes a message to the server at url.
func put(t *testing.T, url, subject, data string) {
	t.Helper()
	_, err := connect(t, url).Request(subject, []byte(data), patience)
	must(t, err)
}
