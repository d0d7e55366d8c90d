// Package sum prints and checks digests of files, on this machine or by the workers of a
// cluster.
package sum

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/files"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
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

// Mode is the marker of printed names.
type Mode int

const (
	ModeUnset  Mode = iota // a space
	ModeBinary             // an asterisk
	ModeText               // a space
)

// Options are the flags of "stint sum".
type Options struct {
	Algorithm     string
	OneAlgorithm  bool // a check refuses lines of other algorithms
	Tag           bool
	Zero          bool
	Mode          Mode
	JSON          bool
	Check         bool
	Report        Report
	Strict        bool
	IgnoreMissing bool
	FilesFrom     string
	Null          bool
	Output        string
	Jobs          int // files read concurrently; 0: the adaptive limit
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
	cluster  *clusterDigester // nil: digester reads all files
	console  *console.Console
	out      *console.Output
	done     atomic.Int64 // files finished, for the progress line
	failed   bool         // a file could not be read, or did not match
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
		client, err := s.connect(ctx)
		if err != nil {
			return err
		}
		defer client.Close()
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
	if s.cluster != nil {
		return s.cluster.digests(ctx, wanted)
	}
	opts := []stint.Option{stint.Queue(maxFilesAhead)}
	if s.Jobs > 0 {
		opts = append(opts, stint.Limit(s.Jobs))
	}
	return interrupt.Seq(ctx, stint.MapSeq(ctx, wanted, s.digester.digest, opts...))
}

// fail reports an error of one path, after the results before it.
func (s *Summer) fail(path string, err error) {
	s.failed = true
	s.note(console.Quote(path) + ": " + console.Reason(err))
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
	paths, err := s.paths(ctx)
	if err != nil {
		return s.cannotStart(ctx, s.FilesFrom, err)
	}
	w := &files.Walker{Descriptors: &s.digester.files, Follow: s.Follow}
	if s.FilesFrom == "-" {
		w.NoStdin = errors.New("standard input is the list of files")
	}
	if s.Output == "" || s.Output == "-" {
		return s.printAll(ctx, w, paths)
	}
	t, err := files.Create(ctx, s.Output)
	if err != nil {
		return s.cannotStart(ctx, s.Output, err)
	}
	defer t.Discard()
	w.Exclude = t
	s.out.Redirect(t)
	if err := s.printAll(ctx, w, paths); err != nil {
		return err
	}
	return t.Commit()
}

// cannotStart reports an error of a file that the run needs, unless ctx has ended.
func (s *Summer) cannotStart(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.fail(path, err)
	return console.ErrReported
}

// printAll prints the digests of the files that w finds. It returns an error of the
// output or of ctx.
func (s *Summer) printAll(ctx context.Context, w *files.Walker, paths iter.Seq[files.Item]) error {
	stop := s.showProgress(ctx, s.secondWalk(ctx, w))
	defer stop()
	lines := style{tag: s.Tag, zero: s.Zero, binary: s.Mode == ModeBinary, json: s.JSON}
	var line []byte
	for r, err := range s.digests(ctx, s.wanted(w.Items(ctx, paths))) {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		s.done.Add(1)
		switch {
		case r.Kind == files.Skipped:
			s.note(console.Quote(r.Path) + ": skipped: " + r.Note)
			continue
		case r.Err != nil:
			s.fail(r.Path, r.Err)
			if !s.JSON {
				continue
			}
		}
		line = lines.appendLine(line[:0], &r)
		if err := s.out.Line(line); err != nil {
			return err
		}
	}
	return s.out.Flush()
}

// wanted yields the results to print.
func (s *Summer) wanted(items iter.Seq[files.Item]) iter.Seq[result] {
	return func(yield func(result) bool) {
		for it := range items {
			if !yield(result{Item: it, alg: s.alg}) {
				return
			}
		}
	}
}
