// Command consumer handles the messages of a broker at least once each, in order within a
// key, while consumers crash.
//
//	go run ./examples/consumer [flags]
//
// It shows keyed work with commits: stream.ParMapKey over a source that is polled. The broker is
// in memory: some partitions with messages, and an offset for each up to which all have been
// handled. A message is an order of a customer. The handler takes some milliseconds for one,
// and crashes the consumer now and then. The next consumer starts after the last commit.
// The program prints a line for each consumer, and then how many messages were handled
// again, and whether any was lost or overtook another one of its customer.
//
// The exit status is 0 if no message was lost and no order was wrong, 1 if not or if the
// program was interrupted, and 2 for a wrong command line.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"

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
		fmt.Fprintln(os.Stderr, "consumer:", err)
		os.Exit(1)
	}
}

var (
	errUsage = errors.New("wrong command line") // after it has been printed to stderr
	errCrash = errors.New("crash")
)

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("consumer [flags]", flag.ContinueOnError)
	flags.SetOutput(stderr)
	messages := flags.Int("messages", 1000, "handle `n` messages")
	customers := flags.Int("customers", 50, "of `n` customers")
	crash := flags.Int("crash", 300, "crash about once in `n` messages; 0 is never")
	limit := flags.Int("limit", 16, "handle up to `n` messages concurrently")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return errUsage
	case *messages < 0 || *customers < 1 || *crash < 0 || *limit < 1 || flags.NArg() > 0:
		fmt.Fprintln(stderr, "want numbers of 1 or more, and no arguments")
		flags.Usage()
		return errUsage
	}

	b, orders := newMemory(4), make([]int, *customers)
	for range *messages {
		customer := rand.IntN(1 + rand.IntN(*customers)) // some order more than others
		b.add(fmt.Sprint("customer ", customer), strconv.Itoa(orders[customer]))
		orders[customer]++
	}
	b.close()
	s := &shop{next: map[string]int{}, crash: *crash}
	c := &consumer{broker: b, handle: s.handle, every: 20, limit: stint.Limit(*limit)}
	return s.serve(ctx, c, *messages, stdout)
}
