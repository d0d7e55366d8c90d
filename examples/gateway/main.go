// Command gateway shows what a limit does for a reverse proxy under overload. The backend
// serves 400 requests a second while no more than 20 are there at once, and fewer the more
// crowded it is. The load is 800 requests a second, and each client gives up after a second.
//
//	go run ./examples/gateway [flags]
//
// It tries three gateways for six seconds each: one without a limit, one with the best
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
	flags.DurationVar(&t.warmup, "warmup", 3*time.Second, "do not count requests of this `time`: Auto needs some to find the limit")
	flags.DurationVar(&t.length, "for", 3*time.Second, "count requests for this `time`")
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

// compare tries the gateways one after the other and prints a line for each.
func compare(ctx context.Context, t trial, web network, w io.Writer) error {
	gateways := []struct {
		name  string
		limit *stint.Limiter
	}{
		{"no limit", nil},
		{fmt.Sprintf("Limit(%d)", t.capacity), stint.Limit(t.capacity)},
		{"Auto(1, 256)", stint.Auto(1, 256)},
	}
	const line = "%-13s%10v%11v%12v%9v%9v%14v\n"
	_, err := fmt.Fprintf(w, line, "gateway", "served/s", "refused/s", "given up/s", "median", "p99", "most at once")
	for _, g := range gateways {
		if err != nil {
			return err
		}
		var c *count
		if c, err = t.run(ctx, web, g.limit); err == nil {
			_, err = fmt.Fprintf(w, line, g.name, t.perSecond(len(c.served)), t.perSecond(c.refused), t.perSecond(c.lost), c.quantile(0.5), c.quantile(0.99), c.peak)
		}
	}
	return err
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
