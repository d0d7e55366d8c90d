// Package files finds, opens and replaces the files that "stint sum" reads and writes: it walks
// directories, confines reads to one directory, and replaces an output file in one step.
package files

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Kind says how an item is read.
type Kind uint8

const (
	Regular    Kind = iota // a regular file
	Listed                 // named by a checksum file, and not looked at yet
	Special                // a pipe, device or socket named on the command line: reading may block
	Stdin                  // standard input
	StdinAgain             // standard input after it has been read to its end
	Skipped                // a special file in a directory: Err is nil
)

// Item is one file to read, or the reason why there is none.
type Item struct {
	Path string
	Kind Kind
	Err  error
}

// ErrNotRegular is the error for a file that is not regular, or no longer.
var ErrNotRegular = errors.New("no longer a regular file")

// KindOf returns Special or Regular. A file that cannot be looked at is Regular:
// opening it returns the error.
func KindOf(path string) Kind {
	if info, err := os.Stat(path); err == nil && isSpecial(info.Mode()) {
		return Special
	}
	return Regular
}

// isSpecial reports whether reading the file may block.
func isSpecial(mode fs.FileMode) bool { return !mode.IsRegular() && !mode.IsDir() }

// opener is os.OpenFile, or that of an os.Root.
type opener func(path string, flag int, perm fs.FileMode) (*os.File, error)

// OpenRegular opens a regular file, and fails for any other. A directory is opened, and
// fails when it is read.
func OpenRegular(ctx context.Context, path string) (*os.File, error) {
	return openRegular(ctx, path, os.OpenFile)
}

// openRegular looks at the open file, since path may have been replaced after it was
// looked at.
func openRegular(ctx context.Context, path string, open opener) (*os.File, error) {
	f, err := openWaiting(ctx, path, open)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !isSpecial(info.Mode()) {
		return f, nil
	}
	f.Close()
	return nil, cmp.Or(err, ErrNotRegular)
}

// An open that fails for want of a descriptor, or since another process such as a file
// server has a lease on the file, is repeated for a minute. The kernel breaks a lease
// after 45 seconds by default.
const (
	maxOpens     = 6000
	openInterval = 10 * time.Millisecond
)

// openWaiting opens a file for reading. It does not wait for the other end of a pipe.
func openWaiting(ctx context.Context, path string, open opener) (*os.File, error) {
	for n := 1; ; n++ {
		f, err := open(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		passes := errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.EAGAIN)
		if !passes || n == maxOpens {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(openInterval):
		}
	}
}
