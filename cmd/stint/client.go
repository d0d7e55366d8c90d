package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/server"
)

// clientCommand is a command that uses a server.
type clientCommand struct {
	*cobra.Command
	server server.Connection
}

// newClient returns a command for which --cluster is required.
func newClient(h help) *clientCommand {
	c := &clientCommand{Command: h.command()}
	addServer(c.Command, &c.server, "`URL` of the server, or of several separated by commas; the default is "+server.ClusterVariable)
	return c
}

// addServer adds the flags that say where the server is and how to log in.
func addServer(cmd *cobra.Command, c *server.Connection, usage string) {
	f := cmd.Flags()
	f.StringVar(&c.URL, "cluster", "", usage)
	f.StringVar(&c.Credentials, "credentials", "", "log in to the server with the NATS credentials in `FILE`")
	f.StringVar(&c.CA, "tls-ca", "", "trust the certificate authorities in `FILE` (PEM), and require TLS")
	complete(cmd, "cluster")
}

// validateServer refuses flags that cannot be right.
func validateServer(f *pflag.FlagSet, c *server.Connection) error {
	if err := refuseEmpty(f, "credentials", "tls-ca"); err != nil {
		return err
	}
	return c.Validate()
}

// validateOptionalServer does it for a command that needs no server.
func validateOptionalServer(f *pflag.FlagSet, c *server.Connection) error {
	if f.Changed("cluster") {
		return validateServer(f, c)
	}
	return refuse(
		rule{f.Changed("credentials"), "the --credentials option is meaningful only with --cluster"},
		rule{f.Changed("tls-ca"), "the --tls-ca option is meaningful only with --cluster"},
	)
}

// validate validates the flags that name the server, with the default of the
// environment.
func (c *clientCommand) validate() error {
	if !c.Flags().Changed("cluster") {
		c.server.URL = os.Getenv(server.ClusterVariable)
	}
	if c.server.URL == "" {
		return usage(c.Command, errors.New("no server: give --cluster or "+server.ClusterVariable+" a URL, such as nats://127.0.0.1:4222"))
	}
	return usage(c.Command, validateServer(c.Flags(), &c.server))
}

// connected validates the flags and calls f with a connection to the server.
func (c *clientCommand) connected(f func(*cluster.Client) error) error {
	if err := c.validate(); err != nil {
		return err
	}
	conn, err := c.server.Connect(c.Context())
	if err != nil {
		return err
	}
	defer conn.Close()
	defer server.ReportAway(c.Context(), conn, console.New(c.ErrOrStderr()))()
	return f(conn)
}

// forEach calls f for each operand. It prints errors as messages and continues.
func (c *clientCommand) forEach(operands []string, f func(string) error) error {
	con := console.New(c.ErrOrStderr())
	var failed error
	for _, operand := range operands {
		if err := f(operand); err != nil {
			con.Message(c.server.Failed(err).Error())
			failed = console.ErrReported
		}
	}
	return failed
}
