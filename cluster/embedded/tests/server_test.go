package tests

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/embedded"
)

// A node is a server that is a process: one by itself, or one of a NATS cluster.
type node struct {
	Name   string
	Dir    string // "": in memory
	Port   int
	Route  int   // the port for the other nodes; 0: there are none
	Routes []int // those of all nodes
}

// playServer serves until it gets an interrupt.
func playServer(p part) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if p.Server.Route > 0 {
		return p.Server.join(ctx)
	}
	where := embedded.Memory()
	if p.Server.Dir != "" {
		where = embedded.Dir(p.Server.Dir)
	}
	c, err := embedded.Open(where, embedded.Listen(loopback(p.Server.Port), nil))
	if err != nil {
		return err
	}
	<-ctx.Done()
	return c.Close()
}

// join serves as one of a NATS cluster until ctx ends.
func (n node) join(ctx context.Context) error {
	o := options(n.Dir)
	o.ServerName, o.Port, o.SyncAlways = n.Name, n.Port, true
	o.Cluster = server.ClusterOpts{Name: "tests", Host: "127.0.0.1", Port: n.Route, PoolSize: -1}
	for _, port := range n.Routes {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: loopback(port)})
	}
	s, err := launch(o)
	if err != nil {
		return err
	}
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// options returns those that all servers have in common.
func options(dir string) *server.Options {
	return &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT,
		JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true,
	}
}

// launch starts a server.
func launch(o *server.Options) (*server.Server, error) {
	s, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	go s.Start()
	if !s.ReadyForConnections(patience) {
		return nil, errors.New("the server does not begin")
	}
	return s, nil
}

// loopback is an address of this machine.
func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// newServer starts a server in this process, for one test, and returns its URL.
func newServer(t *testing.T, opts ...func(*server.Options)) string {
	t.Helper()
	o := options(t.TempDir())
	for _, opt := range opts {
		opt(o)
	}
	s, err := launch(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s.ClientURL()
}

// startCluster starts three servers that are one NATS cluster, each a process, and waits
// until they agree. It returns the URLs too.
func startCluster(t *testing.T) (servers []*process, where string) {
	t.Helper()
	ports := freePorts(t, 6)
	var urls []string
	for i, port := range ports[:3] {
		n := node{Name: fmt.Sprint("server", i), Dir: t.TempDir(), Port: port, Route: ports[3+i], Routes: ports[3:]}
		servers = append(servers, start(t, part{Role: "server", Server: n}))
		urls = append(urls, "nats://"+loopback(port))
	}
	where = strings.Join(urls, ",")
	js := look(t, where).js
	eventually(t, "three servers keep a stream", func() bool {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "probe", Storage: jetstream.MemoryStorage, Replicas: 3})
		return err == nil && js.DeleteStream(ctx, "probe") == nil
	})
	return servers, where
}

// freePorts returns ports that nobody listens on. They are below those that a system assigns by
// itself, so no server of another test gets one, with the clients that wait for it.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	var ports []int
	for range 1000 {
		port := 20_000 + rand.IntN(12_000)
		l, err := net.Listen("tcp", loopback(port))
		if err != nil {
			continue
		}
		defer l.Close()
		if ports = append(ports, port); len(ports) == n {
			return ports
		}
	}
	t.Fatal("no port is free")
	return nil
}

// bounded returns a context for what a test does. That it ends means that something hangs.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, fmt.Errorf("the test has waited for %v", patience))
	t.Cleanup(cancel)
	return ctx
}

// greeted gives a busy machine time to make a connection.
var greeted = nats.Timeout(10 * time.Second)

// heartbeat is that of all clients: a fifth of the default, so that dead submitters are noticed
// soon, and not by a machine that is only slow.
const heartbeat = 3 * time.Second

