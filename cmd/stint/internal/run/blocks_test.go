package run

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

func TestBlocks(t *testing.T) {
	for range 300 {
		var text strings.Builder
		for range rand.IntN(20) {
			text.WriteString(strings.Repeat("x", rand.IntN(30)) + "\n")
		}
		text.WriteString(strings.Repeat("y", rand.IntN(5)))
		size := 1 + rand.IntN(40)
		var all strings.Builder
		for b, err := range blocks(iotest.HalfReader(strings.NewReader(text.String())), size, 1<<20) {
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
			last := all.Len() == text.Len()
			if len(b) == 0 || !last && b[len(b)-1] != '\n' {
				t.Fatalf("block %q of %q", b, text.String())
			}
			if len(b) > max(size, 2*31) { // twice the longest line
				t.Fatalf("a block of %d bytes, want about %d: %q", len(b), size, b)
			}
		}
		if all.String() != text.String() {
			t.Fatalf("blocks are %q, want %q", all.String(), text.String())
		}
	}
	for _, test := range []struct {
		text string
		most int
		want string // the sizes of the blocks
	}{
		{"a\nbcdefgh\ni", 8, "[2 8 1]"}, {"a\nbcdefghi\n", 8, "[2] a line is longer than a block may be, 8 bytes"}, {"abcdefg", 8, "[7]"}, {"a\nb\nc\nd\n", 8, "[4 4]"},
	} {
		sizes, failed := []int{}, ""
		for b, err := range blocks(strings.NewReader(test.text), 4, test.most) {
			if err != nil {
				failed = strings.TrimPrefix(err.Error(), "standard input:")
				break
			}
			sizes = append(sizes, len(b))
		}
		if got := fmt.Sprint(sizes) + failed; got != test.want {
			t.Errorf("%q: %s, want %s", test.text, got, test.want)
		}
	}
	for _, err := range blocks(iotest.ErrReader(io.ErrNoProgress), 8, 8) {
		if err == nil {
			t.Error("no error of the reader")
		}
	}
}
