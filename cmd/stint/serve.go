package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cluster/embedded"
)

const serveLong = `Run the server that workers and those who give them work meet at, until it is
interrupted. When it is ready it prints its URL, which is what --cluster of the
other commands wants.

It is a NATS server with JetStream. Without --dir the queue and the results are
in its memory, and end with it; it refuses what is more than a tenth of the
memory that it may use: that of the machine, of its cgroup or GOMEMLIMIT. With
--dir they are in files below that directory, and a server that is started there
again goes on with them; it refuses what is more than three quarters of the file
system, which is better one of its own. When a write fails, as on a full disk, it
says so, and goes on when there is room again; if that does not help it ends with
status 1.

Without --listen only programs of this machine reach it, and of these only those
of its user: it makes a token, which the other commands find in a file that
nobody else can read, stint/token-PORT in $XDG_RUNTIME_DIR or, without that, the
directory of the user for settings. To be reached by others it needs a token,
which they give in the URL, as in nats://TOKEN@host:4222, or in STINT_TOKEN, or
users. Without --tls-cert all of it goes over the network as it is.

Who has the token may do everything: have workers read files, learn by that
which files exist, forge results, and remove what others have queued. A worker
reads what its user may read, for whoever asks: let it be one of few rights.

The file of --users has a line "ROLE NAME PASSWORD" for each user, who gives
nats://NAME:PASSWORD@host:4222. It must be readable by its owner only. The ROLE
is submitter (sum, cancel), worker (work), observer (status) or all (also dead),
and the server refuses what another one does. But a worker can forge any result,
read and remove what is queued, and a submitter can read the names and digests
of others and end what they do. An observer sees no names of files, but can, as
all can, put what is no task and no result where it stands in the way of others.

With --metrics NATS answers HTTP, at /varz, /jsz, /healthz and others. It asks
for no secret: whoever reaches that address learns the addresses and names of
clients and how much is queued, and at /debug/vars the command line and memory
of the server, but no names of files and no secrets. So it does not go together
with --token.

` + inScripts

// inScripts is what the help says of commands that run until they are told to end.
const inScripts = `A shell script that starts it with "&" makes it ignore interrupts, and they stay
ignored. Stop it with "kill $!", which sends SIGTERM: it ends as after an
interrupt, with status 0.`

const serveExample = `  stint serve
  STINT_TOKEN=$(cat token) stint serve --listen :4222 --dir /var/lib/stint
  stint serve --listen :4222 --users /etc/stint/users --metrics 127.0.0.1:8222`

const serveExit = `  0    interrupted, terminated or hung up, and stopped in order
  1    the address or the directory could not be used, or the server has failed
  2    wrong command line, such as an address for others without a token`

// hosting are the flags of serve.
type hosting struct {
	listen  string
	dir     string
	token   string
	users   string
	cert    string
	key     string
	metrics string
}

func newServe(std streams) *cobra.Command {
	var h hosting
	cmd := &cobra.Command{
		Use:         "serve [flags]",
		Short:       "Run the server that workers meet at",
		Long:        serveLong,
		Example:     serveExample,
		Annotations: map[string]string{exitStatus: serveExit},
		Args:        cobra.NoArgs,

		ValidArgsFunction: cobra.NoFileCompletions,
	}
	helpWithStatus(cmd)
	h.addFlags(cmd.Flags())
	complete(cmd, "listen")
	complete(cmd, "token")
	complete(cmd, "metrics")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		err := refuseEmpty(cmd.Flags(), "listen", "dir", "token", "users", "tls-cert", "tls-key", "metrics")
		if err == nil && h.token != "" && h.users != "" {
			err = errors.New("--token and --users do not go together")
		}
		if err == nil && h.token != "" && h.metrics != "" {
			err = errors.New("--metrics shows the command line to others, and --token is in it: give the token in " + tokenVariable)
		}
		if h.token == "" && h.users == "" {
			h.token = os.Getenv(tokenVariable)
		}
		if err == nil {
			err = h.validate()
		}
		if err != nil {
			return &usageError{cmd.CommandPath(), err.Error()}
		}
		return h.run(cmd.Context(), std)
	}
	return cmd
}

