package tests

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cluster"
)

// A proxy is between a worker and its server, and can be cut.
type proxy struct {
	listener net.Listener
	server   string
	sieve    sieve         // nil: what comes goes on as it came
	over     chan struct{} // closed at the end
	ended    sync.WaitGroup

	mu    sync.Mutex
	cut   bool
	loses bool            // what the server says
	later <-chan struct{} // until that is closed, what the server says waits; nil: it goes on
	conns []net.Conn
}

// newProxy returns a proxy to the server at that URL, with a sieve or nil.
func newProxy(t *testing.T, where string, sieves ...sieve) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, server: strings.TrimPrefix(where, "nats://"), over: make(chan struct{})}
	for _, s := range sieves {
		p.sieve = s
	}
	p.ended.Go(p.accept)
	t.Cleanup(func() {
		l.Close()
		close(p.over)
		p.set(true)
		p.ended.Wait()
	})
	return p
}

// url is where workers reach it.
func (p *proxy) url() string { return "nats://" + p.listener.Addr().String() }

// accept joins each connection with one to the server, until the listener is closed.
func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.server)
		if err != nil {
			near.Close()
			continue
		}
		p.join(delayed{near, p}, far)
		if p.sieve != nil {
			p.ended.Go(func() { p.sift(far, near) })
		} else {
			p.join(far, near)
		}
		p.keep(near, far)
	}
}

// delayed is the connection to a client. It delays messages of the server while the proxy
// says so.
type delayed struct {
	net.Conn
	p *proxy
}

func (d delayed) Write(data []byte) (int, error) {
	d.p.mu.Lock()
	later, loses := d.p.later, d.p.loses
	d.p.mu.Unlock()
	if loses {
		return len(data), nil
	}
	if later != nil {
		select {
		case <-later:
		case <-d.p.over:
		}
	}
	return d.Conn.Write(data)
}

// delay makes messages of the server wait until later is closed.
func (p *proxy) delay(later <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.later = later
}

// lose drops messages of the server until lose(false), or until the proxy is cut.
func (p *proxy) lose(loses bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loses = loses
}

// join copies the data between two connections.
func (p *proxy) join(to io.WriteCloser, from net.Conn) {
	p.ended.Go(func() {
		io.Copy(to, from)
		to.Close()
	})
}

// keep adds connections, and ends them if it is cut.
func (p *proxy) keep(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, conns...)
	p.end()
}

// set cuts the proxy, which ends all connections at once, or mends it.
func (p *proxy) set(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = cut
	p.loses = p.loses && !cut
	p.end()
}

