package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	neturl "net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
)

const (
	dialTimeout  = 5 * time.Second
	flushTimeout = 10 * time.Second
)

// Connect connects to the NATS server at url, or to one of several servers separated by commas,
// and creates the streams that do not exist. When the connection is lost later, the client
// connects again until it is closed. Calls wait for the new connection.
//
// ctx bounds Connect only. Connect returns an error if it reaches no server with JetStream. It
// returns ErrFull if the server had no room for the streams for the time of FullTimeout.
func Connect(ctx context.Context, url string, opts ...ClientOption) (*Client, error) {
	c := newClient(configure("Connect", opts))
	if err := c.connect(ctx, url); err != nil {
		return nil, err
	}
	return c, nil
}

// connect connects a new client. After an error the client is closed.
func (c *Client) connect(ctx context.Context, url string) (err error) {
	dial := new(dialer)
	dial.ctx.Store(&ctx)
	c.nc, err = nats.Connect(url, c.natsOptions(dial)...)
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return cause
	}
	if wrong, ok := errors.AsType[*neturl.Error](err); ok {
		err = wrong.Err // the rest is the URL, with its secrets
	}
	if err != nil {
		return fmt.Errorf("cluster: connect to %s: %w", withoutSecrets(url), err)
	}
	dial.ctx.Store(&c.life)
	if err = c.open(ctx); err != nil {
		c.nc.Close()
		return fmt.Errorf("cluster: JetStream at %s: %w", withoutSecrets(url), err)
	}
	return nil
}

// open makes sure that the server has JetStream and the streams.
func (c *Client) open(ctx context.Context) (err error) {
	c.js, err = jetstream.New(c.nc, jetstream.WithPublishAsyncMaxPending(1<<20), jetstream.WithPublishAsyncTimeout(requestTimeout))
	if err != nil {
		return err
	}
	err = c.request(ctx, func(ctx context.Context) error {
		info, err := c.js.AccountInfo(ctx)
		if err == nil {
			c.limits = limitsOf(info, or(c.conf.replicas, 1))
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.openStreams(ctx)
}

// natsOptions returns the options of the NATS client.
func (c *Client) natsOptions(dial *dialer) []nats.Option {
	log := c.conf.log
	opts := []nats.Option{
		nats.Name("stint"),
		nats.SetCustomDialer(dial),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(time.Second),
		nats.ReconnectBufSize(-1),           // without a connection a publication fails at once, and is retried
		nats.FlusherTimeout(flushTimeout),   // Close too waits that long for a server that reads nothing
		nats.ReconnectOnFlusherError(),      // half a message may have been sent
		nats.PingInterval(10 * time.Second), // a silent server is given up after the third ping
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // not by Close
				log.Warn("cluster: disconnected", "error", err)
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			log.Info("cluster: connected again", "url", withoutSecrets(nc.ConnectedUrl()))
		}),
		nats.IgnoreAuthErrorAbort(), // a server may have been started with wrong secrets
		nats.ClosedHandler(func(nc *nats.Conn) {
			c.end(fmt.Errorf("%w: the NATS client has given up: %w", stint.ErrClosed, or(nc.LastError(), nats.ErrConnectionClosed)))
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				c.denied.Store(&denial{err, time.Now()})
			}
			log.Warn("cluster: error of the server", "error", err)
		}),
	}
	return append(append(opts, c.conf.nats...), userInbox)
}

// A denial is the last error by which the server has refused permission. The server sends
// such errors on the connection, not in the answer to a request.
type denial struct {
	err error
	at  time.Time
}

// userInbox puts the name of the user into the subject of the answers to it, so that a
// server can permit no other user to subscribe there.
func userInbox(o *nats.Options) error {
	name, hasPassword := o.User, o.Password != ""
	for _, server := range o.Servers {
		if !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		if u, err := neturl.Parse(server); err == nil && u.User != nil {
			name = u.User.Username()
			_, hasPassword = u.User.Password() // without a password the name is a token, a secret
			break
		}
	}
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" // in a subject as they are
	if o.InboxPrefix == "" && hasPassword && name != "" && strings.Trim(name, plain) == "" {
		o.InboxPrefix = nats.InboxPrefix + name
	}
	return nil
}

// A dialer dials the server until its context ends: first the context of Connect, later the
// life of the client.
type dialer struct {
	ctx atomic.Pointer[context.Context]
}

// Dial implements nats.CustomDialer.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTimeout}).DialContext(*d.ctx.Load(), network, address)
}

// withoutSecrets returns URLs without passwords and tokens, for messages. The URLs need
// not be valid.
func withoutSecrets(urls string) string {
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
