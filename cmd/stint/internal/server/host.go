package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/embedded"
	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// Host is the configuration of a server, as the flags of "stint serve" give it. An empty
// field is a flag that was not given.
type Host struct {
	Listen  string
	Dir     string
	Token   string
	Users   string
	Cert    string
	Key     string
	Metrics string
}

// Validate refuses a server that everybody could use, and flags that contradict each
// other.
func (h *Host) Validate() error {
	host, _, err := net.SplitHostPort(h.Listen)
	_, _, metricsErr := net.SplitHostPort(h.Metrics)
	switch {
	case err != nil:
		return errors.New("invalid argument " + console.Quote(h.Listen) + " for --listen: want HOST:PORT")
	case h.Metrics != "" && metricsErr != nil:
		return errors.New("invalid argument " + console.Quote(h.Metrics) + " for --metrics: want HOST:PORT")
	case h.Token == "" && h.Users == "" && !isLoopback(host):
		return errors.New("--listen " + console.Quote(h.Listen) + " lets others in: it needs a token, by " + TokenVariable + " or --token, or users")
	case (h.Cert == "") != (h.Key == ""):
		return errors.New("--tls-cert and --tls-key go together")
	}
	return nil
}

// Run runs the server until ctx ends, and prints its URL when it is ready.
func (h *Host) Run(ctx context.Context, std console.Streams) error {
	var file *tokenFile
	if h.Token == "" && h.Users == "" {
		file = newTokenFile()
		h.Token = file.token
	}
	opts, err := h.options(console.New(std.Stderr))
	if err != nil {
		return err
	}
	proves := file != nil && h.Cert == ""
	if proves {
		config, err := file.tls()
		if err != nil {
			return console.Failure(err.Error())
		}
		opts = append(opts, embedded.TLS(config))
	}
	if err := file.announce(h.Listen); err != nil {
		return err
	}
	defer file.remove()
	e, err := embedded.Open(opts...)
	if err != nil {
		return console.Failure(strings.TrimPrefix(err.Error(), "embedded: "))
	}
	defer e.Close()
	where := e.URL()
	if proves { // clients need no tls:// and no certificate authority
		where = strings.Replace(where, "tls://", "nats://", 1)
	}
	if err := file.write(where); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(std.Stdout, where); err != nil {
		return &console.WriteError{Err: err}
	}
	failed := e.Wait(ctx)
	if ctx.Err() == nil {
		return console.Failure(failed.Error())
	}
	return nil
}

// options returns the configuration as options of package embedded.
func (h *Host) options(c *console.Console) ([]embedded.Option, error) {
	auth := embedded.Token(h.Token)
	if h.Users != "" {
		users, err := readUsers(h.Users)
		if err != nil {
			return nil, console.Failure("--users " + console.Quote(h.Users) + ": " + console.Reason(err))
		}
		auth = embedded.Users(users...)
	}
	opts := []embedded.Option{embedded.Listen(h.Listen, auth), embedded.With(cluster.Log(c.Logger()))}
	if h.Dir != "" {
		opts = append(opts, embedded.Dir(h.Dir))
	}
	if h.Metrics != "" {
		opts = append(opts, embedded.Metrics(h.Metrics))
	}
	if h.Cert != "" {
		pair, err := tls.LoadX509KeyPair(h.Cert, h.Key)
		if err != nil {
			return nil, console.Failure("--tls-cert " + console.Quote(h.Cert) + ": " + console.Reason(err))
		}
		opts = append(opts, embedded.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}))
	}
	return opts, nil
}

// readUsers reads a file with a role, a name and a password on each line. It ignores
// empty lines and lines that begin with #.
func readUsers(path string) (users []embedded.User, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, errors.New("others can read or change it: want mode 0600")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.HasPrefix(words[0], "#"):
		case len(words) != 3:
			return nil, fmt.Errorf("line %d: want a role, a name and a password", n)
		default:
			users = append(users, embedded.User{Role: embedded.Role(words[0]), Name: words[1], Password: words[2]})
		}
	}
	return users, nil
}
