package embedded

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
)

// run starts a supervisor without its watch, until the end of the test.
func run(t *testing.T, opts ...Option) *supervisor {
	t.Helper()
	s := prepare(t, opts...)
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// prepare returns a supervisor that knows the prefix and the log of its client.
func prepare(t *testing.T, opts ...Option) *supervisor {
	t.Helper()
	set, err := collect(opts)
	if err != nil {
		t.Fatal(err)
	}
	s := newSupervisor(set)
	_, _ = cluster.Start(spy{s}, set.client...)
	return s
}

// A spy gives a supervisor the configuration of its client, and does not start it.
type spy struct{ *supervisor }

func (s spy) Start(c cluster.ServerConfig) ([]nats.Option, error) {
	s.prefix, s.log, s.fail = c.Prefix, c.Log, c.Fail
	return nil, errors.New("not now")
}

// fails returns the error of a supervisor that cannot be started.
func fails(t *testing.T, opts ...Option) error {
	t.Helper()
	s := prepare(t, opts...)
	err := s.start()
	if err == nil {
		s.Close()
		t.Fatal("a server that cannot run has started")
	}
	return err
}

// dial connects to a supervisor's server as another process does.
func dial(t *testing.T, h *supervisor, opts ...nats.Option) error {
	t.Helper()
	nc, err := nats.Connect(h.url, append([]nats.Option{nats.Timeout(10 * time.Second)}, opts...)...)
	if err != nil {
		return err
	}
	defer nc.Close()
	_, err = nc.RTT()
	return err
}

// servers returns the stacks of goroutines of servers, clients and clients. It waits
// for them to end, as some tell their owner before they do.
func servers() []string {
	var left []string
	for range 500 {
		left = nil
		buf := make([]byte, 1<<20)
		for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			if strings.Contains(stack, "nats-io") || strings.Contains(stack, "stint/cluster.") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return left
}

// nothingLeft fails the test if a server has left goroutines.
func nothingLeft(t *testing.T) {
	t.Helper()
	if left := servers(); len(left) > 0 {
		t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
	}
}

func TestMemoryLeavesNothing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp) // on Windows
	h := run(t)
	if h.url != "" {
		t.Errorf("it listens at %s", h.url)
	}
	if filepath.Dir(h.dir) != tmp {
		t.Errorf("the directory is %s; want one in %s", h.dir, tmp)
	}
	if got, want := h.server.StoreDir(), filepath.Join(h.dir, "jetstream"); got != want {
		t.Errorf("the server stores in %s; want %s", got, want)
	}
	h.Close()
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left after close: %v, %v", left, err)
	}
	nothingLeft(t)
	h.Close() // does nothing, but does not fail
}

func TestMemoryWritesNoMessages(t *testing.T) {
	h := run(t)
	publish(t, h, jetstream.MemoryStorage, "hunter2")
	err := filepath.WalkDir(h.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "hunter2") {
			t.Errorf("%s has the message", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// publish makes a stream inside the process and puts a message into it.
func publish(t *testing.T, h *supervisor, storage jetstream.StorageType, text string) {
	t.Helper()
	js := inside(t, h)
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "A", Subjects: []string{"a"}, Storage: storage}); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), "a", []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// inside connects to a supervisor's server inside the process.
func inside(t *testing.T, h *supervisor) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect("", h.connectInside, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func TestDirKeeps(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "made yet")
	h := run(t, Dir(dir))
	publish(t, h, jetstream.FileStorage, "here")
	if o := h.options(); !o.SyncAlways {
		t.Error("it does not sync what it confirms")
	}
	h.Close()

	h = run(t, Dir(dir))
	stream, err := inside(t, h).Stream(t.Context(), "A")
	if err != nil {
		t.Fatal(err)
	}
	msg, err := stream.GetMsg(t.Context(), 1)
	if err != nil || string(msg.Data) != "here" {
		t.Errorf("GetMsg = %v, %v; want what was published before", msg, err)
	}
}

func TestDirHasOneServer(t *testing.T) {
	dir := t.TempDir()
	h := run(t, Dir(dir))
	want := fmt.Sprintf("Dir(%q): another server uses this directory", dir)
	if err := fails(t, Dir(dir)); err.Error() != want {
		t.Errorf("the second: %v; want %q", err, want)
	}
	t.Chdir(filepath.Dir(dir))
	if err := fails(t, Dir(filepath.Base(dir))); !strings.Contains(err.Error(), "another server") {
		t.Errorf("by another path: %v", err)
	}
	h.Close()
	run(t, Dir(dir)).Close()
	h.Close() // no longer its own
}

func TestDirThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "jetstream"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := fails(t, Dir(dir)); !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file where the streams belong: %v", err)
	}
	if err := fails(t, Dir(filepath.Join(dir, "jetstream"))); !strings.Contains(err.Error(), "Dir(") {
		t.Errorf("a file: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "jetstream")); err != nil {
		t.Fatal(err)
	}
	run(t, Dir(dir)) // the first attempt has given up the lock
}

func TestPortThatIsTaken(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp)
	l, err := net.Listen("tcp", quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := fails(t, Listen(l.Addr().String(), nil)); !strings.Contains(err.Error(), l.Addr().String()) {
		t.Errorf("the error does not name %v: %v", l.Addr(), err)
	}
	nothingLeft(t)
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left after the error: %v, %v", left, err)
	}
}

