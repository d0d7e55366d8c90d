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
)

// An Option changes the server that Open starts, or the client that Open returns.
type Option func(*settings) error

// An Auth is how a server that listens authenticates other clients: Token, UserPassword or
// Users.
type Auth func(*settings) error

// settings holds the values of the options.
type settings struct {
	memory  bool
	dir     string // empty: none was given
	listen  bool
	host    string
	port    int // 0: any free one
	tls     *tls.Config
	metrics struct { // port 0: none
		host string
		port int
	}
	client []cluster.ClientOption

	// The token, or user and password, or neither. With users, user and password are for
	// the connection inside the process.
	token          string
	user, password string
	users          []User
}

// Memory keeps everything in the memory of the process. It is the default. The server still
// needs a directory: Open makes one below os.TempDir, and Close removes it. A killed
// process leaves the directory, without messages.
func Memory() Option {
	return func(s *settings) error {
		s.memory = true
		return nil
	}
}

// Dir keeps everything in files below path, and continues with the files that are there. Open
// creates path if it does not exist. The server syncs everything before it confirms it, and
// locks the file stint.lock in path: a second Open of path, in any process, returns an error.
// Close and the end of the process release the lock.
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

// Listen makes the server accept connections at addr, a "host:port". Port 0 is any free port.
// An empty host means all addresses of the machine. The client's URL method returns the
// address. A nil auth lets every client in. Open returns an error for a nil auth unless the
// host is "localhost" or a loopback address.
func Listen(addr string, auth Auth) Option {
	return func(s *settings) error {
		host, port, err := split(addr)
		switch {
		case err != nil:
			return fmt.Errorf("Listen(%q): %w", addr, err)
		case s.listen:
			return fmt.Errorf("Listen(%q): Listen was given already", addr)
		case auth == nil && !isLoopback(host):
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

// isLoopback reports whether only this machine can reach host.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// Metrics makes the server answer HTTP at addr, a "host:port". "/varz", "/jsz", "/connz" and
// other pages of NATS have its counters, and "/healthz" has its health. There is neither
// authentication nor TLS. A reader learns the names of streams, tasks, runs and users, the
// addresses of clients, and how many messages there are. A reader also sees the program's
// stacks at "/stacksz", and its arguments, memory and expvar variables at "/debug/vars". Items,
// results and the secrets of Token, UserPassword and Users are not shown.
func Metrics(addr string) Option {
	return func(s *settings) error {
		host, port, err := split(addr)
		switch {
		case err != nil:
			return fmt.Errorf("Metrics(%q): %w", addr, err)
		case host == "" || port == 0:
			return fmt.Errorf("Metrics(%q): want a host and a port", addr)
		case s.metrics.port != 0:
			return fmt.Errorf("Metrics(%q): Metrics was given already", addr)
		}
		s.metrics.host, s.metrics.port = host, port
		return nil
	}
}

// Token lets in clients that know token. They connect by "nats://TOKEN@host:port", or
// nats.Token. Use TLS on networks that others can read. Open returns an error if token is
// empty.
func Token(token string) Auth {
	return func(s *settings) error {
		s.token = token
		return checkSecret("Token: token", token)
	}
}

// UserPassword lets in clients that know user and password. They connect by
// "nats://USER:PASSWORD@host:port", or nats.UserInfo. Use TLS on networks that others can read.
// Open returns an error if user or password is empty.
func UserPassword(user, password string) Auth {
	return func(s *settings) error {
		s.user, s.password = user, password
		if user == "" {
			return errors.New("UserPassword: empty user")
		}
		return checkSecret("UserPassword: password", password)
	}
}

// checkSecret returns an error, without the secret, for a secret that the server would
// interpret: it takes the output of bcrypt for a hash.
func checkSecret(what, secret string) error {
	for _, kind := range []string{"$2a$", "$2b$", "$2x$", "$2y$"} {
		if strings.HasPrefix(secret, kind) {
			return fmt.Errorf("%s begins with %s, as a hash does; want the secret itself", what, kind)
		}
	}
	if secret == "" {
		return fmt.Errorf("%s is empty", what)
	}
	return nil
}

// TLS makes a server that listens use TLS, with a copy of config. The client that Open returns
// connects without TLS. Other clients must trust the certificate: see nats.RootCAs. Open
// returns an error for TLS without Listen or without a certificate.
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

// With gives options to the client, such as cluster.Prefix, cluster.Log and
// cluster.QueueLimit. Options that say how to reach a server have no effect.
func With(opts ...cluster.ClientOption) Option {
	return func(s *settings) error {
		if slices.ContainsFunc(opts, func(o cluster.ClientOption) bool { return o == nil }) {
			return errors.New("With: nil ClientOption")
		}
		s.client = append(s.client, opts...)
		return nil
	}
}

// collect returns the settings of opts.
func collect(opts []Option) (*settings, error) {
	s := &settings{}
	for _, opt := range opts {
		if opt == nil {
			return nil, errors.New("Open: nil Option")
		}
		if err := opt(s); err != nil {
			return nil, err
		}
	}
	switch {
	case s.dir != "" && s.memory:
		return nil, fmt.Errorf("Memory and Dir(%q) together; want one of them", s.dir)
	case s.tls != nil && !s.listen:
		return nil, errors.New("TLS without Listen; nobody would use it")
	case s.dir == "":
		s.memory = true
		s.client = append(s.client, cluster.Memory())
	}
	return s, nil
}
