package embedded

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint/cluster/internal/conf"
)

// A host is a server that runs, and the directory under it.
type host struct {
	settings *settings
	dir      string
	lock     *flock.Flock // nil with Memory, where no other knows the directory
	server   *server.Server
	journal  *journal
	address  string // "" if it does not listen
}

// start starts a server. After an error nothing of it is left.
func start(s *settings) (*host, error) {
	h := &host{settings: s, journal: &journal{log: s.config.Log}}
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

// serve starts the server in the directory.
func (h *host) serve() error {
	srv, err := server.NewServer(h.options())
	if err != nil {
		return err
	}
	srv.SetLoggerV2(h.journal, false, false, false)
	h.server = srv
	srv.Start() // returns when it is ready, or has told the journal why it is not
	if why := h.journal.fatal(); why != "" {
		return errors.New(why)
	}
	if h.settings.listen {
		h.address = h.reach(srv.Addr().(*net.TCPAddr).Port)
	}
	return nil
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
	}
	if !s.listen {
		return o
	}
	o.Host, o.Port = s.host, s.port
	if o.Port == 0 {
		o.Port = server.RANDOM_PORT
	}
	o.Authorization, o.Username, o.Password = s.token, s.user, s.password
	if s.tls != nil {
		o.TLS, o.TLSConfig = true, s.tls
	}
	return o
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
	c.Closed = h.close
}

// inside makes a client connect to the host within the process, whatever it was told
// before of servers, TLS and credentials.
func (h *host) inside(o *nats.Options) error {
	o.InProcessServer = h.server
	o.Secure, o.TLSHandshakeFirst = false, false
	o.User, o.Password, o.Token = h.settings.user, h.settings.password, h.settings.token
	o.UserInfo, o.TokenHandler = nil, nil
	o.Nkey, o.SignatureCB, o.UserJWT = "", nil, nil
	return nil
}

// close stops the server and waits for it, then gives the directory up. It may be
// called again.
func (h *host) close() {
	if h.server != nil {
		h.server.Shutdown()
		h.server.WaitForShutdown()
	}
	if h.lock == nil {
		h.journal.unless(os.RemoveAll(h.dir))
		return
	}
	h.journal.unless(h.lock.Unlock())
}
