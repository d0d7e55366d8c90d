// Command gateway shows what a limit does for a reverse proxy under overload. The backend
// serves 400 requests a second while no more than 20 are there at once, and fewer the more
// crowded it is. The load is 800 requests a second, and each client gives up after a second.
//
//	go run ./examples/gateway [flags]
//
// It tries three gateways, one after the other: one without a limit, one with the best
// limit, and one that searches for the limit. The last two are httplimit.Handler around the
// same proxy, which refuses what would wait too long. It prints a line for each, with the
// requests a second that were served, refused and given up, and how long the served ones
// took.
//
// The exit status is 0 if all were tried, 1 if not, and 2 for a wrong command line.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"text/tabwriter"
	"time"

	"github.com/stint-go/stint"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// errUsage is returned after the error has been printed to stderr.
var errUsage = errors.New("wrong command line")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	t := trial{capacity: 20, service: 50 * time.Millisecond, patience: time.Second}
	flags := flag.NewFlagSet("gateway [flags]", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&t.rate, "rate", 800, "send `n` requests per second")
	flags.IntVar(&t.waiting, "waiting", 40, "refuse requests when `n` wait")
	flags.DurationVar(&t.length, "for", 3*time.Second, "length of each trial")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return errUsage
	case t.rate < 1 || t.waiting < 0 || t.length <= 0 || flags.NArg() > 0:
		fmt.Fprintln(stderr, "want a rate of 1 or more, 0 or more that wait, a positive length, and no arguments")
		flags.Usage()
		return errUsage
	}
	return compare(ctx, t, loopback, stdout)
}

// compare tries the gateways and prints the table.
func compare(ctx context.Context, t trial, web network, w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "gateway\tserved/s\trefused/s\tgiven up/s\tmedian\tp99\t")
	for _, g := range []struct {
		name  string
		limit *stint.Limiter
	}{
		{"no limit", nil},
		{fmt.Sprintf("Limit(%d)", t.capacity), stint.Limit(t.capacity)},
		{"Auto(1, 256)", stint.Auto(1, 256)},
	} {
		c, err := t.run(ctx, web, g.limit)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%.0f\t%v\t%v\t\n", g.name, t.perSecond(len(c.served)), t.perSecond(c.refused), t.perSecond(c.lost),
			c.quantile(0.5).Round(time.Millisecond), c.quantile(0.99).Round(time.Millisecond))
	}
	return table.Flush()
}

// A network is what the clients, the gateway and the backend are connected by.
type network struct {
	listen func() (net.Listener, error)
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

// loopback is the network of this machine.
var loopback = network{
	func() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") },
	(&net.Dialer{}).DialContext,
}
