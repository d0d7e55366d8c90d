// Command digest prints the SHA-256 digest of every regular file in a directory
// tree, in the order of the walk, as sha256sum does.
//
//	go run ./examples/digest         the files of the current directory
//	go run ./examples/digest DIR     the files of DIR, with paths relative to it
//
// It shows a stream of ordered results: stint.MapSeq over an iter.Seq. The walk
// is pulled as tasks finish and lines are written, so memory holds a few files
// and the names of one directory, however large the tree. Without -limit, stint
// finds how many files to read concurrently. An error of a file or of the walk
// is a task's error: it ends the run after the lines before it.
//
// The exit status is 0 if all files were read, 1 if not, and 2 for a wrong
// command line. The command stint sum does this job in full.
package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/signal"
	"strconv"
	"strings"

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
		fmt.Fprintln(os.Stderr, "digest:", err)
		os.Exit(1)
	}
}

// errUsage is returned after the error has been printed to stderr.
var errUsage = errors.New("wrong command line")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var opts []stint.Option
	flags := flag.NewFlagSet("digest [flags] [DIR]", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Func("limit", "read up to `n` files concurrently (default adaptive)", func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return errors.New("want 1 or more")
		}
		opts = append(opts, stint.Limit(n)) // the last one counts
		return nil
	})
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return errUsage
	case flags.NArg() > 1:
		fmt.Fprintln(stderr, "more than one directory")
		flags.Usage()
		return errUsage
	}

	dir := "."
	if flags.NArg() == 1 {
		dir = flags.Arg(0)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return digests(ctx, root.FS(), stdout, opts...)
}

// digests writes a line for each regular file of a tree.
func digests(ctx context.Context, tree fs.FS, w io.Writer, opts ...stint.Option) error {
	// Names are escaped to one line; a backslash marks an escaped one.
	escaper := strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`)
	line := func(ctx context.Context, f found) (string, error) {
		if f.err != nil {
			return "", f.err
		}
		sum, err := digest(ctx, tree, f.path)
		name := escaper.Replace(f.path)
		if name != f.path {
			return fmt.Sprintf("\\%x  %s\n", sum, name), err
		}
		return fmt.Sprintf("%x  %s\n", sum, name), err
	}
	for line, err := range stint.MapSeq(ctx, files(tree), line, opts...) {
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err // leaving the loop ends the walk and the tasks
		}
	}
	return nil
}

// found is a regular file, or the error that ended the walk.
type found struct {
	path string
	err  error
}

// files yields the regular files of a tree, each directory in the order of its
// names. It does not follow symbolic links.
func files(tree fs.FS) iter.Seq[found] {
	return func(yield func(found) bool) {
		err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.Type().IsRegular() && !yield(found{path: path}) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(found{err: err})
		}
	}
}

// digest returns the digest of a file. Its errors name the file.
func digest(ctx context.Context, tree fs.FS, path string) ([]byte, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, reader{ctx, f}); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

// A reader stops when its context ends, since a file may be long.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}
