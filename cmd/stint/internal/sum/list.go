package sum

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/stint-go/stint/cmd/stint/internal/files"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
)

// maxLine bounds a line of a checksum file or of a list of names. The longest path that
// can be opened, with every byte escaped, is far shorter.
const maxLine = 64 << 10

// paths returns the paths to start with: the arguments, or the lines of --files-from.
func (s *Summer) paths(ctx context.Context) (iter.Seq[files.Item], error) {
	switch s.FilesFrom {
	case "":
		return func(yield func(files.Item) bool) {
			for _, path := range s.args {
				if !yield(files.Item{Path: path}) {
					return
				}
			}
		}, nil
	case "-":
		return s.names(interrupt.NewReader(ctx, s.std.Stdin), "standard input"), nil
	}
	f, err := s.openList(ctx, s.FilesFrom)
	if err != nil {
		return nil, err
	}
	names := s.names(interrupt.NewReader(ctx, f), s.FilesFrom)
	return func(yield func(files.Item) bool) {
		defer f.Close()
		names(yield)
	}, nil
}

// openList opens a file of names or digests, which may be a pipe.
func (s *Summer) openList(ctx context.Context, path string) (io.ReadCloser, error) {
	f, err := interrupt.Call(ctx, func() (io.ReadCloser, error) {
		return files.Open(ctx, &s.digester.files, path, files.OpenAny)
	})
	if err == nil {
		s.digester.files.Exempt()
	}
	return f, err
}

// names yields the paths that list, read from r, contains. It skips an empty line. An
// empty name between NULs and a name that is too long are errors.
func (s *Summer) names(r io.Reader, list string) iter.Seq[files.Item] {
	end := byte('\n')
	if s.Null {
		end = 0
	}
	return func(yield func(files.Item) bool) {
		b := bufio.NewReaderSize(r, maxLine)
		for n := 1; ; n++ {
			path, err := readLine(b, end)
			path, ended := bytes.CutSuffix(path, []byte{end})
			it := files.Item{Path: string(path)}
			switch {
			case err == bufio.ErrBufferFull:
				it, err = files.Item{Path: list, Err: fmt.Errorf("file name %d is too long", n)}, nil
			case it.Path == "" && ended && s.Null:
				it = files.Item{Path: list, Err: errors.New("invalid zero-length file name")}
			}
			if it.Path != "" && !yield(it) {
				return
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(files.Item{Path: list, Err: err})
				return
			}
		}
	}
}

// readLine reads a line that ends in end, which it returns with the line. If the line
// does not fit in r's buffer, readLine returns its beginning and bufio.ErrBufferFull.
// The line is valid until the next read.
func readLine(r *bufio.Reader, end byte) ([]byte, error) {
	line, err := r.ReadSlice(end)
	if err != bufio.ErrBufferFull {
		return line, err
	}
	line = bytes.Clone(line)
	for err == bufio.ErrBufferFull {
		_, err = r.ReadSlice(end)
	}
	if err == nil || err == io.EOF {
		err = bufio.ErrBufferFull
	}
	return line, err
}
