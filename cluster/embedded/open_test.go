package embedded

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cluster"
)

// half is the task of these tests.
var half = cluster.NewTask("half/v1", func(_ context.Context, n int) (int, error) { return n / 2, nil })

// open returns a client until the end of the test.
func open(t *testing.T, opts ...Option) *cluster.Client {
	t.Helper()
	c, err := Open(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// halves runs half on e, and fails the test if its results are wrong.
func halves(t *testing.T, c *cluster.Client) {
	t.Helper()
	c.Handle(half)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- cluster.Serve(ctx, c, cluster.Limit(2)) }()
	out, err := cluster.Map(ctx, c, half, []int{10, 20, 30})
	if err != nil || !slices.Equal(out, []int{5, 10, 15}) {
		t.Errorf("Map = %v, %v; want [5 10 15]", out, err)
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve = %v", err)
	}
}

// temporary makes a directory the one for temporary files, and returns a function that
// fails the test if something is in it.
func temporary(t *testing.T) (empty func()) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("TMP", tmp) // on Windows
	return func() {
		t.Helper()
		if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
			t.Errorf("left in the directory for temporary files: %v, %v", left, err)
		}
	}
}

func TestOpenAndClose(t *testing.T) {
	empty := temporary(t)
	dir := t.TempDir()
	for _, opts := range [][]Option{
		nil,
		{Memory(), Listen(quiet, nil)},
		{Dir(dir)},
		{Dir(dir), Listen(quiet, Token("a"))},
	} {
		c := open(t, opts...)
		halves(t, c)
		for range 2 {
			if err := c.Close(); err != nil {
				t.Errorf("Close = %v", err)
			}
		}
		empty()
		nothingLeft(t)
	}
}

func TestOpenThatFailsLeavesNothing(t *testing.T) {
	empty := temporary(t)
	dir := t.TempDir()
	for _, where := range []Option{Memory(), Dir(dir)} {
		// A server that is alone cannot keep three copies: the client finds that out.
		c, err := Open(where, With(cluster.Replicas(3)))
		if c != nil || err == nil || !strings.HasPrefix(err.Error(), "embedded: ") || !strings.Contains(err.Error(), "replicas") {
			t.Errorf("Open = %v, %v; want an error about replicas", c, err)
		}
		empty()
		nothingLeft(t)
	}
	halves(t, open(t, Dir(dir))) // its lock is free
}

func TestClientWithSecrets(t *testing.T) {
	config, trust := certificate(t)
	client := open(t, Listen(quiet, Token("open sesame")), TLS(config),
		// None of this is for the connection inside.
		With(cluster.NATS(nats.Secure(), nats.UserInfo("ann", "hunter2"), nats.TokenHandler(func() string { return "barley" }))))
	u, err := url.Parse(client.URL())
	if err != nil || u.Scheme != "tls" || u.Hostname() != "127.0.0.1" || u.User != nil {
		t.Errorf("URL = %s, %v; want tls://127.0.0.1:PORT", client.URL(), err)
	}
	for _, c := range []struct {
		name string
		opts []nats.Option
		want error
	}{
		{"all", []nats.Option{nats.Token("open sesame"), nats.Secure(&tls.Config{RootCAs: trust})}, nil},
		{"wrong token", []nats.Option{nats.Token("open barley"), nats.Secure(&tls.Config{RootCAs: trust})}, nats.ErrAuthorization},
		{"no token", []nats.Option{nats.Secure(&tls.Config{RootCAs: trust})}, nats.ErrAuthorization},
		{"no trust", []nats.Option{nats.Token("open sesame")}, nats.ErrTLS},
	} {
		there, err := cluster.Connect(t.Context(), client.URL(), cluster.NATS(c.opts...))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: Connect = %v; want %v", c.name, err, c.want)
		}
		if err == nil {
			halves(t, there)
			there.Close()
		}
	}
}

func TestOptionsReachTheClient(t *testing.T) {
	c := open(t, Listen(quiet, nil), With(cluster.Prefix("mine"), cluster.QueueLimit(7)))
	nc, err := nats.Connect(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := nc.JetStream()
	if err != nil {
		t.Fatal(err)
	}
	limits := map[int64]bool{}
	for s := range js.StreamsInfo() {
		if !strings.Contains(s.Config.Name, "mine") || s.Config.Storage != nats.MemoryStorage {
			t.Errorf("stream %s is in %v; want one of mine, in memory", s.Config.Name, s.Config.Storage)
		}
		limits[s.Config.MaxMsgs] = true
	}
	if !limits[7] {
		t.Error("no stream has the limit of the queue")
	}
}

func TestClosedServerIsNotReached(t *testing.T) {
	client := open(t, Listen(quiet, nil))
	u, err := url.Parse(client.URL())
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
	if c, err := net.Dial("tcp", u.Host); err == nil {
		c.Close()
		t.Error("the server listens after Close")
	}
}