func (h *hosting) addFlags(f *pflag.FlagSet) {
	f.SortFlags = false
	f.StringVar(&h.listen, "listen", "127.0.0.1:4222", "accept connections at `HOST:PORT`; no HOST: all of this machine; PORT 0: a free one")
	f.StringVar(&h.dir, "dir", "", "keep everything in files below directory `PATH`")
	f.StringVar(&h.token, "token", "", "let in who knows `TOKEN`; the default is STINT_TOKEN, which others on this machine do not see, or one that is made")
	f.StringVar(&h.users, "users", "", "let in the users of `FILE`: a role, name and password a line")
	f.StringVar(&h.cert, "tls-cert", "", "use TLS, with the certificate in `FILE` (PEM)")
	f.StringVar(&h.key, "tls-key", "", "the key of --tls-cert is in `FILE` (PEM)")
	f.StringVar(&h.metrics, "metrics", "", "answer HTTP at `HOST:PORT` with the metrics of NATS")
}

// validate refuses what would open the machine to everybody, and what cannot be meant.
func (h *hosting) validate() error {
	host, _, err := net.SplitHostPort(h.listen)
	_, _, wrong := net.SplitHostPort(h.metrics)
	switch {
	case err != nil:
		return errors.New("invalid argument " + quote(h.listen) + " for --listen: want HOST:PORT")
	case h.metrics != "" && wrong != nil:
		return errors.New("invalid argument " + quote(h.metrics) + " for --metrics: want HOST:PORT")
	case h.token == "" && h.users == "" && !loopback(host):
		return errors.New("--listen " + quote(h.listen) + " lets others in: it needs a token, by " + tokenVariable + " or --token, or users")
	case (h.cert == "") != (h.key == ""):
		return errors.New("--tls-cert and --tls-key go together")
	}
	return nil
}

// loopback reports whether only this machine can reach host.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// run is the server, from its start to its end.
func (h *hosting) run(ctx context.Context, std streams) error {
	var left *tokenFile
	if h.token == "" && h.users == "" {
		left = newTokenFile()
		h.token = left.token
	}
	opts, err := h.options(&console{w: std.stderr})
	if err != nil {
		return err
	}
	if err := left.announce(h.listen); err != nil {
		return err
	}
	defer left.remove()
	e, err := embedded.Open(opts...)
	if err != nil {
		return &failure{strings.TrimPrefix(err.Error(), "embedded: ")}
	}
	defer e.Close()
	if err := left.write(e.URL()); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(std.stdout, e.URL()); err != nil {
		return &writeError{err}
	}
	failed := e.Wait(ctx)
	if ctx.Err() == nil {
		return &failure{failed.Error()}
	}
	return nil
}

// options are the flags as the package has them.
func (h *hosting) options(c *console) ([]embedded.Option, error) {
	auth := embedded.Token(h.token)
	if h.users != "" {
		users, err := readUsers(h.users)
		if err != nil {
			return nil, &failure{"--users " + quote(h.users) + ": " + reason(err)}
		}
		auth = embedded.Users(users...)
	}
	opts := []embedded.Option{embedded.Listen(h.listen, auth), embedded.With(cluster.Log(c.logger()))}
	if h.dir != "" {
		opts = append(opts, embedded.Dir(h.dir))
	}
	if h.metrics != "" {
		opts = append(opts, embedded.Metrics(h.metrics))
	}
	if h.cert != "" {
		pair, err := tls.LoadX509KeyPair(h.cert, h.key)
		if err != nil {
			return nil, &failure{"--tls-cert " + quote(h.cert) + ": " + reason(err)}
		}
		opts = append(opts, embedded.TLS(&tls.Config{Certificates: []tls.Certificate{pair}}))
	}
	return opts, nil
}
