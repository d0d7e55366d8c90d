// Command gateway shows what a limit does for a reverse proxy under overload. The backend
// serves 400 requests a second while no more than 20 are there at once, and fewer the more
// crowded it is. The load is 800 requests a second, and each client gives up after a second.
//
//	go run ./examples/gateway [flags]
//
// It tries three gateways, each with such a backend: one without a limit, one with the best
// limit, and one that searches for the limit. The last two are httplimit.Handler around the
// same proxy, which refuses requests when 40 wait. It prints a line for each, with the
// requests per second that were served, refused and given up, how long the served ones took,
// and the most requests that were at the backend at once.
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
	flags.DurationVar(&t.warmup, "warmup", 5*time.Second, "do not count requests of this `time`: Auto needs some to find the limit")
	flags.DurationVar(&t.length, "for", 5*time.Second, "count requests for this `time`")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return errUsage
	case t.rate < 1 || t.waiting < 0 || t.warmup < 0 || t.length <= 0 || flags.NArg() > 0:
		fmt.Fprintln(stderr, "want a rate of 1 or more, 0 or more that wait, a positive time, and no arguments")
		flags.Usage()
		return errUsage
	}
	return compare(ctx, t, loopback, stdout)
}

// compare tries the gateways side by side and prints the table.
func compare(ctx context.Context, t trial, web network, w io.Writer) error {
	gateways := []struct {
		name  string
		limit *stint.Limiter
	}{
		{"no limit", nil},
		{fmt.Sprintf("Limit(%d)", t.capacity), stint.Limit(t.capacity)},
		{"Auto(1, 256)", stint.Auto(1, 256)},
	}
	counts := make([]*count, len(gateways))
	err := stint.Range(ctx, len(gateways), func(ctx context.Context, i int) (err error) {
		counts[i], err = t.run(ctx, web, gateways[i].limit)
		return err
	}, stint.Limit(len(gateways)))
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "gateway\tserved/s\trefused/s\tgiven up/s\tmedian\tp99\tmost at once\t")
	for i, c := range counts {
		fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%.0f\t%v\t%v\t%d\t\n", gateways[i].name, t.perSecond(len(c.served)), t.perSecond(c.refused), t.perSecond(c.lost),
			c.quantile(0.5).Round(time.Millisecond), c.quantile(0.99).Round(time.Millisecond), c.peak)
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
