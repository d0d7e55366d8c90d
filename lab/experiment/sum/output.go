package sum

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
)

// An output is what a model printed, in short: two with the same fields are
// the same lines, in the same order if bytes are equal too.
type output struct {
	lines int
	sum   uint64 // of the digests of the lines, whatever their order
	bytes [sha256.Size]byte
}

// readOutput reads what a run has printed into a file. It keeps no more than a
// line, so that the laboratory stays small.
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

// differs says how an output differs from the one that is wanted, or "".
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
