package main

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// TestWorkerInterrupted wants exit status 0 of a worker, even while the server is away.
func TestWorkerInterrupted(t *testing.T) {
	t.Parallel()
	url, server := serve(t)
	b := worker(t, "--cluster", url)
	b.end(0)
	if !strings.HasSuffix(b.errs.String(), "stint: finishing running tasks; a second interrupt ends them at once\n") {
		t.Errorf("messages %q, want one that it is about to end", &b.errs)
	}
	until(t, url, "the worker is gone", func(s *cluster.Status) bool { return len(s.Workers) == 0 })
	b = worker(t, "--cluster", url)
	server.end(0)
	b.end(0)
}

// TestWorkWaits starts a worker before its server, and restarts the server, which then has
// another token.
func TestWorkWaits(t *testing.T) {
	t.Parallel()
	a := file(t, "a\n")
	address := freeAddress(t)
	url := "nats://" + address
	b := begin(t, true, "work", "--cluster", "nats://"+strings.Replace(address, "127.0.0.1", "localhost", 1))
	if line := b.line(); line != "stint: waiting for a server at nats://localhost:"+address[len("127.0.0.1:"):] {
		t.Errorf("the worker prints %q", line)
	}
	for range 2 {
		server := begin(t, false, "serve", "--listen", address)
		if line := server.line(); line != url {
			t.Fatalf("the server prints %q", line)
		}
		wantRun(t, 0, "  "+a+"\n", "", "sum", a, "--cluster", url)
		server.end(0)
	}
	b.end(0)
	if n := strings.Count(b.errs.String(), "waiting for"); n != 1 {
		t.Errorf("it prints %d times that it waits: %q", n, &b.errs)
	}
}

// TestWorkWaitsForUnknownServer starts workers with host names that do not exist, and with
// ports where another program listens.
func TestWorkWaitsForUnknownServer(t *testing.T) {
	t.Parallel()
	for what, start := range map[string]string{"closes": "", "is none": "HTTP/1.1 502\r\n\r\n", "closes the handshake": "INFO {\"tls_required\":true}\r\n"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, start)
				c.Close()
			}
		}()
		b := begin(t, true, "work", "--cluster", "nats://"+l.Addr().String())
		if line := b.line(); !strings.HasPrefix(line, "stint: waiting for a server at nats://"+l.Addr().String()+": ") {
			t.Errorf("with a port that %s, the worker prints %q", what, line)
		}
		b.end(130)
	}
	for _, url := range []string{"nats://no.such.host.invalid:4222", "ws://no.such.host.invalid:4222"} {
		b := begin(t, true, "work", "--cluster", url)
		if line := b.line(); !strings.HasPrefix(line, "stint: waiting for a server at "+url+": ") {
			t.Errorf("with an unknown host name, the worker prints %q", line)
		}
		b.end(130)
	}
}

// TestWorkDoesNotWait wants permanent errors at once.
func TestWorkDoesNotWait(t *testing.T) {
	t.Chdir(t.TempDir())
	certify(t, ".")
	secure, _ := serve(t, "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	locked, _ := serve(t, "--token", "s3cret")
	for _, args := range [][]string{
		{"--cluster", secure},
		{"--cluster", locked},
		{"--cluster", withSecret(locked, "wr0ng")},
		{"--cluster", locked, "--tls-ca", "cert.pem"},
		{"--cluster", locked, "--credentials", "missing"},
		{"--cluster", "nats://" + freeAddress(t), "--credentials", "key.pem"},
		{"--cluster", "nats://" + freeAddress(t), "--tls-ca", "missing"},
		{"--cluster", "nats://" + freeAddress(t) + ",ws://127.0.0.1:1"},
		{"--cluster", locked, "--tls-ca", "key.pem"},
	} {
		_, errs, code := runStint(t, "", append([]string{"work"}, args...)...)
		if code != 1 || strings.Contains(errs, "waiting") || strings.Contains(errs, "wr0ng") {
			t.Errorf("%q: exit status %d, messages %q; want 1 and no wait", args, code, errs)
		}
	}
}

// TestWorkerWithRoot runs a worker that reads one directory.
func TestWorkerWithRoot(t *testing.T) {
	grow(t)
	url, _ := serve(t)
	b := worker(t, "--cluster", url, "--root", "tree")
	same(t, url, "", "tree", "tree/3/../3/3", "tree/missing")
	testfiles.Write(t, "sums", strings.Repeat("0", 64)+"  tree/missing/3\n")
	same(t, url, "", "-c", "--ignore-missing", "sums")
	_, errs, code := runStint(t, "", "sum", "--cluster", url, "names")
	if want := "stint: names: not below the directory that the worker reads\n"; errs != want || code != 1 {
		t.Errorf("exit status %d, messages %q; want 1, %q", code, errs, want)
	}
	if strings.Contains(b.errs.String(), "WARNING") {
		t.Errorf("messages %q, want no warning", &b.errs)
	}
	until(t, url, "the worker is idle", func(s *cluster.Status) bool { return len(s.Workers) == 1 && s.Workers[0].Running == 0 })
	b.end(0)
	b = worker(t, "--cluster", url)
	b.end(0)
	if !strings.Contains(b.errs.String(), "stint: WARNING: reading every file that user "+userName()+" may read") {
		t.Errorf("messages %q, want a warning", &b.errs)
	}
}
