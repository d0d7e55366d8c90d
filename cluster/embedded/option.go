package embedded

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/internal/conf"
)

// An Option changes the server that Open starts, or the engine on it.
type Option func(*settings) error

// An Auth is what clients from outside must know before a server listens to them:
// Token, UserPassword or Users.
type Auth func(*settings) error

// settings are what the options say.
type settings struct {
	memory bool
	dir    string // "": none was given
	listen bool
	host   string
	port   int // 0: any free one
	tls    *tls.Config
	metric struct { // where the metrics are; port 0: nowhere
		host string
		port int
	}
	engine []cluster.Option
	config conf.Config // what engine says

	// Either the token or the other two, or none; with users the other two are of the
	// engine.
	token          string
	user, password string
	users          []User
}

// Memory keeps everything in the memory of the process, and ends with it. It is the
// default. The server needs a directory even so: a new one below os.TempDir, which
// Close removes. A process that is killed leaves it, with nothing of the work in it.
func Memory() Option {
	return func(s *settings) error {
		s.memory = true
		return nil
	}
}

// Dir keeps everything in files below path, which is made if it is missing, and goes
// on with what is there. The file stint.lock in it is locked while the server runs: a
// second Open of path, in this process or another, is an error at once. Close
// releases the lock, and so does the end of the process, whatever ended it.
// Everything is synced to the disk before it is confirmed.
func Dir(path string) Option {
	return func(s *settings) error {
		switch {
		case path == "":
			return errors.New("Dir: empty path")
		case s.dir != "":
			return fmt.Errorf("Dir(%q): Dir(%q) was given already", path, s.dir)
		}
		s.dir = path
		return nil
	}
}

// Listen makes the server accept connections from outside the process at addr, a
// "host:port". Port 0 is any free one, and an empty host all addresses of the
// machine; URL of the engine says what it came to. With a nil auth whoever reaches
// the server may use it, so that this is an error unless the host is "localhost" or
// a loopback address.
func Listen(addr string, auth Auth) Option {
	return func(s *settings) error {
		host, port, err := split(addr)
		switch {
		case err != nil:
			return fmt.Errorf("Listen(%q): %w", addr, err)
		case s.listen:
			return fmt.Errorf("Listen(%q): Listen was given already", addr)
		case auth == nil && !loopback(host):
			return fmt.Errorf("Listen(%q): no authentication: others can reach this address; want Token, UserPassword or Users, or a loopback address", addr)
		}
		s.listen, s.host, s.port = true, host, port
		if auth == nil {
			return nil
		}
		return auth(s)
	}
}

// split returns the parts of a "host:port".
func split(addr string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("want host:port: %w", err)
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("port %q: want 0 to 65535", text)
	}
	return host, int(n), nil
}

// Metrics makes the server answer HTTP at addr, a "host:port", with what it counts: NATS
// has "/varz", "/jsz", "/connz" and others, and "/healthz" for whether it works. It asks
// nobody for a secret, and uses no TLS. Who reaches addr learns the names of streams, tasks,
// runs and users, the addresses of clients, and how much there is of everything. The program
// is shown too: its stacks at "/stacksz", and at "/debug/vars" its command line, its memory
// and all that it publishes with package expvar. Do not give it secrets in its arguments.
// Items, results, and the secrets of Token, UserPassword and Users are not shown.
func Metrics(addr string) Option {
	return func(s *settings) error {
		host, port, err := split(addr)
		switch {
		case err != nil:
			return fmt.Errorf("Metrics(%q): %w", addr, err)
		case host == "" || port == 0:
			return fmt.Errorf("Metrics(%q): want a host and a port", addr)
		case s.metric.port != 0:
			return fmt.Errorf("Metrics(%q): Metrics was given already", addr)
		}
		s.metric.host, s.metric.port = host, port
		return nil
	}
}

// loopback reports whether only this machine can reach host.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Token lets in who knows token: "nats://TOKEN@host:port", or nats.Token. Without
// TLS it goes over the network as it is. An empty one is an error of Open.
func Token(token string) Auth {
	return func(s *settings) error {
		s.token = token
		return secret("Token: token", token)
	}
}

// UserPassword lets in who knows both: "nats://USER:PASSWORD@host:port", or
// nats.UserInfo. Without TLS they go over the network as they are. An empty one is an
// error of Open.
func UserPassword(user, password string) Auth {
	return func(s *settings) error {
		s.user, s.password = user, password
		if user == "" {
			return errors.New("UserPassword: empty user")
		}
		return secret("UserPassword: password", password)
	}
}

// secret returns an error for a secret which the server would not take as it is: it
// takes what looks like the output of bcrypt for that. The error does not tell it.
func secret(what, s string) error {
	for _, kind := range []string{"$2a$", "$2b$", "$2x$", "$2y$"} {
		if strings.HasPrefix(s, kind) {
			return fmt.Errorf("%s begins with %s, as a hash of it would; want itself", what, kind)
		}
	}
	if s == "" {
		return fmt.Errorf("%s is empty", what)
	}
	return nil
}

// TLS makes a server that listens do so with TLS only, as config says, which is copied. The
// connection of the engine stays inside the process and does without. Clients need to trust
// the certificate: nats.RootCAs. TLS without Listen, or with a config that has no
// certificate, is an error of Open.
func TLS(config *tls.Config) Option {
	return func(s *settings) error {
		switch {
		case config == nil:
			return errors.New("TLS: nil Config")
		case s.tls != nil:
			return errors.New("TLS was given twice")
		case len(config.Certificates) == 0 && config.GetCertificate == nil && config.GetConfigForClient == nil:
			return errors.New("TLS: the Config has no certificate")
		}
		s.tls = config.Clone()
		return nil
	}
}

// With gives options to the engine, as cluster.Connect takes them: Prefix, QueueLimit, Strict
// and others. Where they say how to reach a server, the server of the engine wins.
func With(opts ...cluster.Option) Option {
	return func(s *settings) error {
		if slices.ContainsFunc(opts, func(o cluster.Option) bool { return o == nil }) {
			return errors.New("With: nil Option")
		}
		s.engine = append(s.engine, opts...)
		return nil
	}
}

// collect returns what opts say together.
func collect(opts []Option) (*settings, error) {
	s := &settings{}
	for _, opt := range opts {
		if opt == nil {
			return nil, errors.New("embedded: Open: nil Option")
		}
		if err := opt(s); err != nil {
			return nil, fmt.Errorf("embedded: %w", err)
		}
	}
	for _, opt := range s.engine {
		opt(&s.config)
	}
	switch {
	case s.dir != "" && s.memory:
		return nil, fmt.Errorf("embedded: Memory and Dir(%q) together; want one of them", s.dir)
	case s.dir != "" && s.config.Memory:
		return nil, fmt.Errorf("embedded: cluster.Memory and Dir(%q) together; want one of them", s.dir)
	case s.tls != nil && !s.listen:
		return nil, errors.New("embedded: TLS without Listen; nobody would use it")
	}
	s.memory = s.dir == ""
	return s, nil
}