// end ends all connections if the proxy is cut. mu is held.
func (p *proxy) end() {
	if !p.cut {
		return
	}
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

// A run is cancelled while a worker is cut off. When it is back it finds out, and ends
// the function.
func TestCanceledWhileCutOff(t *testing.T) {
	t.Parallel()
	where, j := newServer(t), newJournal(t)
	p := newProxy(t, where)
	task := newTask(j, cluster.Lease(patience))
	w := connect(t, p.url(), cluster.NATS(nats.ReconnectWait(20*time.Millisecond)))
	serve(t, w, 2, task)
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(bounded(t))
	client := connect(t, where)
	c := begin(ctx, client, task, items(2, item{Do: "wait", Gate: "never"}))
	j.seen(t, 2, "begun", is("begin"))
	p.set(true)
	cancel(gone)
	c.fails(t, gone)
	equal(t, "functions that have ended while nobody could tell them", count(j.events(t), is("end")), 0)
	p.set(false)
	j.seen(t, 2, "ended", is("end"))
	ended(t, j)
	begin(bounded(t), client, task, items(5, item{})).succeed(t, 5)
	look(t, where).nothingLeft(t)
}

// beating sets the heartbeat of runs, and makes the NATS client connect again at once.
func beating(every time.Duration) []cluster.ClientOption {
	return []cluster.ClientOption{cluster.Heartbeat(every), cluster.NATS(nats.ReconnectWait(20 * time.Millisecond))}
}

// Results are lost on the way to a submitter, and no message follows them. The submitter
// reconnects, or the connection stays. The results arrive.
func TestResultsAreLost(t *testing.T) {
	t.Parallel()
	for cut, heartbeat := range map[bool]time.Duration{true: time.Hour, false: 300 * time.Millisecond} {
		t.Run(fmt.Sprint("cut ", cut), func(t *testing.T) {
			t.Parallel()
			const n = 20
			where, j := newServer(t), newJournal(t)
			p := newProxy(t, where)
			serve(t, connect(t, where), n, newTask(j))
			client, counter := connect(t, p.url(), beating(heartbeat)...), look(t, where)
			c := begin(bounded(t), client, newTask(j), items(n, item{Do: "wait", Gate: "end"}))
			j.seen(t, n, "begun", is("begin"))
			eventually(t, "the submitter asks for results", func() bool { return counter.listeners(t).requests > 0 })
			p.lose(true)
			j.open(t, "end")
			eventually(t, "all results were sent", func() bool { return counter.listeners(t).sent >= n })
			if cut {
				p.set(true)
				p.set(false)
			} else {
				p.lose(false)
			}
			c.succeed(t, n)
			counter.nothingLeft(t)
		})
	}
}

// A submitter reads slowly, and its results are larger than the server's buffer for a
// client. The server does not drop it.
func TestLargeResultsAreReadSlowly(t *testing.T) {
	t.Parallel()
	const n, size, pending = 120, 1 << 18, 8 << 20
	where, j := newServer(t, func(o *server.Options) { o.MaxPending = pending }), newJournal(t)
	p := newProxy(t, where)
	serve(t, connect(t, where), 8, newTask(j))
	var disconnected atomic.Int64
	client := connect(t, p.url(), cluster.NATS(nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
		if err != nil { // not by Close
			disconnected.Add(1)
		}
	})))
	counter, read := look(t, where), make(chan struct{})
	c := begin(bounded(t), client, newTask(j), items(n, item{Do: "big", Gate: "delayed", Size: size}))
	eventually(t, "the submitter asks for results", func() bool { return counter.listeners(t).requests > 0 })
	p.delay(read)
	j.open(t, "delayed")
	eventually(t, "more results are there than the server keeps for a client", func() bool { return counter.kept(t) > 2*pending/size })
	close(read)
	c.succeed(t, n)
	equal(t, "how often the server has given the submitter up", disconnected.Load(), 0)
	counter.nothingLeft(t)
}

// A worker reads slowly, and the items for its slots are larger than the server's buffer
// for a client. The server does not drop it.
func TestLargeItemsAreReadSlowly(t *testing.T) {
	t.Parallel()
	const n, size, pending = 200, 1 << 18, 32 << 20
	where, j := newServer(t, func(o *server.Options) { o.MaxPending = pending }), newJournal(t)
	p := newProxy(t, where)
	var disconnected atomic.Int64
	client := connect(t, p.url(), cluster.NATS(nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
		if err != nil { // not by Close
			disconnected.Add(1)
		}
	})))
	serve(t, client, n, newTask(j))
	counter, read := look(t, where), make(chan struct{})
	counter.workers(t)
	eventually(t, "the worker asks for tasks", func() bool { return counter.consumer(t, "work=v1").CachedInfo().NumWaiting > 0 })
	p.delay(read)
	c := begin(bounded(t), connect(t, where), newTask(j), items(n, item{Text: strings.Repeat("x", size)}))
	counter.queued(t, n)
	close(read)
	c.succeed(t, n)
	equal(t, "how often the server has given the worker up", disconnected.Load(), 0)
	counter.nothingLeft(t)
}

// listeners are the consumers of results: how many requests there are, and how many
// messages one of them has sent at most.
type listeners struct{ requests, sent int }

func (c counter) listeners(t *testing.T) (all listeners) {
	t.Helper()
	s, err := c.js.Stream(bounded(t), "stint-results")
	if err != nil {
		return all
	}
	for info := range s.ListConsumers(bounded(t)).Info() {
		all.requests += info.NumWaiting
		all.sent = max(all.sent, int(info.Delivered.Consumer))
	}
	return all
}

