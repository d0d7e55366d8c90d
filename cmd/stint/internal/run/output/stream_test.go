package output

import (
	"bytes"
	"encoding/json"
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

func TestLineWriter(t *testing.T) {
	for range 200 {
		var b bytes.Buffer
		l := &lineWriter{w: &b}
		if cut(l, "a\n\nbcd\ne\nrest"); b.String() != "a\n\nbcd\ne\n" || string(l.rest) != "rest" {
			t.Fatalf("wrote %q and kept %q", b.String(), l.rest)
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
