package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
)

const sumLong = `Print or check digests, in the format of md5sum and sha256sum.

A directory is walked and every regular file below it is read, hidden ones
included; names are printed as "find PATH -type f" prints them, in the order of
their bytes ("LC_ALL=C sort"). In a directory, symbolic links are not followed
unless --follow is given, and pipes, sockets and devices are skipped with a
note, as are the temporary files of -o that a killed run has left behind, named
.stint- and 26 letters. A PATH given on the command line is read whatever it is,
and followed. Files are read side by side; the output is in order all the same.

With no PATH, or when PATH is -, standard input is read; with no PATH and
standard input a terminal, the current directory is walked.

The FILE of -o is replaced in one step when the output is complete, and keeps its
owner, group and permissions, but neither access control lists nor extended
attributes. If it has several hard links, or an owner that this user cannot give
it, the complete output is copied into it instead: a crash just then leaves a part.
If that copy fails, the message names the file .stint-..., beside FILE, which has the
output; a FILE that cannot grow for it is as before.
Symbolic links are followed, also one that leads to no file yet. What may not be
written is not replaced. Devices, pipes and open descriptors, as /dev/stdout, are
written as the output comes, those of other processes at the end of their file.

With -c, each PATH is a file of lines as printed by this command, by GNU's
tools, or by the BSD tools and "openssl dgst". Lines with a tag, such as
"MD5 (name) = ...", name their own algorithm, which must be that of -a if -a is
given; all others are read as -a says.
A file that a list does not name is not noticed.

With --cluster, the files are found here and read by workers, which "stint work"
starts on this machine and others: they must have them under the same names. The
output is the same. Standard input, pipes and devices, which they do not have,
are errors; lists of names and of digests are read here. While there is no
worker, or the server is away or its disk is full, the command waits and says for
what; for a server that refuses what is over its limits it waits half a minute.
-j is then the limit of files that all workers together read: of several commands
that run at once, the smallest counts for all. STINT_TOKEN is the token for the
server, if it needs one and there is none in the URL.`

const sumExample = `  stint sum -a md5 photos > MD5SUMS        digests of a tree
  stint sum -c -a md5 --quiet MD5SUMS      check them, print only what differs
  stint sum -o SHA256SUMS .                write the list in one step, without itself
  find . -newer stamp -print0 | stint sum --files-from - -0
  stint sum --json /etc | jq .path
  stint sum --cluster nats://127.0.0.1:4222 photos`

const sumExit = `  0    every file was read, and with -c every digest matched
  1    a file could not be read or did not match, the output could not be written,
       or the server of --cluster could not be reached or stayed full
  2    wrong command line
  130  interrupted (143: terminated, 129: hung up, 141: nobody reads the output any
       more); the file of -o is as it was before; with 1 it lists what could be read

A standard stream that is closed counts as /dev/null.`

func newSum(std streams) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:         "sum [flags] [PATH...]",
		Short:       "Print or check digests of files and trees",
		Long:        sumLong,
		Example:     sumExample,
		Annotations: map[string]string{exitStatus: sumExit},
		Args:        cobra.ArbitraryArgs,
	}
	helpWithStatus(cmd)
	o.addFlags(cmd.Flags())
	complete(cmd, "algorithm", algorithmNames()...)
	complete(cmd, "progress", "auto", "always", "never")
	complete(cmd, "jobs", "auto")
	complete(cmd, "cluster")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f := cmd.Flags()
		o.given = f.Changed("algorithm")
		err := refuseEmpty(f, "output", "files-from")
		if err == nil {
			err = o.where(f)
		}
		var s *summer
		if err == nil {
			s, err = newSummer(&o, args, std)
		}
		if err != nil {
			return &usageError{cmd.CommandPath(), err.Error()}
		}
		return s.run(cmd.Context())
	}
	return cmd
}

// summer is one run of sum.
type summer struct {
	options
	std      streams
	args     []string
	alg      *algorithm
	limit    []stint.Option // of how many digests are asked for at once
	digester *digester
	asker    *asker // nil: digester does it all
	console  *console
	out      *output
	failed   bool // a file could not be read, or did not match
}

func newSummer(o *options, args []string, std streams) (*summer, error) {
	alg, ok := algorithmByName(o.algorithm)
	if !ok {
		return nil, errors.New("unknown algorithm " + quote(o.algorithm) + ": want " + strings.Join(algorithmNames(), ", "))
	}
	limit, err := limit(o.jobs)
	if err == nil {
		err = o.validate(args)
	}
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		args = []string{"-"}
		if isTerminal(std.stdin) && !o.check {
			args[0] = "."
		}
	}
	s := &summer{options: *o, std: std, args: args, alg: alg, limit: limit}
	s.digester = newDigester(std.stdin)
	s.console = &console{w: std.stderr}
	s.out = newOutput(std.stdout)
	s.out.before = func() { s.console.hideFrom(std.stdout) }
	return s, nil
}

func (s *summer) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s.out.broken = cancel // also while all that there is to do is to wait
	work := s.print
	if s.check {
		work = s.verify
	}
	if s.connection.url != "" {
		work = s.onCluster(work)
	}
	err := work(ctx)
	if e := s.out.flush(); err == nil { // after an error too: what is finished is printed
		err = e
	}
	if err == nil && s.failed {
		err = errFailed
	}
	return err
}

