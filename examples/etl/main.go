// Command etl reads orders as CSV, looks up their prices, and inserts them in
// batches. It writes the table to standard output, as JSON lines. Without a file
// it reads orders.csv; - is standard input.
//
//	go run ./examples/etl [-rejects FILE] [FILE]
//
// It shows a pipeline of package stream, in the function load. Prices are
// looked up concurrently under a limiter while input is read and batches are
// written, all in the order of the input. A bad order carries its error to a
// second output and ends nothing.
//
// The exit status is 0 if all input was read, even if orders were rejected, 1
// if not, and 2 for a wrong command line. At a terminal, an interrupt takes
// effect with the next line of input, a second one at once.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/stint-go/stint"
)

//go:embed orders.csv
var orders string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt ends the process: a blocked read sees no context
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "etl:", err)
		os.Exit(1)
	}
}

// errUsage is returned after the error has been printed to stderr.
var errUsage = errors.New("wrong command line")

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (failed error) {
	l := &loader{table: stdout, rejects: stderr, batch: 10, price: price, server: stint.Auto(1, 32)}
	flags := flag.NewFlagSet("etl [flags] [FILE]", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("limit", "look up `n` prices concurrently (default adaptive, up to 32)", number(func(n int) { l.server = stint.Limit(n) }))
	flags.Func("batch", "insert `n` orders at a time (default 10)", number(func(n int) { l.batch = n }))
	rejects := flags.String("rejects", "", "write rejected orders to this `file`, not to standard error")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return errUsage
	case flags.NArg() > 1:
		fmt.Fprintln(stderr, "more than one file")
		flags.Usage()
		return errUsage
	}

	in := stdin
	switch name := flags.Arg(0); {
	case flags.NArg() == 0:
		in = strings.NewReader(orders)
	case name != "-":
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	if *rejects != "" {
		f, err := os.Create(*rejects)
		if err != nil {
			return err
		}
		defer func() { failed = errors.Join(failed, f.Close()) }()
		l.rejects = f
	}
	defer func() { fmt.Fprintln(stderr, l) }()
	return l.load(ctx, in)
}

// number returns a flag function for a number of at least 1.
func number(set func(int)) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return errors.New("want 1 or more")
		}
		set(n)
		return nil
	}
}

// errUnknown is returned for a product that the server does not know.
var errUnknown = errors.New("not for sale")

// price simulates a request for the price of a product, which can be
// interrupted.
func price(ctx context.Context, product string) (cents int, err error) {
	answer := time.NewTimer(5 * time.Millisecond)
	defer answer.Stop()
	select {
	case <-answer.C:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	cents, ok := map[string]int{"apple": 25, "pear": 40, "plum": 12}[product]
	if !ok {
		return 0, errUnknown
	}
	return cents, nil
}
