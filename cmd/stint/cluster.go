package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
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

// complete takes from the environment what the command line does not say, and
// refuses what is wrong.
func (c *connection) complete(f *pflag.FlagSet) error {
	if !f.Changed("cluster") {
		c.url = os.Getenv(clusterVariable)
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
		if err != nil || u.Hostname() == "" || !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme) {
			return errors.New("invalid URL for --cluster: want one such as nats://host:4222, or several with commas between them")
		}
	}
	return nil
}

// connect reaches the server, or says why not.
func (c *connection) connect(ctx context.Context, more ...cluster.Option) (*cluster.Engine, error) {
	opts := []nats.Option{nats.Name("stint")}
	if token := os.Getenv(tokenVariable); token != "" {
		opts = append(opts, nats.Token(token)) // what is in the URL counts more
	}
	if c.credentials != "" {
		opts = append(opts, nats.UserCredentials(c.credentials))
	}
	if c.ca != "" {
		opts = append(opts, nats.RootCAs(c.ca))
	}
	e, err := cluster.Connect(ctx, c.url, append(more, cluster.NATS(opts...))...)
	if err != nil {
		return nil, c.failed(err)
	}
	return e, nil
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
