package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stint-go/stint/cluster"
)

// tokenVariable and clusterVariable are read from the environment: a command line
// can be seen by every user of the machine.
const (
	tokenVariable   = "STINT_TOKEN"
	clusterVariable = "STINT_CLUSTER"
)

// connection is the flags that say where the server is, and how to reach it.
type connection struct {
	url         string
	credentials string
	ca          string
}

func (c *connection) addFlags(f *pflag.FlagSet, usage string) {
	f.StringVar(&c.url, "cluster", "", usage)
	f.StringVar(&c.credentials, "credentials", "", "log in to the server with the NATS credentials in `FILE`")
	f.StringVar(&c.ca, "tls-ca", "", "trust the certificate authorities in `FILE` (PEM), and want TLS")
}

// addTo gives the flags to a command that is about nothing else, and what such commands have
// in common.
func (c *connection) addTo(cmd *cobra.Command) *pflag.FlagSet {
	helpWithStatus(cmd)
	f := cmd.Flags()
	f.SortFlags = false
	c.addFlags(f, clusterUsage)
	complete(cmd, "cluster")
	return f
}

// open reaches the server that the command line or the environment names.
func (c *connection) open(cmd *cobra.Command) (*cluster.Engine, error) {
	if err := c.complete(cmd.Flags()); err != nil {
		return nil, &usageError{cmd.CommandPath(), err.Error()}
	}
	return c.connect(cmd.Context())
}

// complete takes from the environment what the command line does not say, and
// refuses what is wrong.
func (c *connection) complete(f *pflag.FlagSet) error {
	if !f.Changed("cluster") {
		c.url = os.Getenv(clusterVariable)
	}
	if c.url == "" {
		return errors.New("where is the server? give --cluster or " + clusterVariable + " a URL, such as nats://127.0.0.1:4222")
	}
	return c.validate(f)
}

// validate refuses what cannot be an address of a server. It does not repeat what
// was given: there may be a password in it.
func (c *connection) validate(f *pflag.FlagSet) error {
	if err := refuseEmpty(f, "credentials", "tls-ca"); err != nil {
		return err
	}
	if c.url == "" {
		return errors.New("the --cluster option needs the URL of a server, such as nats://127.0.0.1:4222")
	}
	for part := range strings.SplitSeq(c.url, ",") {
		part = strings.TrimSpace(part)
		if !strings.Contains(part, "://") {
			part = "nats://" + part
		}
		u, err := url.Parse(part)
		if err != nil || u.Hostname() == "" || !isPort(u.Port()) || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return errors.New("invalid URL for --cluster: want one such as nats://host:4222, or several with commas between them")
		}
	}
	return nil
}

// isPort reports whether a URL may have that port. It need not have one.
func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return s == "" || err == nil
}

// connect reaches the server, or says why not.
func (c *connection) connect(ctx context.Context, more ...cluster.Option) (*cluster.Engine, error) {
	e, err := c.reach(ctx, more...)
	if err != nil {
		return nil, c.failed(err)
	}
	return e, nil
}