// The server is away when a client makes a request, and for a moment after that, or when it calls
// the function. Each function waits for it: first requests as later ones do.
func TestServerIsAwayAtARequest(t *testing.T) {
	t.Parallel()
	one := func(ctx context.Context, c *cluster.Client, j journal, opts ...cluster.Option) error {
		_, err := cluster.Map(ctx, c, newTask(j), items(1, item{}), opts...)
		return err
	}
	requests := []int{0, 1, 3, 6}
	if testing.Short() {
		requests = []int{0, 2}
	}
	for name, call := range map[string]func(ctx context.Context, c *cluster.Client, j journal) error{
		"Map":       func(ctx context.Context, c *cluster.Client, j journal) error { return one(ctx, c, j) },
		"Map limit": func(ctx context.Context, c *cluster.Client, j journal) error { return one(ctx, c, j, cluster.Limit(1)) },
		"MapSeq": func(ctx context.Context, c *cluster.Client, j journal) error {
			for _, err := range cluster.MapSeq(ctx, c, newTask(j), slices.Values(items(2, item{}))) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"Resume": func(ctx context.Context, c *cluster.Client, j journal) error {
			for _, err := range cluster.Resume(ctx, c, newTask(j), "left") {
				if err != nil && !errors.Is(err, cluster.ErrIncomplete) {
					return err
				}
			}
			return nil
		},
		"Cancel": func(ctx context.Context, c *cluster.Client, j journal) error { return c.Cancel(ctx, "left") },
		"Purge": func(ctx context.Context, c *cluster.Client, j journal) error {
			_, err := c.Purge(ctx)
			return err
		},
		"Status": func(ctx context.Context, c *cluster.Client, j journal) error {
			s, err := c.Status(ctx)
			if err == nil && (len(s.Runs) != 1 || len(s.Tasks) != 1 || len(s.Workers) != 1 || len(s.DeadLetters) != 1 || s.Store != "") {
				err = fmt.Errorf("got %+v", s)
			}
			return err
		},
		"Health": func(ctx context.Context, c *cluster.Client, j journal) error {
			s, err := c.Health(ctx)
			if err == nil && (len(s.Workers) != 1 || s.Store != "") {
				err = fmt.Errorf("got %+v", s)
			}
			return err
		},
		"DeadLetters": func(ctx context.Context, c *cluster.Client, j journal) error {
			n := 0
			for _, err := range c.DeadLetters(ctx) {
				if err != nil {
					return err
				}
				n++
			}
			if n != 1 {
				return fmt.Errorf("%d dead letters", n)
			}
			return nil
		},
		"DropDeadLetter":  func(ctx context.Context, c *cluster.Client, j journal) error { return c.DropDeadLetter(ctx, "dead/0") },
		"RetryDeadLetter": func(ctx context.Context, c *cluster.Client, j journal) error { return c.RetryDeadLetter(ctx, "dead/0") },
		"Serve": func(ctx context.Context, c *cluster.Client, j journal) error {
			task := named("served/v1", j)
			c.Handle(task)
			serving, stop := context.WithCancel(ctx)
			ended := make(chan error)
			go func() { ended <- cluster.Serve(serving, c) }()
			_, err := cluster.Map(ctx, c, task, items(3, item{}))
			stop()
			return errors.Join(err, <-ended)
		},
	} {
		for _, k := range requests {
			t.Run(fmt.Sprint(name, " ", k), func(t *testing.T) {
				t.Parallel()
				where, j := newServer(t), newJournal(t)
				serve(t, connect(t, where), 2, newTask(j))
				left := connect(t, where)
				c := begin(bounded(t), left, newTask(j), items(1, item{Do: "wait", Gate: "left"}), cluster.Name("left"))
				j.seen(t, 1, "begun", is("begin"))
				left.Close()
				<-c.done
				j.open(t, "left")
				look(t, where).publish(t, "stint.dead.dead.0", `{"id":"dead/0","input":"e30="}`)

				var armed atomic.Bool
				var n atomic.Int64
				var p *proxy
				away := func() {
					armed.Store(false)
					p.set(true)
					time.AfterFunc(moment, func() { p.set(false) })
				}
				p = newProxy(t, where, func(string, string) <-chan struct{} {
					if armed.Load() && n.Add(1) == int64(k) {
						away()
					}
					return nil
				})
				gone := make(chan struct{})
				client := connect(t, p.url(), cluster.NATS(nats.ReconnectWait(20*time.Millisecond), nats.ReconnectJitter(0, 0),
					nats.DisconnectErrHandler(func(*nats.Conn, error) {
						if k == 0 && armed.Load() {
							armed.Store(false)
							close(gone)
						}
					})))
				armed.Store(true)
				if k == 0 {
					p.set(true)
					<-gone
					time.AfterFunc(moment, func() { p.set(false) })
				}
				err := call(bounded(t), client, j)
				if refused := name == "RetryDeadLetter" && err != nil && strings.Contains(err.Error(), "it is over"); err != nil && !refused {
					t.Error(err)
				}
			})
		}
	}
}
