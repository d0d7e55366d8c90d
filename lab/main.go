// Command lab runs the benchmarks of the laboratory in rounds, and reports what they say about the articles' conclusions
// and ours.
//
//	go run ./lab run --quick -o /tmp/quick
//	go run ./lab run -o results
//	go run ./lab report results
//
// The benchmarks are ordinary Go benchmarks, and run without it too:
//
//	GOGC=off go test -cpu 1,2 -run none -bench CPU -benchtime 3s ./lab/pools
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/stint-go/stint/lab/report"
)

// commands are what the first argument may be.
var commands = map[string]func(ctx context.Context, args []string, stdout, stderr io.Writer) error{
	"run": run, "report": reportCommand,
}

const usage = `usage: lab run [-quick] [-cores] [-o DIR] [DIRECTORY...]
       lab report DIR [FILE...]

A report goes to standard output, or into files: NAME.html is a page that needs no network, NAME-light.svg and NAME-dark.svg
are the README's picture, and in a document, such as BENCHMARKS.md, what the laboratory wrote is replaced.

lab COMMAND -help lists the flags.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(start(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// start runs a command and returns the exit status: 2 for a wrong command line, 1 for another error.
func start(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || commands[args[0]] == nil {
		fmt.Fprint(stderr, usage)
		return 2
	}
	err := commands[args[0]](ctx, args[1:], stdout, stderr)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(stderr, "lab:", err)
	if wrong := new(usageError); errors.As(err, &wrong) {
		return 2
	}
	return 1
}

// reportCommand prints what results say, or writes it into files.
func reportCommand(_ context.Context, args []string, stdout, _ io.Writer) error {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return &usageError{errors.New("report: want a directory of results, and then files")}
	}
	r, err := report.New(args[0])
	if err == nil && len(args) == 1 {
		_, err = io.WriteString(stdout, r.Markdown())
	}
	for _, name := range args[1:] {
		var text string
		if err == nil {
			text, err = r.File(name)
		}
		if err == nil {
			err = os.WriteFile(name, []byte(text), 0o666)
		}
	}
	return err
}

// A usageError is a wrong command line.
type usageError struct{ error }

// parse parses flags, whose errors are wrong command lines.
func parse(flags *flag.FlagSet, args []string, stderr io.Writer) error {
	flags.SetOutput(stderr)
	err := flags.Parse(args)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		return &usageError{err}
	}
	return err
}