// await is connect that waits for a server which is not there yet.
func (c *connection) await(ctx context.Context, con *console, more ...cluster.Option) (*cluster.Engine, error) {
	for told := false; ; told = true {
		e, err := c.reach(ctx, more...)
		if err == nil {
			return e, nil
		}
		if lasting(err) {
			return nil, c.failed(err)
		}
		if !told {
			con.message("waiting for a server at " + c.public() + why(err))
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// lasting reports whether to wait does not help against err: a file or the server has
// refused. All else may be a server, or a network, that is not there yet.
func lasting(err error) bool {
	if errors.Is(err, nats.ErrTLS) {
		return !interrupted(err)
	}
	_, file := errors.AsType[*fileError](err)
	_, answer := errors.AsType[jetstream.JetStreamError](err)
	return file || answer || slices.ContainsFunc([]error{
		nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired, nats.ErrPermissionViolation,
		nats.ErrSecureConnRequired, nats.ErrSecureConnWanted, nats.ErrMixingWebsocketSchemes, cluster.ErrFull,
	}, func(target error) bool { return errors.Is(err, target) })
}

// interrupted reports whether a handshake has ended since the connection did, rather than
// by what one side thinks of the other.
func interrupted(err error) bool {
	broken, ok := errors.AsType[net.Error](err)
	_, errno := errors.AsType[syscall.Errno](err)
	return errno || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || ok && broken.Timeout()
}

// why is what is added to the message of a wait for err: nothing if nobody listens.
func why(err error) string {
	inner := errors.Unwrap(err)
	if inner == nil || errors.Is(err, nats.ErrNoServers) {
		return ""
	}
	return ": " + oneLine(inner.Error())
}

// fileError is the error of a file with secrets or certificates.
type fileError struct{ err error }

func (e *fileError) Error() string { return e.err.Error() }

// check reads the files that opts name, as the client would when it has reached a server.
func check(opts []nats.Option) error {
	var o nats.Options
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return &fileError{err}
		}
	}
	if o.UserJWT == nil {
		return nil
	}
	_, err := o.UserJWT()
	if err == nil {
		_, err = o.SignatureCB(nil)
	}
	if err != nil {
		return &fileError{err}
	}
	return nil
}

// reach connects to the server.
func (c *connection) reach(ctx context.Context, more ...cluster.Option) (*cluster.Engine, error) {
	opts := []nats.Option{nats.Name("stint")}
	host, port, local := c.local()
	switch token := os.Getenv(tokenVariable); {
	case token != "":
		opts = append(opts, nats.Token(token)) // what is in the URL counts more
	case local && c.credentials == "":
		// Read for each connection: a server that was started again has another one.
		opts = append(opts, nats.TokenHandler(func() string { token, _ := localToken(host, port); return token }))
	}
	if c.credentials != "" {
		opts = append(opts, nats.UserCredentials(c.credentials))
	}
	if c.ca != "" {
		opts = append(opts, nats.RootCAs(c.ca))
	}
	if err := check(opts); err != nil {
		return nil, err
	}
	return cluster.Connect(ctx, c.url, append(more, cluster.NATS(opts...))...)
}

// local returns the address of the server, if it is one on this machine and the URL has no
// secret.
func (c *connection) local() (host, port string, ok bool) {
	where := c.url
	if !strings.Contains(where, "://") {
		where = "nats://" + where
	}
	u, err := url.Parse(where)
	if err != nil || u.User != nil || strings.Contains(where, ",") || !loopback(u.Hostname()) {
		return "", "", false
	}
	return u.Hostname(), cmp.Or(u.Port(), "4222"), true
}

// failed makes err one that names the servers and none of the secrets in their URLs.
func (c *connection) failed(err error) error {
	text := err.Error()
	for part := range strings.SplitSeq(c.url, ",") {
		text = strings.ReplaceAll(text, part, public(part))
	}
	if where := c.public(); !strings.Contains(text, where) {
		text = where + ": " + text
	}
	switch {
	case errors.Is(err, nats.ErrNoServers):
		text += `: is "stint serve" running there?`
	case errors.Is(err, nats.ErrAuthorization):
		text += ": give the token of the server in " + tokenVariable + ", or be the user that started it"
	}
	if host, port, ok := c.local(); ok && c.credentials == "" && os.Getenv(tokenVariable) == "" && errors.Is(err, nats.ErrAuthorization) {
		if _, path := localToken(host, port); path != "" {
			text += " (with the token in " + quote(path) + ")"
		}
	}
	return &failure{text}
}

// public is the URLs without who logs in.
func (c *connection) public() string {
	parts := strings.Split(c.url, ",")
	for i := range parts {
		parts[i] = public(parts[i])
	}
	return strings.Join(parts, ",")
}

// public is a URL without its user, password or token.
func public(part string) string {
	scheme, rest, ok := strings.Cut(part, "://")
	if !ok {
		scheme, rest = "", part
	} else {
		scheme += "://"
	}
	return scheme + rest[strings.LastIndex(rest, "@")+1:]
}