// onCluster is work, with digests that workers compute.
func (s *summer) onCluster(work func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		e, err := s.connection.connect(ctx, cluster.Log(newRoomLog(s.console)))
		if err != nil {
			return err
		}
		defer e.Close()
		if err := s.askWorkers(e); err != nil {
			return err
		}
		return work(ctx)
	}
}

// fail reports what is wrong with one path, after the results before it.
func (s *summer) fail(path string, err error) {
	s.failed = true
	s.note(quote(path) + ": " + reason(err))
}

func (s *summer) note(text string) {
	_ = s.out.flush() // its error sticks, and comes with the next line
	s.console.message(text)
}

// print writes the digests of everything that the command line names. The file
// of -o is committed when all items have been dealt with, also if some could
// not be read; whatever else ends the run leaves it as it was.
func (s *summer) print(ctx context.Context) error {
	paths, err := s.paths(ctx)
	if err != nil {
		return s.cannot(ctx, s.filesFrom, err)
	}
	w := &walker{ctx: ctx, files: &s.digester.files, follow: s.follow}
	if s.filesFrom == "-" {
		w.noStdin = errors.New("standard input is the list of files")
	}
	if s.output == "" || s.output == "-" {
		return s.printAll(ctx, w, paths)
	}
	t, err := openTarget(ctx, s.output)
	if err != nil {
		return s.cannot(ctx, s.output, err)
	}
	defer t.discard()
	w.exclude = t
	s.out.w = t.file
	if err := s.printAll(ctx, w, paths); err != nil {
		return err
	}
	return t.commit()
}

// printAll is the work itself, under the progress line. The error is of the
// output or of ctx.
func (s *summer) printAll(ctx context.Context, w *walker, paths iter.Seq[item]) error {
	stop := s.watch(ctx, s.counting(ctx, w))
	defer stop()
	lines := style{tag: s.tag, zero: s.zero, binary: s.mode == modeBinary, json: s.json}
	var line []byte
	for r, err := range s.digests(ctx, s.wanted(w.items(paths))) {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		s.console.files.Add(1)
		switch {
		case r.kind == skipped:
			s.note(quote(r.path) + ": skipped: " + r.note)
			continue
		case r.err != nil:
			s.fail(r.path, r.err)
			if !s.json {
				continue
			}
		}
		line = lines.appendLine(line[:0], &r)
		if err := s.out.line(line); err != nil {
			return err
		}
	}
	return s.out.flush()
}

// wanted are the digests to be printed.
func (s *summer) wanted(items iter.Seq[item]) iter.Seq[result] {
	return func(yield func(result) bool) {
		for it := range items {
			if !yield(result{item: it, alg: s.alg}) {
				return
			}
		}
	}
}

// digests yields what is wanted, with the digests, in the same order.
func (s *summer) digests(ctx context.Context, wanted iter.Seq[result]) iter.Seq2[result, error] {
	if s.asker != nil {
		return s.asker.digests(ctx, wanted)
	}
	opts := append(slices.Clone(s.limit), stint.Queue(runAhead))
	return patientSeq(ctx, stint.MapSeq(ctx, wanted, s.digester.digest, opts...))
}

// cannot reports a file that the run cannot begin without, unless ctx ended the
// wait for it.
func (s *summer) cannot(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.fail(path, err)
	return errFailed
}

// paths yields the paths to begin with: the arguments, or what --files-from
// lists.
func (s *summer) paths(ctx context.Context) (iter.Seq[item], error) {
	switch s.filesFrom {
	case "":
		return func(yield func(item) bool) {
			for _, path := range s.args {
				if !yield(item{path: path}) {
					return
				}
			}
		}, nil
	case "-":
		return s.list(&patientReader{ctx, s.std.stdin}, "standard input"), nil
	}
	f, err := s.openList(ctx, s.filesFrom)
	if err != nil {
		return nil, err
	}
	list := s.list(&patientReader{ctx, f}, s.filesFrom)
	return func(yield func(item) bool) {
		defer f.Close()
		list(yield)
	}, nil
}

// openList opens a file of names or digests, which may be a pipe.
func (s *summer) openList(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := patiently(ctx, func() (io.ReadCloser, error) { return opened(ctx, &s.digester.files, path, openAny) })
	if err == nil {
		s.digester.files.keep()
	}
	return f, err
}

// list reads paths from r as they are asked for. An empty line is passed over;
// an empty name between NULs is a mistake, and reported, as is one that is too long.
func (s *summer) list(r io.Reader, name string) iter.Seq[item] {
	end := byte('\n')
	if s.null {
		end = 0
	}
	return func(yield func(item) bool) {
		b := bufio.NewReaderSize(r, maxLine)
		for n := 1; ; n++ {
			path, err := readLine(b, end)
			path, ended := bytes.CutSuffix(path, []byte{end})
			it := item{path: string(path)}
			switch {
			case err == bufio.ErrBufferFull:
				it, err = item{path: name, err: fmt.Errorf("file name %d is too long", n)}, nil
			case it.path == "" && ended && s.null:
				it = item{path: name, err: errors.New("invalid zero-length file name")}
			}
			if it.path != "" && !yield(it) {
				return
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(item{path: name, err: err})
				return
			}
		}
	}
}
