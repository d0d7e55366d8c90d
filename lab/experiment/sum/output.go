package sum

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
)

// An output summarizes a model's output: if lines and sum are equal, the lines
// are the same, and if bytes are equal, also their order.
type output struct {
	lines int
	sum   uint64 // of the digests of the lines, in any order
	bytes [sha256.Size]byte
}

// readOutput reads a model's output from a file, line by line, so that the
// laboratory stays small.
func readOutput(name string) (output, error) {
	f, err := os.Open(name)
	if err != nil {
		return output{}, err
	}
	defer f.Close()
	var o output
	all := sha256.New()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := append(lines.Bytes(), '\n')
		all.Write(line)
		digest := sha256.Sum256(line)
		o.sum += binary.LittleEndian.Uint64(digest[:])
		o.lines++
	}
	all.Sum(o.bytes[:0])
	return o, lines.Err()
}

// differs describes how an output differs from the expected one; "" if it does
// not.
func (o output) differs(want output, ordered bool) string {
	switch {
	case o.lines != want.lines:
		return fmt.Sprintf("%d lines, want %d", o.lines, want.lines)
	case o.sum != want.sum:
		return "other lines"
	case ordered && o.bytes != want.bytes:
		return "the same lines in another order"
	}
	return ""
}
