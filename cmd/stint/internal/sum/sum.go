// Package sum prints and checks digests of files, on this machine or by the workers of a
// cluster.
package sum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/files"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/server"
)

// Report is how much a check prints.
type Report int

const (
	ReportAll    Report = iota // a line for each file
	ReportQuiet                // no line for files that match
	ReportStatus               // nothing
	ReportWarn                 // improperly formatted lines too
)

// Options are the flags of "stint sum".
type Options struct {
	Algorithm     string
	OneAlgorithm  bool // a check refuses lines of other algorithms
	Tag           bool
	Zero          bool
	Binary        bool // names are marked with *
	JSON          bool
	Check         bool
	Report        Report
	Strict        bool
	IgnoreMissing bool
	FilesFrom     string
	Null          bool
	Output        string
	Jobs          limit.Jobs // files read concurrently; never a file
	Follow        bool
	Progress      string
	Server        server.Connection // workers of this server read the files; without a URL this process does
}

// Summer is one run of "stint sum".
type Summer struct {
	Options
	std      console.Streams
	args     []string
	alg      *algorithm
	digester *digester
	client   *cluster.Client // nil: digester reads all files
	console  *console.Console
	out      *console.Output
	done     atomic.Int64 // files finished, for the progress line
	failed   bool         // a file could not be read, or did not match
	line     []byte       // memory of printLine
}

// maxFilesAhead bounds the files finished while the next file in order is still being
// read. A core can read small files while another reads a large one, and memory is
// bounded: a finished file takes some hundred bytes.
const maxFilesAhead = 1 << 15

// New returns a run for the paths args. Without any it reads standard input, or walks
// the current directory if that is a terminal.
func New(o *Options, args []string, std console.Streams) (*Summer, error) {
	alg, ok := algorithmByName(o.Algorithm)
	if !ok {
		return nil, errors.New("unknown algorithm " + console.Quote(o.Algorithm) + ": want " + strings.Join(Algorithms(), ", "))
	}
	if len(args) == 0 {
		args = []string{"-"}
		if console.IsTerminal(std.Stdin) && !o.Check {
			args[0] = "."
		}
	}
	return &Summer{
		Options: *o, std: std, args: args, alg: alg,
		digester: newDigester(std.Stdin), console: console.New(std.Stderr),
	}, nil
}

// Run prints or checks all digests.
func (s *Summer) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.out = console.NewOutput(s.std.Stdout, s.console, cancel) // a write error ends the run at once
	work := s.print
	if s.Check {
		work = s.check
	}
	if s.Server.URL != "" {
		var err error
		if s.client, err = s.Server.Connect(ctx); err != nil {
			return err
		}
		defer s.client.Close()
	}
	err := work(ctx)
	if e := s.out.Flush(); err == nil { // flush after an error too: finished lines are printed
		err = e
	}
	if err == nil && s.failed {
		err = console.ErrReported
	}
	return err
}

// digests yields the results that are wanted, with their digests, in the same order.
func (s *Summer) digests(ctx context.Context, wanted iter.Seq[result]) iter.Seq2[result, error] {
	if s.client != nil {
		return s.remoteDigests(ctx, wanted)
	}
	opts := []stint.Option{stint.Queue(maxFilesAhead)}
	if n := s.Jobs.N(); n > 0 {
		opts = append(opts, stint.Limit(n))
	}
	return interrupt.Seq(ctx, stint.MapSeq(ctx, wanted, s.digester.read, opts...))
}

// reportAll reports all results that are wanted, in order, and the progress. It returns an
// error of the output or of ctx.
func (s *Summer) reportAll(ctx context.Context, wanted iter.Seq[result]) error {
	defer s.showProgress()()
	for r, err := range s.digests(ctx, wanted) {
		if err = cmp.Or(err, context.Cause(ctx)); err == nil {
			err = r.report(&r)
		}
		if err != nil {
			return err
		}
	}
	return s.out.Flush()
}

// fail reports an error of one path, after the results before it. It returns nil.
func (s *Summer) fail(path string, err error) error {
	s.failed = true
	s.note(console.Quote(path) + ": " + console.Reason(err))
	return nil
}

// note prints a message, after the results before it.
func (s *Summer) note(text string) {
	_ = s.out.Flush() // the next line returns the error
	s.console.Message(text)
}

// print prints the digests of all files that the command line names. It commits the file
// of -o when all files are finished, even if some could not be read; any other error
// leaves that file as it was.
func (s *Summer) print(ctx context.Context) error {
	w := &files.Walker{Follow: s.Follow}
	paths := s.paths
	if s.FilesFrom != "" {
		list, err := s.openList(ctx, s.FilesFrom)
		if err != nil {
			return cannotStart(s.FilesFrom, err)
		}
		defer list.Close()
		if s.FilesFrom == "-" {
			w.Stdin() // a line that is "-" finds it read
		}
		paths = s.listed(list)
	}
	if slices.Contains([]string{"", "-", "/dev/stdout"}, s.Output) {
		return s.printAll(ctx, w, paths)
	}
	t, err := files.Create(ctx, s.Output)
	if err != nil {
		return cannotStart(s.Output, err)
	}
	defer t.Discard()
	w.Exclude = t
	s.out.Redirect(t)
	if err := s.printAll(ctx, w, paths); err != nil {
		return err
	}
	return t.Commit()
}

// cannotStart is the error of a file that the run needs.
func cannotStart(path string, err error) error {
	return console.Failure(console.Quote(path) + ": " + console.Reason(err))
}

// printAll prints the digests of the files that w finds. It returns an error of the
// output or of ctx.
func (s *Summer) printAll(ctx context.Context, w *files.Walker, paths iter.Seq[files.Item]) error {
	return s.reportAll(ctx, func(yield func(result) bool) {
		for it := range w.Items(ctx, paths) {
			if !yield(result{Item: it, alg: s.alg, report: s.printLine}) {
				return
			}
		}
	})
}

// printLine prints the line of a file, or why there is none.
func (s *Summer) printLine(r *result) error {
	s.done.Add(1)
	switch {
	case r.Kind == files.Skipped:
		s.note(console.Quote(r.Path) + ": skipped: not a regular file")
		return nil
	case r.Err != nil:
		if _ = s.fail(r.Path, r.Err); !s.JSON {
			return nil
		}
	}
	s.line = s.appendLine(s.line[:0], r)
	return s.out.Line(s.line)
}

// paths yields the paths of the command line.
func (s *Summer) paths(yield func(files.Item) bool) {
	for _, path := range s.args {
		if !yield(files.Item{Path: path}) {
			return
		}
	}
}

// showProgress shows the progress line until stop is called, and then a last one, if --progress wants
// them.
func (s *Summer) showProgress() (stop func()) {
	readsStdin := s.FilesFrom == "-" || slices.Contains(s.args, "-")
	progress := s.std.Progress(s.Progress, readsStdin && console.IsTerminal(s.std.Stdin))
	if s.Progress == "auto" && readsStdin && console.IsPipe(s.std.Stdin) { // what writes to the pipe may write errors
		progress = console.NoProgress
	}
	started := time.Now()
	line := func(elapsed string) string {
		n, what, bytes := s.done.Load(), "files", float64(s.digester.bytes.Load())
		if n == 1 {
			what = "file"
		}
		rate := bytes / max(time.Since(started).Seconds(), 1e-3)
		return fmt.Sprintf("%d %s, %s%s, %s/s", n, what, console.Bytes(bytes), elapsed, console.Bytes(rate))
	}
	return s.console.Follow(progress, func() string { return line("") }, func() string {
		return line(" in " + console.Elapsed(time.Since(started)))
	})
}
