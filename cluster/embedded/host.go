package embedded

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats-server/v2/server/sysmem"
	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cluster/internal/conf"
	"github.com/stint-go/stint/internal/auto"
)

// A host is a directory, and the server that runs on it at present.
type host struct {
	settings *settings
	dir      string
	lock     *flock.Flock // nil with Memory, where no other knows the directory
	address  string       // "" if it does not listen

	// Written by the watch, and before and after it by who starts and closes.
	stored   os.FileInfo // the directory of the streams, as the server has found it
	replaced time.Time   // when the server was replaced last
	restarts int         // in a row

	failed  func(error)   // told why the server is given up
	stop    chan struct{} // closed at the end
	once    sync.Once
	watched sync.WaitGroup

	mu      sync.Mutex // held by who writes these two, and who reads them beside the watch
	server  *server.Server
	journal *journal // of that server
}

// start starts a server. After an error nothing of it is left.
func start(s *settings) (*host, error) {
	h := &host{settings: s, journal: newJournal(s.config.Log), stop: make(chan struct{})}
	if err := h.settle(); err != nil {
		return nil, err
	}
	if err := h.serve(); err != nil {
		h.close()
		return nil, fmt.Errorf("embedded: %w", err)
	}
	return h, nil
}

// settle makes the directory, and locks it if others can know it: the server would
// not notice another one on it.
func (h *host) settle() error {
	path := h.settings.dir
	if path == "" {
		dir, err := os.MkdirTemp("", "stint-")
		if err != nil {
			return fmt.Errorf("embedded: Memory: %w", err)
		}
		h.dir = dir
		return nil
	}
	dir, err := filepath.Abs(path) // the server uses it after a change of directory too
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("embedded: Dir(%q): %w", path, err)
	}
	lock := flock.New(filepath.Join(dir, "stint.lock"))
	switch free, err := lock.TryLock(); {
	case err != nil:
		return fmt.Errorf("embedded: Dir(%q): %w", path, err)
	case !free:
		return fmt.Errorf("embedded: Dir(%q): another server uses this directory", path)
	}
	h.dir, h.lock = dir, lock
	return nil
}

// serve starts a server in the directory.
func (h *host) serve() error {
	srv, err := server.NewServer(h.options())
	if err != nil {
		return err
	}
	h.put(srv, newJournal(h.settings.config.Log))
	srv.SetLoggerV2(h.journal, false, false, false)
	srv.Start() // returns when it is ready, or has told the journal why it is not
	if why := h.journal.fatal(); why != "" {
		h.halt()
		return errors.New(why)
	}
	if h.settings.listen {
		h.settings.port = srv.Addr().(*net.TCPAddr).Port // the next server listens there too
		h.address = h.reach(h.settings.port)
	}
	h.stored, err = os.Stat(h.store())
	return err
}

// put makes a server the present one.
func (h *host) put(srv *server.Server, j *journal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.server, h.journal = srv, j
}

// halt stops the present server, if there is one, and waits for it.
func (h *host) halt() {
	if h.server != nil {
		h.server.Shutdown()
		h.server.WaitForShutdown()
	}
}

// options returns what the settings mean for the server.
func (h *host) options() *server.Options {
	s := h.settings
	o := &server.Options{
		JetStream:  true,
		StoreDir:   h.dir, // never empty: that would be a directory which all programs share
		SyncAlways: !s.memory,
		NoSigs:     true,
		NoLog:      true,
		DontListen: !s.listen,
		HTTPHost:   s.metric.host,
		HTTPPort:   s.metric.port,
	}
	if s.memory {
		o.JetStreamMaxMemory = memoryShare(auto.MemoryLimit(), sysmem.Memory())
	} else {
		o.JetStreamMaxStore = h.storeShare()
	}
	if !s.listen {
		return o
	}
	o.Host, o.Port = s.host, s.port
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	if s.users == nil {
		o.Authorization, o.Username, o.Password = s.token, s.user, s.password
	} else {
		o.Users = s.accounts()
	}
	if s.tls != nil {
		o.TLS, o.TLSConfig = true, s.tls
	}
	return o
}

// storeShare returns how many bytes of messages the server keeps in files: three quarters of the
// file system, so that the messages alone do not fill it. What the server itself would take is
// three quarters of what is free when it starts, for good: one that starts on a full
// disk, nothing. Where the size is not known the disk is the bound.
func (h *host) storeShare() int64 {
	size, err := diskSize(h.dir)
	if err != nil || size <= 0 {
		return math.MaxInt64
	}
	return size / 4 * 3
}

// memoryShare returns how many bytes of messages the server takes into the memory of a
// process that may use limit bytes, 0 for any number, on a machine with so many; 0 if
// neither is known.
//
// The server counts the bytes of subjects and messages. With what it notes of each, a
// small one takes three times as much, and the collector lets the heap grow to twice
// what is used: of 300 MB a tenth were 60 bytes in each of 500,000 messages, and all of it.
func memoryShare(limit, machine int64) int64 {
	if limit == 0 || machine > 0 && machine < limit {
		limit = machine
	}
	return limit / 10
}

// reach returns the URL of the listener. One on all addresses is reached by the name
// of the machine.
func (h *host) reach(port int) string {
	name := h.settings.host
	if ip, err := netip.ParseAddr(name); name == "" || err == nil && ip.IsUnspecified() {
		name = "localhost"
		if machine, err := os.Hostname(); err == nil {
			name = machine
		}
	}
	scheme := "nats"
	if h.settings.tls != nil {
		scheme = "tls"
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(name, strconv.Itoa(port))}
	return u.String()
}

// under puts the host under an engine.
func (h *host) under(c *conf.Config) {
	c.NATS = append(c.NATS, h.inside)
	c.Memory = h.settings.memory
	c.Synced = true // or in memory
	c.Address = h.address
	c.Opened = func(fail func(error)) {
		h.failed = fail
		h.watched.Go(h.watch)
	}
	c.Closed = h.close
}

// inside makes a client connect to the host within the process, whatever it was told
// before of servers, TLS and credentials.
func (h *host) inside(o *nats.Options) error {
	o.InProcessServer = h
	o.Secure, o.TLSHandshakeFirst = false, false
	o.User, o.Password, o.Token = h.settings.user, h.settings.password, h.settings.token
	o.UserInfo, o.TokenHandler = nil, nil
	o.Nkey, o.SignatureCB, o.UserJWT = "", nil, nil
	return nil
}

// InProcessConn connects to the present server.
func (h *host) InProcessConn() (net.Conn, error) {
	h.mu.Lock()
	srv := h.server
	h.mu.Unlock()
	return srv.InProcessConn()
}

// close stops the watch and the server and waits for them, then gives the directory up.
// It may be called again.
func (h *host) close() {
	h.once.Do(func() { close(h.stop) })
	h.watched.Wait()
	h.halt()
	if h.lock == nil {
		h.journal.unless(os.RemoveAll(h.dir))
		return
	}
	h.journal.unless(h.lock.Unlock())
}