func TestMetrics(t *testing.T) {
	l, err := net.Listen("tcp", quiet)
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := fails(t, Metrics(addr), Listen(quiet, nil)); !strings.Contains(err.Error(), addr) {
		t.Errorf("the error does not name %v: %v", addr, err)
	}
	nothingLeft(t)
	l.Close()
	for _, auth := range []Auth{Token("hunter2"), UserPassword("ann", "hunter2"), Users(User{"ann", "hunter2", All})} {
		h := run(t, Metrics(addr), Listen(quiet, auth))
		publish(t, h, jetstream.MemoryStorage, "an item")
		nc, err := nats.Connect(h.url, nats.UserInfo("ann", "hunter2"), nats.Token("hunter2"))
		if err != nil {
			t.Fatal(err)
		}
		showsNoSecret(t, "http://"+addr, "hunter2", "an item", cmp.Or(h.settings.password, "hunter2"))
		nc.Close()
		h.Close()
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			t.Error("it answers after close")
		}
	}
}

// showsNoSecret asks for all that metrics show.
func showsNoSecret(t *testing.T, url string, secrets ...string) {
	t.Helper()
	defer http.DefaultClient.CloseIdleConnections()
	for path, want := range map[string]string{
		"": "varz", "healthz": `"ok"`, "varz": `"jetstream"`, "jsz?accounts=1&streams=1&consumers=1&config=1": `"memory"`, "connz?auth=1&subs=detail": "connections",
		"subsz?subs=1": "num_subscriptions", "accountz?acc=$G": "$G", "accstatz?unused=1": "account", "routez": "routes", "gatewayz": "gateways",
		"leafz": "leaf", "ipqueuesz?all=1": "JetStream", "stacksz": "goroutine", "debug/vars": "cmdline",
	} {
		answer, err := http.Get(url + "/" + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, %v: %s; want %s in it", path, answer.Status, err, text, want)
		}
		for _, secret := range secrets {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s shows %q: %s", path, secret, text)
			}
		}
	}
}

func TestAddress(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ addr, scheme, host string }{
		{"127.0.0.1:0", "nats", "127.0.0.1"},
		{"localhost:0", "nats", "localhost"},
		{"0.0.0.0:0", "nats", machine},
		{":0", "nats", machine},
	} {
		h := run(t, Listen(c.addr, UserPassword("ann", "hunter2")))
		u, err := url.Parse(h.url)
		if err != nil {
			t.Fatal(err)
		}
		if u.Scheme != c.scheme || u.Hostname() != c.host || u.Port() == "0" || u.Port() == "" || u.User != nil {
			t.Errorf("%s: reached at %s; want %s://%s:PORT", c.addr, h.url, c.scheme, c.host)
		}
		h.Close()
	}
}

func TestSecretsAreAsked(t *testing.T) {
	h := run(t, Listen(quiet, Token("open sesame")))
	for _, c := range []struct {
		name string
		opt  nats.Option
		in   bool
	}{
		{"token", nats.Token("open sesame"), true},
		{"wrong token", nats.Token("open barley"), false},
		{"none", nats.Name("x"), false},
		{"user", nats.UserInfo("open sesame", ""), false},
	} {
		if err := dial(t, h, c.opt); c.in != (err == nil) || !c.in && !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("%s: %v; want it to be let in: %v", c.name, err, c.in)
		}
	}
	h = run(t, Listen(quiet, UserPassword("ann", "p:w@")))
	for password, in := range map[string]bool{"p:w@": true, "p:w": false} {
		if err := dial(t, h, nats.UserInfo("ann", password)); in != (err == nil) {
			t.Errorf("password %q: %v; want it to be let in: %v", password, err, in)
		}
	}
	if err := dial(t, run(t, Listen(quiet, nil))); err != nil {
		t.Errorf("without authentication: %v", err)
	}
}

func TestListenerWithTLS(t *testing.T) {
	config, trust := certificate(t)
	h := run(t, Listen(quiet, Token("a")), TLS(config))
	if !strings.HasPrefix(h.url, "tls://127.0.0.1:") {
		t.Errorf("reached at %s; want tls://127.0.0.1:PORT", h.url)
	}
	if err := dial(t, h, nats.Token("a"), nats.Secure(&tls.Config{RootCAs: trust})); err != nil {
		t.Errorf("a client that trusts the certificate: %v", err)
	}
	if err := dial(t, h, nats.Token("a")); !errors.Is(err, nats.ErrTLS) {
		t.Errorf("a client that does not: %v; want an error of TLS", err)
	}
	if err := dial(t, h, nats.Secure(&tls.Config{RootCAs: trust})); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("without the token: %v; want an error of authorization", err)
	}
}

// certificate makes the TLS of a server, and a pool that trusts it.
func certificate(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	cert, trust, err := SelfSigned()
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}}, trust
}

func TestServerReportsToTheLog(t *testing.T) {
	var text strings.Builder
	log := slog.New(slog.NewTextHandler(&text, nil))
	h := run(t, Listen(quiet, UserPassword("ann", "hunter2")), With(cluster.Log(log)))
	h.logger.Warnf("disk %d", 0)
	h.logger.Errorf("disk %d", 1)
	h.Close()
	for _, want := range []string{`level=WARN msg="embedded: disk 0"`, `level=ERROR msg="embedded: disk 1"`} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the log is %q; want %q in it", text.String(), want)
		}
	}
	if strings.Contains(text.String(), "hunter2") || strings.Contains(text.String(), "assword") || strings.Contains(text.String(), "level=INFO") {
		t.Errorf("the log is %q; want neither the password, nor a warning of it, nor what is no news", text.String())
	}
}
