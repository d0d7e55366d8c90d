package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
)

// blocks cuts what r has into blocks of size bytes or less, at the ends of lines. A block with a
// line that is longer is larger, at most twice as large as the line. A line of most bytes or more is
// an error. The caller owns the blocks.
func blocks(r io.Reader, size, most int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var rest []byte
		for {
			if len(rest) >= most {
				yield(nil, fmt.Errorf("standard input: a line is longer than a block may be, %d bytes", most))
				return
			}
			b := make([]byte, min(max(size, 2*len(rest)), most))
			n := copy(b, rest)
			m, err := io.ReadFull(r, b[n:])
			b = b[:n+m]
			ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
			switch {
			case err != nil && !ended:
				yield(nil, err)
				return
			case ended:
				if len(b) > 0 {
					yield(b, nil)
				}
				return
			}
			end := bytes.LastIndexByte(b, '\n') + 1
			rest = b[end:]
			if end > 0 && !yield(b[:end:end], nil) {
				return
			}
		}
	}
}
