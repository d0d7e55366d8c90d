package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats-server/v2/server/sysmem"
	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cluster"
)

// A supervisor runs a server in a directory, and replaces it when it fails. It implements
// cluster.Server.
type supervisor struct {
	settings *settings
	prefix   string // of the client
	log      *slog.Logger
	fail     func(error) // closes the client
	dir      string
	lock     *flock.Flock // nil with Memory, where no other process knows the directory
	url      string       // empty unless it listens

	// Written by watch, and before and after it by Start and Close.
	stored   os.FileInfo // the directory of the streams, as the server has found it
	replaced time.Time   // the last replacement
	restarts int         // in a row

	stop    chan struct{} // closed by Close
	once    sync.Once
	watched sync.WaitGroup

	mu     sync.Mutex // held to write the fields below, and to read them outside watch
	server *server.Server
	gate   *gate   // of that server
	logger *logger // of that server
}

func newSupervisor(set *settings) *supervisor {
	return &supervisor{settings: set, stop: make(chan struct{})}
}

// Start implements cluster.Server.
func (s *supervisor) Start(c cluster.ServerConfig) ([]nats.Option, error) {
	if c.Memory && !s.settings.memory {
		return nil, fmt.Errorf("cluster.Memory and Dir(%q) together; want one of them", s.settings.dir)
	}
	s.prefix, s.log, s.fail = c.Prefix, c.Log, c.Fail
	if err := s.start(); err != nil {
		return nil, err
	}
	s.watched.Go(s.watch)
	return []nats.Option{s.connectInside}, nil
}

// start is Start without watch.
func (s *supervisor) start() error {
	s.logger = newLogger(s.log)
	if err := s.lockDir(); err != nil {
		return err
	}
	if err := s.serve(); err != nil {
		s.Close()
		return err
	}
	return nil
}

// lockDir makes the directory, and locks it if others can know it: the server would not
// notice a second server in it.
func (s *supervisor) lockDir() error {
	path := s.settings.dir
	if path == "" {
		dir, err := os.MkdirTemp("", "stint-")
		if err != nil {
			return fmt.Errorf("Memory: %w", err)
		}
		s.dir = dir
		return nil
	}
	dir, err := filepath.Abs(path) // the program may change its directory
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("Dir(%q): %w", path, err)
	}
	lock := flock.New(filepath.Join(dir, "stint.lock"))
	switch free, err := lock.TryLock(); {
	case err != nil:
		return fmt.Errorf("Dir(%q): %w", path, err)
	case !free:
		return fmt.Errorf("Dir(%q): another server uses this directory", path)
	}
	s.dir, s.lock = dir, lock
	return nil
}

// serve starts a server in the directory.
func (s *supervisor) serve() error {
	o := s.options()
	g := newGate(s.settings, s.prefix)
	if s.settings.users != nil {
		o.CustomClientAuthentication = g
	}
	srv, err := server.NewServer(o)
	if err != nil {
		return err
	}
	g.server = srv
	log := newLogger(s.log)
	s.mu.Lock()
	s.server, s.logger, s.gate = srv, log, g
	s.mu.Unlock()
	srv.SetLoggerV2(log, false, false, false)
	srv.Start() // returns when it is ready, or has told the logger why it is not
	if why := log.fatal(); why != "" {
		s.halt()
		return errors.New(why)
	}
	if s.settings.listen {
		s.settings.port = srv.Addr().(*net.TCPAddr).Port // the next server listens there too
		s.url = s.listenURL()
	}
	if s.settings.users != nil {
		if err := g.open(); err != nil {
			return err
		}
	}
	s.stored, err = os.Stat(s.storeDir())
	return err
}

// halt stops the server, if there is one, and waits for it.
func (s *supervisor) halt() {
	if s.server != nil {
		s.gate.close()
		s.server.Shutdown()
		s.server.WaitForShutdown()
	}
}

// options returns the options of the server.
func (s *supervisor) options() *server.Options {
	set := s.settings
	o := &server.Options{
		JetStream:  true,
		StoreDir:   s.dir, // never empty: that would be a directory that all programs share
		SyncAlways: !set.memory,
		NoSigs:     true,
		NoLog:      true,
		DontListen: !set.listen,
		HTTPHost:   set.metrics.host,
		HTTPPort:   set.metrics.port,
	}
	if set.memory {
		o.JetStreamMaxMemory = memoryShare(debug.SetMemoryLimit(-1), sysmem.Memory())
	} else {
		o.JetStreamMaxStore = storeShare(s.dir)
	}
	if !set.listen {
		return o
	}
	o.Host, o.Port = set.host, set.port
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	if set.users == nil {
		o.Authorization, o.Username, o.Password = set.token, set.user, set.password
	}
	if set.tls != nil {
		o.TLS, o.TLSConfig = true, set.tls
	}
	return o
}

// storeShare returns how many bytes of messages the server stores in files: three quarters
// of the file system. By default the server takes three quarters of the space that is free
// when it starts, which is nothing on a full disk.
func storeShare(dir string) int64 {
	size, err := diskSize(dir)
	if err != nil || size <= 0 {
		return math.MaxInt64
	}
	return size / 4 * 3
}

// memoryShare returns how many bytes of messages the server stores in memory. The process
// may use limit bytes of the machine's memory; math.MaxInt64 is no limit. It returns 0, for
// the server's default, if neither is known.
//
// The server counts the bytes of subjects and messages. A small message takes three times as
// much, and the heap may grow to twice what is used.
func memoryShare(limit, machine int64) int64 {
	if machine > 0 {
		limit = min(limit, machine)
	}
	if limit == math.MaxInt64 {
		return 0
	}
	return limit / 10
}

// listenURL returns the URL of the listener. A listener on all addresses is reached by the
// name of the machine.
func (s *supervisor) listenURL() string {
	name := s.settings.host
	if ip, err := netip.ParseAddr(name); name == "" || err == nil && ip.IsUnspecified() {
		name = "localhost"
		if machine, err := os.Hostname(); err == nil {
			name = machine
		}
	}
	scheme := "nats"
	if s.settings.tls != nil {
		scheme = "tls"
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(name, strconv.Itoa(s.settings.port))}
	return u.String()
}

// URL implements cluster.Server.
func (s *supervisor) URL() string { return s.url }

// connectInside makes the NATS client connect inside the process, whatever other options say
// of servers, TLS and credentials.
func (s *supervisor) connectInside(o *nats.Options) error {
	o.InProcessServer = s
	o.Secure, o.TLSHandshakeFirst = false, false
	o.User, o.Password, o.Token = s.settings.user, s.settings.password, s.settings.token
	o.UserInfo, o.TokenHandler = nil, nil
	o.Nkey, o.SignatureCB, o.UserJWT = "", nil, nil
	return nil
}

// InProcessConn implements nats.InProcessConnProvider.
func (s *supervisor) InProcessConn() (net.Conn, error) {
	s.mu.Lock()
	srv := s.server
	s.mu.Unlock()
	return srv.InProcessConn()
}

// Close implements cluster.Server. It may be called again.
func (s *supervisor) Close() {
	s.once.Do(func() { close(s.stop) })
	s.watched.Wait()
	s.halt()
	var err error
	if s.lock == nil {
		err = os.RemoveAll(s.dir)
	} else {
		err = s.lock.Unlock()
	}
	if err != nil {
		s.logger.Errorf("%v", err)
	}
}
