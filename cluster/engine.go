package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	neturl "net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster/internal/conf"
)

// An Engine is a connection to a NATS server with JetStream, which has the queue and
// the results. Make one with Connect, or with Open of package embedded. Its methods,
// and the functions that take one, may be called by several goroutines at once.
type Engine struct {
	conf      conf.Config
	nc        *nats.Conn
	js        jetstream.JetStream
	names     names
	stream    map[string]jetstream.Stream // by the last part of its name
	life      context.Context             // ends with Close, by stint.ErrClosed
	close     context.CancelCauseFunc
	once      sync.Once
	gate      sync.RWMutex           // held for reading by who publishes for a run: see send
	restoring atomic.Bool            // streams that are gone
	denied    atomic.Pointer[denial] // what the server did not permit last: it says so beside, and not to who has asked

	mu       sync.Mutex
	handlers map[string]Handler       // by token
	workers  map[*worker]bool         // the calls of Serve that have not returned
	runs     map[*run]bool            // those of this submitter
	agreed   map[string]time.Duration // leases, by token
	served   bool                     // there was one
}

// An Option changes an engine that Connect makes.
type Option func(*conf.Config)

// NATS gives options to the NATS client: credentials, TLS, names. They come after those
// that Connect gives itself, such as reconnecting for ever, and win over them. With an
// ErrorHandler of their own, calls that the server does not permit wait until their contexts end.
func NATS(opts ...nats.Option) Option {
	return func(c *conf.Config) { c.NATS = append(c.NATS, opts...) }
}

// Prefix sets what the names of all streams and subjects begin with; the default is
// "stint". Engines with different prefixes do not see each other. Prefix panics if p
// is not a name as NewTask wants it.
func Prefix(p string) Option {
	p = token("Prefix", p)
	return func(c *conf.Config) { c.Prefix = p }
}

// Memory makes the streams that Connect creates live in the memory of the server: they
// end with it. The default are files. It does not change streams that are there.
func Memory() Option { return func(c *conf.Config) { c.Memory = true } }

// QueueLimit sets how many tasks may be queued or running in the whole engine; the
// default is 65,536. Submitters wait while it is full. It is a property of the streams:
// given to Connect when they are there already, it changes them for everybody. It
// panics if n is less than 1.
func QueueLimit(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("cluster: QueueLimit(%d): want 1 or more", n))
	}
	return func(c *conf.Config) { c.Queue = n }
}

// Replicas sets on how many servers of a NATS cluster everything is kept; the default
// is 1. Like QueueLimit it changes streams that are there. It panics if n is less
// than 1.
func Replicas(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("cluster: Replicas(%d): want 1 or more", n))
	}
	return func(c *conf.Config) { c.Replicas = n }
}

// Keep sets how long tasks that are queued, results, tasks that were put aside, and runs
// whose submitter died are kept; the default is 24 hours. What is waited for longer than that is
// lost, and the run then ends with ErrRunLost; so a run with a Name has to end within it. Like
// QueueLimit it changes streams that are there. It panics if d is less than a minute.
func Keep(d time.Duration) Option {
	if d < expiry {
		panic(fmt.Sprintf("cluster: Keep(%v): want %v or more", d, expiry))
	}
	return func(c *conf.Config) { c.Keep = d }
}

// Log sets where an engine reports what no caller is told, such as a result that could
// not be sent; the default is nowhere. It panics if l is nil.
func Log(l *slog.Logger) Option {
	if l == nil {
		panic("cluster: Log: nil Logger")
	}
	return func(c *conf.Config) { c.Log = l }
}

// Strict makes the workers of this engine difficult on purpose: they delay tasks, so that
// the order changes, and call the function of some twice, one call after the other, the second as after a lost
// lease; the result of either may be the one that counts. What happens to which item
// follows from the seed. It is for tests: a function that is not idempotent fails before
// there is a second machine.
func Strict(seed uint64) Option { return func(c *conf.Config) { c.Strict, c.Seed = true, seed } }