// connect returns a client until the end of the test.
func connect(t *testing.T, where string, opts ...cluster.ClientOption) *cluster.Client {
	t.Helper()
	c, err := cluster.Connect(bounded(t), where, append([]cluster.ClientOption{cluster.NATS(greeted), cluster.Heartbeat(heartbeat)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

// A serving is a worker in this process.
type serving struct {
	cancel context.CancelFunc
	ended  chan error
}

// serve starts a worker with that many slots on e. It is drained at the end of the test,
// if not before.
func serve(t *testing.T, c *cluster.Client, slots int, tasks ...cluster.Handler) *serving {
	t.Helper()
	return serveWith(t, c, cluster.Limit(slots), tasks...)
}

// serveWith is serve with an option instead of a number of slots.
func serveWith(t *testing.T, c *cluster.Client, opt cluster.Option, tasks ...cluster.Handler) *serving {
	t.Helper()
	for _, task := range tasks {
		c.Handle(task)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &serving{cancel: cancel, ended: make(chan error, 1)}
	go func() { s.ended <- cluster.Serve(ctx, c, opt) }()
	t.Cleanup(func() {
		if err := s.drain(t); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

// drain ends the worker and returns what Serve has returned.
func (s *serving) drain(t *testing.T) error {
	t.Helper()
	s.cancel()
	return s.wait(t)
}

// wait waits for the end of the worker.
func (s *serving) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-s.ended:
		s.ended <- err
		return err
	case <-time.After(patience):
		t.Fatal("Serve does not return")
		return nil
	}
}

// A counter looks at the streams of a server.
type counter struct {
	js jetstream.JetStream
}

// look returns a counter for the server at that URL.
func look(t *testing.T, where string) counter {
	t.Helper()
	nc, err := nats.Connect(where, greeted, nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return counter{js}
}

// connected waits until the server is there.
func (c counter) connected(t *testing.T) {
	t.Helper()
	eventually(t, "the server is there", c.js.Conn().IsConnected)
}

// streams returns what is known of the streams, by name. It asks again for a while: servers
// that elect a leader do not answer.
func (c counter) streams(t *testing.T) map[string]*jetstream.StreamInfo {
	t.Helper()
	var all map[string]*jetstream.StreamInfo
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if all, err = c.listStreams(); err == nil {
			return all
		}
	}
	t.Fatalf("streams: %v", err)
	return nil
}

func (c counter) listStreams() (map[string]*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	all := map[string]*jetstream.StreamInfo{}
	lister := c.js.ListStreams(ctx)
	for info := range lister.Info() {
		all[info.Config.Name] = info
	}
	return all, lister.Err()
}

// tasks returns what is known of the stream of tasks, or nil.
func (c counter) tasks(t *testing.T) *jetstream.StreamInfo {
	t.Helper()
	for _, info := range c.streams(t) {
		if info.Config.Retention == jetstream.WorkQueuePolicy {
			return info
		}
	}
	return nil
}

// queued waits until n tasks are queued or running.
func (c counter) queued(t *testing.T, n int) {
	t.Helper()
	eventually(t, fmt.Sprint(n, " tasks are queued"), func() bool {
		info := c.tasks(t)
		return info != nil && info.State.Msgs == uint64(n)
	})
}

// leader returns the name of the server that leads the stream of tasks.
func (c counter) leader(t *testing.T) string {
	t.Helper()
	info := c.tasks(t)
	if info == nil || info.Cluster == nil {
		t.Fatalf("nobody leads the stream of tasks: %+v", info)
	}
	return info.Cluster.Leader
}

// left returns the subjects of the messages left in streams, and whether results have
// consumers other than those of killed submitters, which the server keeps for a minute.
func (c counter) left(t *testing.T, killed int) string {
	t.Helper()
	var out []string
	for name, info := range c.streams(t) {
		if info.State.Msgs > 0 {
			out = append(out, fmt.Sprintf("%d messages in %s: %v", info.State.Msgs, name, c.subjects(t, name)))
		}
		if n := info.State.Consumers; n > killed && name == "stint-results" {
			out = append(out, fmt.Sprintf("%d consumers of %s", n, name))
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// subjects returns those that a stream has messages on.
func (c counter) subjects(t *testing.T, stream string) []string {
	t.Helper()
	s, err := c.js.Stream(bounded(t), stream)
	if err != nil {
		return []string{err.Error()}
	}
	info, err := s.Info(bounded(t), jetstream.WithSubjectFilter(">"))
	if err != nil {
		return []string{err.Error()}
	}
	return slices.Sorted(maps.Keys(info.State.Subjects))
}

// nothingLeft fails the test if something stays on the server.
func (c counter) nothingLeft(t *testing.T) {
	t.Helper()
	c.leftBy(t, 0)
}

// leftBy fails the test if more stays on the server than that many submitters leave that
// were killed.
func (c counter) leftBy(t *testing.T, killed int) {
	t.Helper()
	c.leftWithin(t, killed, cleanup)
}

// leftWithin is leftBy with how long that may take.
func (c counter) leftWithin(t *testing.T, killed int, most time.Duration) {
	t.Helper()
	left := ""
	for deadline := time.Now().Add(most); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if left = c.left(t, killed); left == "" {
			return
		}
	}
	t.Errorf("left on the server: %s", left)
}
