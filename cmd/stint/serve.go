package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/server"
)

// inScripts is the help of commands that run until they are interrupted.
const inScripts = `A shell script that starts the command with "&" makes the command ignore
interrupts. Stop it with "kill $!", which sends SIGTERM: it exits as after an
interrupt, with status 0.`

var serveHelp = help{
	use:   "serve [flags]",
	short: "Run the server of a cluster",
	long: `Run the server that submitters and workers connect to, until it is interrupted.
When it is ready it prints its URL, for --cluster of the other commands.

It is a NATS server with JetStream. Without --dir the queue and the results are
in memory and are lost when the server ends. It stores up to a tenth of the
memory of the machine, or of GOMEMLIMIT if that is less. With --dir the queue
and the results are in files below that directory, and a server that is started
there again continues with them. It stores up to three quarters of the file
system, so give it a file system of its own. When a write fails, as on a full
disk, it says so and continues when there is room again. If it cannot continue
it exits with 1.

By default only the commands of the same user on the same machine can connect.
The server generates a token, and the commands find it in a file that nobody
else can read, stint/token-PORT@HOST in the user's configuration directory.
These connections are encrypted, and reach only a server that knows the token.

To accept connections from other machines, the server needs users or a token.
Clients give the token in STINT_TOKEN, or in the URL, as in
nats://TOKEN@host:4222. Without --tls-cert these connections are not encrypted,
and while the server is away, clients may connect to another program at its
address.

A client with the token may do everything: have workers of "stint work --run" run
commands, make workers read files, find out in this way which files exist, forge
results, and remove what other clients have queued. A worker reads for every
client what the user of the worker may read, so run workers as a user with few
rights.

The file of --users has a line "ROLE NAME PASSWORD" for each user. The user
connects with nats://NAME:PASSWORD@host:4222. Only the owner of the file may
have access to it. The ROLE is submitter (run, sum, cancel), worker (work), observer
(status) or all (also dead). The server refuses what the role does not allow.
But a worker can forge any result, and read and remove what is queued. A
submitter can read the file names and digests of other users and cancel their
runs. An observer sees no file names.

With --metrics NATS answers HTTP, at /varz, /jsz, /healthz and other paths,
without authentication. It shows the addresses and names of clients and how much
is queued. At /debug/vars it shows the command line and memory of the server,
but no file names and no secrets. A token on the command line would be shown, so
--metrics and --token exclude each other.

` + inScripts,
	example: `  stint serve
  STINT_TOKEN=$(cat token) stint serve --listen :4222 --dir /var/lib/stint
  stint serve --listen :4222 --users /etc/stint/users --metrics 127.0.0.1:8222`,
	exit: `  0    interrupted, terminated, hung up or quit, and stopped in order
  1    the address or the directory could not be used, or the server has failed
  2    wrong command line, such as an address for other machines without a token`,
}

func newServe(std console.Streams) *cobra.Command {
	var h server.Host
	cmd := serveHelp.command()
	f := cmd.Flags()
	f.StringVar(&h.Listen, "listen", "127.0.0.1:4222", "accept connections at `HOST:PORT`; no HOST: at all addresses; PORT 0: at a free port")
	f.StringVar(&h.Dir, "dir", "", "store everything in files below directory `PATH`")
	f.StringVar(&h.Token, "token", "", "accept clients with `TOKEN`; the default is "+server.TokenVariable+", which other users of this machine do not see, or a generated token")
	f.StringVar(&h.Users, "users", "", "accept the users of `FILE`: a role, name and password a line")
	f.StringVar(&h.Cert, "tls-cert", "", "use TLS, with the certificate in `FILE` (PEM)")
	f.StringVar(&h.Key, "tls-key", "", "the key of --tls-cert is in `FILE` (PEM)")
	f.StringVar(&h.Metrics, "metrics", "", "serve the metrics of NATS by HTTP at `HOST:PORT`")
	complete(cmd, "listen")
	complete(cmd, "token")
	complete(cmd, "metrics")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		err := refuseEmpty(f, "listen", "dir", "token", "users", "tls-cert", "tls-key", "metrics")
		switch {
		case err != nil:
		case h.Token != "" && h.Users != "":
			err = errors.New("--token and --users do not go together")
		case h.Token != "" && h.Metrics != "":
			err = errors.New("--metrics shows the command line to others, and --token is in it: give the token in " + server.TokenVariable)
		case h.Token == "" && h.Users == "":
			h.Token = os.Getenv(server.TokenVariable)
			fallthrough
		default:
			err = h.Validate()
		}
		if err != nil {
			return usage(cmd, err)
		}
		return h.Run(cmd.Context(), std)
	}
	return cmd
}