// Connect connects to the NATS server at url, or to one of several with commas between
// them, and creates the streams that are not there yet. When the connection is lost
// later, it is made again, for as long as the engine is open: calls wait for that.
//
// ctx bounds Connect itself only. Connect returns an error when no server can be
// reached, or none with JetStream, and one in which errors.Is finds ErrFull when the server has
// had no room for the streams for half a minute.
func Connect(ctx context.Context, url string, opts ...Option) (*Engine, error) {
	c := conf.Config{Prefix: "stint", Log: slog.New(slog.DiscardHandler)}
	for _, opt := range opts {
		if opt == nil {
			panic("cluster: Connect: nil Option")
		}
		opt(&c)
	}
	e := &Engine{
		conf: c, names: names{c.Prefix}, stream: map[string]jetstream.Stream{},
		handlers: map[string]Handler{}, workers: map[*worker]bool{}, runs: map[*run]bool{}, agreed: map[string]time.Duration{},
	}
	e.life, e.close = context.WithCancelCause(context.Background())
	dial := new(dialer)
	dial.ctx.Store(&ctx)
	nc, err := nats.Connect(url, e.client(dial)...)
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return nil, cause
	}
	if wrong, ok := errors.AsType[*neturl.Error](err); ok {
		err = wrong.Err // the rest is the URL, with its secrets
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: connect to %s: %w", secretless(url), err)
	}
	e.nc = nc
	dial.ctx.Store(&e.life)
	if err = e.open(ctx); err != nil {
		nc.Close()
		return nil, fmt.Errorf("cluster: JetStream at %s: %w", secretless(url), err)
	}
	if c.Opened != nil {
		c.Opened(func(err error) { e.close(fmt.Errorf("%w: %w", stint.ErrClosed, err)) })
	}
	return e, nil
}

// open prepares JetStream.
func (e *Engine) open(ctx context.Context) (err error) {
	e.js, err = jetstream.New(e.nc, jetstream.WithPublishAsyncMaxPending(1<<20), jetstream.WithPublishAsyncTimeout(answerIn))
	if err != nil {
		return err
	}
	err = e.ask(ctx, func(ctx context.Context) error {
		_, err := e.js.AccountInfo(ctx)
		return err
	})
	if err != nil {
		return err
	}
	return e.createStreams(ctx, true)
}

// keep returns how long what belongs to a run is kept.
func (e *Engine) keep() time.Duration { return or(e.conf.Keep, defaultKeep) }

// client returns the options of the NATS client.
func (e *Engine) client(dial *dialer) []nats.Option {
	log := e.conf.Log
	opts := []nats.Option{
		nats.Name("stint"),
		nats.SetCustomDialer(dial),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(time.Second),
		nats.ReconnectBufSize(-1),           // what is sent meanwhile fails at once, and is sent again
		nats.FlusherTimeout(flushIn),        // while a server takes nothing, even Close waits for that
		nats.ReconnectOnFlusherError(),      // half a message may be sent
		nats.PingInterval(10 * time.Second), // a server that is gone without a word is missed after the third
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // not by Close
				log.Warn("cluster: disconnected", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			log.Info("cluster: connected again", "url", secretless(nc.ConnectedUrl()))
		}),
		nats.IgnoreAuthErrorAbort(), // a server may have been started with wrong secrets
		nats.ClosedHandler(func(nc *nats.Conn) {
			e.close(fmt.Errorf("%w: the client of NATS has given up: %w", stint.ErrClosed, or(nc.LastError(), nats.ErrConnectionClosed)))
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				e.denied.Store(&denial{err, time.Now()})
			}
			log.Warn("cluster: the server says", "error", err)
		}),
	}
	return append(append(opts, e.conf.NATS...), ownInbox)
}

// A denial is what the server did not permit, and when it has said so.
type denial struct {
	err error
	at  time.Time
}

// ownInbox makes the answers to a user come to an inbox with its name in it: a server may
// permit nobody else to listen there. Who may listen to "_INBOX.>" may listen to that too.
func ownInbox(o *nats.Options) error {
	name, hasPassword := o.User, o.Password != ""
	for _, server := range o.Servers {
		if !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		if u, err := neturl.Parse(server); err == nil && u.User != nil {
			name = u.User.Username()
			_, hasPassword = u.User.Password() // without one it is a token, which others must not see
			break
		}
	}
	if o.InboxPrefix == "" && hasPassword && conf.Plain(name) {
		o.InboxPrefix = nats.InboxPrefix + name
	}
	return nil
}

