// Package server connects to the server of a cluster, runs one, and prints its state.
package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// TokenVariable is the environment variable that holds the token of the server: every
// user of the machine can see a command line.
const TokenVariable = "STINT_TOKEN"

// ClusterVariable is the environment variable that holds the default of --cluster.
const ClusterVariable = "STINT_CLUSTER"

// Environ returns the environment for jobs, without the secrets of this command.
func Environ() []string {
	var env []string
	for _, variable := range os.Environ() {
		switch name, value, _ := strings.Cut(variable, "="); {
		case strings.EqualFold(name, TokenVariable): // on Windows the name may have other letters
		case strings.EqualFold(name, ClusterVariable):
			c := Connection{URL: value}
			env = append(env, name+"="+c.Public())
		default:
			env = append(env, variable)
		}
	}
	return env
}

const retryInterval = time.Second // between two attempts to reach a server

// Connection says where the server is, and how to log in.
type Connection struct {
	URL         string // or several, separated by commas
	Credentials string // a file with NATS credentials, or ""
	CA          string // a file with certificate authorities, or ""
}

// Validate refuses a URL that cannot be the address of a server. The error does not
// repeat the URL: it may contain a password.
func (c *Connection) Validate() error {
	if c.URL == "" {
		return errors.New("the --cluster option needs the URL of a server, such as nats://127.0.0.1:4222")
	}
	for part := range strings.SplitSeq(c.URL, ",") {
		u, err := parse(part)
		if err != nil || u.Hostname() == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return errors.New("invalid URL for --cluster: want one such as nats://host:4222, or several separated by commas")
		}
	}
	return nil
}

// parse parses one URL, whose scheme may be missing.
func parse(part string) (*url.URL, error) {
	if part = strings.TrimSpace(part); !strings.Contains(part, "://") {
		part = "nats://" + part
	}
	return url.Parse(part)
}

// isLoopback reports whether only this machine can reach host.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// Connect connects to the server.
func (c *Connection) Connect(ctx context.Context, opts ...cluster.ClientOption) (*cluster.Client, error) {
	return c.Await(ctx, nil, opts...)
}

// Await is Connect, but unless con is nil it waits for a server that is not there yet, and says so
// once.
func (c *Connection) Await(ctx context.Context, con *console.Console, opts ...cluster.ClientOption) (*cluster.Client, error) {
	login, err := c.options()
	if err != nil {
		return nil, c.Failed(err)
	}
	opts = append(opts, cluster.NATS(login...))
	for told := false; ; told = true {
		client, err := cluster.Connect(ctx, c.URL, opts...)
		if err == nil {
			return client, nil
		}
		if con == nil || isPermanent(err) {
			return nil, c.Failed(err)
		}
		if !told {
			why := ""
			if inner := errors.Unwrap(err); inner != nil && !errors.Is(err, nats.ErrNoServers) { // otherwise no program listens
				why = ": " + inner.Error()
			}
			con.Message("waiting for a server at " + c.Public() + why)
		}
		select {
		case <-time.After(retryInterval):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// isPermanent reports whether waiting does not help against err: the server has refused. Any
// other error may mean that the server or a network is not there yet.
func isPermanent(err error) bool {
	if _, other := errors.AsType[otherServerError](err); other {
		return true
	}
	if errors.Is(err, nats.ErrTLS) {
		return !isDisconnect(err)
	}
	_, answer := errors.AsType[jetstream.JetStreamError](err)
	return answer || slices.ContainsFunc([]error{
		nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired, nats.ErrPermissionViolation,
		nats.ErrSecureConnRequired, nats.ErrSecureConnWanted, nats.ErrMixingWebsocketSchemes, cluster.ErrFull,
	}, func(target error) bool { return errors.Is(err, target) })
}

// isDisconnect reports whether a handshake failed because the connection ended, and not
// because one side refused the other.
func isDisconnect(err error) bool {
	broken, ok := errors.AsType[net.Error](err)
	_, errno := errors.AsType[syscall.Errno](err)
	return errno || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || ok && broken.Timeout()
}

// readLogin reads the credentials that opts name, as the client does once it has reached a
// server.
func readLogin(opts []nats.Option) error {
	var o nats.Options
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return err
		}
	}
	if o.UserJWT == nil {
		return nil
	}
	_, err := o.UserJWT()
	if err == nil {
		_, err = o.SignatureCB(nil)
	}
	return err
}

// options returns the options of a NATS client of the server.
func (c *Connection) options() ([]nats.Option, error) {
	opts := []nats.Option{nats.Name("stint")}
	if token := os.Getenv(TokenVariable); token != "" {
		opts = append(opts, nats.Token(token)) // a secret in the URL takes precedence
	} else if c.Credentials == "" {
		opts = append(opts, c.login)
	}
	if c.Credentials != "" {
		opts = append(opts, nats.UserCredentials(c.Credentials))
	}
	if c.CA != "" {
		opts = append(opts, nats.RootCAs(c.CA))
	}
	return opts, readLogin(opts)
}

// login sets the options for URLs without a secret: see login. With a secret in one of them the
// user says which servers are right.
func (c *Connection) login(o *nats.Options) error {
	ws := false
	for part := range strings.SplitSeq(c.URL, ",") {
		u, err := parse(part)
		if err != nil || u.User.Username() != "" {
			return err
		}
		ws = ws || u.Scheme == "ws" || u.Scheme == "wss"
	}
	l := &login{CustomDialer: o.CustomDialer, trusted: c.CA != ""}
	if l.CustomDialer == nil {
		l.CustomDialer = &net.Dialer{Timeout: o.Timeout}
	}
	o.CustomDialer, o.TokenHandler = l, l.token
	if c.CA == "" && !ws { // with a configuration the client uses TLS for ws:// too
		o.TLSConfig = l.tls()
	}
	return nil
}

// Failed returns err as a message that names the servers, without the secrets in their
// URLs, and says how to mend it.
func (c *Connection) Failed(err error) error {
	text := err.Error()
	for part := range strings.SplitSeq(c.URL, ",") {
		text = strings.ReplaceAll(text, part, public(part))
	}
	if where := c.Public(); !strings.Contains(text, where) {
		text = where + ": " + text
	}
	switch {
	case errors.Is(err, nats.ErrNoServers):
		text += `: is "stint serve" running there?`
	case errors.Is(err, nats.ErrAuthorization):
		text += ": give the token of the server in " + TokenVariable + ", or be the user that started it"
	}
	return console.Failure(text)
}

// secrets are what comes before the host in URLs, whose scheme may be missing.
var secrets = regexp.MustCompile(`(^|,)( *[A-Za-z]+://)?[^,]*@`)

// public returns URLs without users, passwords and tokens.
func public(urls string) string { return secrets.ReplaceAllString(urls, "$1$2") }

// Public returns the URLs without users, passwords and tokens.
func (c *Connection) Public() string { return public(c.URL) }
