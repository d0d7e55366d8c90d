package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// cut writes s to w in random parts.
func cut(w io.Writer, s string) {
	for len(s) > 0 {
		n := 1 + rand.IntN(len(s))
		_, _ = io.WriteString(w, s[:n])
		s = s[n:]
	}
}

func TestTagWriter(t *testing.T) {
	for range 200 {
		var b bytes.Buffer
		cut(&tagWriter{w: &b, tag: []byte("t\t")}, "a\n\nbc\nlast")
		if want := "t\ta\nt\t\nt\tbc\nt\tlast"; b.String() != want {
			t.Fatalf("%q, want %q", b.String(), want)
		}
	}
}

// whole is a writer that wants whole lines.
type whole struct {
	t *testing.T
	b bytes.Buffer
}

func (w *whole) Write(b []byte) (int, error) {
	if !bytes.HasSuffix(b, []byte("\n")) {
		w.t.Errorf("wrote %q, want whole lines", b)
	}
	return w.b.Write(b)
}

func TestLineWriter(t *testing.T) {
	const text = "a\n\nbcd\ne\n"
	for range 200 {
		w := &whole{t: t}
		l := &lineWriter{w: w}
		cut(l, text+"rest")
		if w.b.String() != text || string(l.rest) != "rest" {
			t.Fatalf("wrote %q and kept %q", w.b.String(), l.rest)
		}
	}
}

// TestLongLine wants that no more than maxLine is kept.
func TestLongLine(t *testing.T) {
	var b bytes.Buffer
	l := &lineWriter{w: &b}
	part := bytes.Repeat([]byte("x"), maxLine/3)
	for range 10 {
		_, _ = l.Write(part)
		if len(l.rest) > maxLine {
			t.Fatalf("%d bytes kept", len(l.rest))
		}
	}
	l.flush()
	if b.Len() != 10*len(part) {
		t.Errorf("%d bytes written, want %d", b.Len(), 10*len(part))
	}
}

func TestCopyString(t *testing.T) {
	long := strings.Repeat("ä\U0001F600\"\\\n\x00<", 20000)
	for _, test := range []struct {
		text  string
		valid bool
	}{{"", true}, {"plain", true}, {"tab\t\"quoted\" \\ \x01 <&>\u2028", true}, {long, true}, {long + "\xff", false}, {"\xe4\xb8", false}, {"a\xffb", false}} {
		for _, r := range []io.Reader{strings.NewReader(test.text), iotest.OneByteReader(strings.NewReader(test.text)), iotest.DataErrReader(strings.NewReader(test.text))} {
			var b bytes.Buffer
			b.WriteByte('"')
			valid := copyString(&b, r)
			b.WriteByte('"')
			var got string
			if err := json.Unmarshal(b.Bytes(), &got); err != nil || valid != test.valid || valid && got != test.text {
				t.Errorf("%.20q: valid %v, %v, got %.20q", test.text, valid, err, got)
			}
			if !utf8.ValidString(got) {
				t.Errorf("%.20q: not UTF-8", test.text)
			}
		}
	}
}

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