// A dialer reaches the server for the client, for as long as its context says: that of
// Connect, and then that of the engine.
type dialer struct {
	ctx atomic.Pointer[context.Context]
}

const (
	dialFor = 5 * time.Second
	flushIn = 10 * time.Second
)

func (d *dialer) Dial(network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialFor}).DialContext(*d.ctx.Load(), network, address)
}

// serving returns the workers of this engine.
func (e *Engine) serving() []*worker {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.workers))
}

// running returns the runs of this engine. When it is closed none comes after that.
func (e *Engine) running() []*run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.runs))
}

// enter makes Close remove the run, until it leaves. The error is that the engine is closed.
func (e *Engine) enter(r *run) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.life.Err() == nil {
		e.runs[r] = true
	}
	return context.Cause(e.life)
}

func (e *Engine) leave(r *run) {
	_ = r.over.Unsubscribe()
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.runs, r)
}

// secretless returns URLs without passwords and tokens, for messages. They need not be
// such that they can be parsed.
func secretless(urls string) string {
	all := strings.Split(urls, ",")
	for i, s := range all {
		scheme, rest, ok := strings.Cut(s, "://")
		if !ok {
			scheme, rest = "nats", s
		}
		all[i] = scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
	}
	return strings.Join(all, ",")
}

// Close ends the connection, and with it what uses the engine: the contexts of the
// tasks that its workers run end, their tasks are given back to the queue, Serve, Map
// and MapSeq return stint.ErrClosed, Serve when these functions have ended. Runs with a
// Name stay where they are, for Resume; others are removed if the server answers now.
// If not, workers drop their tasks when they meet them. Close does not wait for the
// functions that run. That of an embedded engine stops the server, and returns when it has
// stopped. The second Close does nothing.
func (e *Engine) Close() error {
	e.once.Do(func() {
		workers := e.serving()
		for _, w := range workers {
			w.puller.pause() // or the server gives to them what they give back
		}
		e.seal()
		for _, w := range workers {
			w.leases.giveBack()
		}
		_ = stint.Each(context.Background(), e.running(), func(_ context.Context, r *run) error {
			if r.rec.Named {
				r.foreign.Store(true)
			}
			r.erase() // or wait until its end has done that
			return nil
		}, stint.Limit(removals))
		_ = e.nc.FlushTimeout(time.Second) // what is not sent, the leases end
		e.nc.Close()
		if e.conf.Closed != nil {
			e.conf.Closed()
		}
	})
	return nil
}

// Wait waits until the engine is closed, and returns stint.ErrClosed, or until ctx ends,
// and returns its cause. An engine is closed by Close, or by itself when nothing can come
// of it any more: an embedded server has failed for good, or the client of NATS has given
// up. The error then says why.
func (e *Engine) Wait(ctx context.Context) error {
	select {
	case <-e.life.Done():
		return context.Cause(e.life)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// URL returns where others reach the server that this engine is connected to, without
// passwords; empty if it is embedded and does not listen.
func (e *Engine) URL() string {
	if e.conf.Closed != nil {
		return e.conf.Address
	}
	return secretless(e.nc.ConnectedUrl())
}

// Handle makes Serve run the tasks with the name of t. It panics if t is nil, if there
// is a handler with that name already, or if Serve was called already.
func (e *Engine) Handle(t Handler) {
	if v := reflect.ValueOf(t); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		panic("cluster: Handle: nil Handler")
	}
	k := t.about()
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.served:
		panic("cluster: Handle: " + k.name + " after Serve")
	case e.handlers[k.token] != nil:
		panic("cluster: Handle: a second handler of " + k.name)
	}
	e.handlers[k.token] = t
}

// gone returns what a call returns whose engine may have been closed: stint.ErrClosed
// if it was, otherwise err.
func (e *Engine) gone(err error) error {
	if e.life.Err() != nil && err != nil && !errors.Is(err, stint.ErrClosed) {
		return context.Cause(e.life)
	}
	return err
}

// instead returns what a call returns that has failed with err while its context or the
// engine may have ended: the cause of that.
func (e *Engine) instead(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return e.gone(err)
}

func hostname() string {
	h, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return h
}
