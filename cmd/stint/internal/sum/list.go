package sum

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/stint-go/stint/cmd/stint/internal/files"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
)

// maxLine bounds a line of a list: a longer one ends the list. The longest path that can be
// opened, with every byte escaped, is far shorter.
const maxLine = 64 << 10

var errTooLong = errors.New("a line is too long")

// list is an open list of names or digests, which may be a pipe.
type list struct {
	*bufio.Scanner // of lines without their ends
	io.Closer
	name  string // as messages print it
	isNUL bool   // lines end in NUL, not newline
}

// openList opens the list at path. It is standard input if path is -.
func (s *Summer) openList(ctx context.Context, path string, isNUL bool) (*list, error) {
	l := &list{name: "standard input", isNUL: isNUL}
	in := s.std.Stdin
	l.Closer = io.NopCloser(in)
	if path != "-" {
		f, err := interrupt.Call(ctx, func() (*os.File, error) { return os.Open(path) })
		if err != nil {
			return nil, err
		}
		in, l.name, l.Closer = f, path, f
	}
	l.Scanner = bufio.NewScanner(interrupt.NewReader(ctx, in))
	l.Buffer(nil, maxLine)
	l.Split(l.split)
	return l, nil
}

// split is a bufio.SplitFunc.
func (l *list) split(data []byte, atEOF bool) (advance int, line []byte, err error) {
	end := "\n"
	if l.isNUL {
		end = "\x00"
	}
	line, _, ended := bytes.Cut(data, []byte(end))
	switch {
	case ended:
		return len(line) + 1, line, nil
	case atEOF && len(line) > 0:
		return len(line), line, nil
	}
	return 0, nil, nil
}

// Err returns the error that ended the list.
func (l *list) Err() error {
	err := l.Scanner.Err()
	if err == bufio.ErrTooLong {
		return errTooLong
	}
	return err
}

// paths yields the names in the list. It skips an empty line. An empty name between NULs
// is an error.
func (l *list) paths(yield func(files.Item) bool) {
	for l.Scan() {
		it := files.Item{Path: l.Text()}
		if it.Path == "" && l.isNUL {
			it = files.Item{Path: l.name, Err: errors.New("invalid zero-length file name")}
		}
		if it.Path != "" && !yield(it) {
			return
		}
	}
	if err := l.Err(); err != nil {
		yield(files.Item{Path: l.name, Err: err})
	}
}
