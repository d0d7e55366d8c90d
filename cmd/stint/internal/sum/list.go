package sum

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
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
	name string // as messages print it
}

// openList opens the list at path. It is standard input if path is -.
func (s *Summer) openList(ctx context.Context, path string) (*list, error) {
	l := &list{name: "standard input"}
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
	if s.Null {
		l.Split(splitNUL)
	}
	return l, nil
}

// splitNUL is a bufio.SplitFunc.
func splitNUL(data []byte, atEOF bool) (advance int, name []byte, err error) {
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
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

// listed yields the names in the list. It skips an empty line. With s.Null an empty name is an
// error.
func (s *Summer) listed(l *list) iter.Seq[files.Item] {
	return func(yield func(files.Item) bool) {
		for l.Scan() {
			it := files.Item{Path: l.Text()}
			if it.Path == "" && s.Null {
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
}
