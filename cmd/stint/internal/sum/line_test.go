package sum

import (
	"strings"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/files"
	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// FuzzLine writes a result in every style and reads it back.
func FuzzLine(f *testing.F) {
	for _, name := range testfiles.OddNames {
		f.Add(name, []byte(name), uint8(len(name)), false, false)
	}
	f.Add("a) = b", []byte{}, uint8(0), true, true)
	f.Add(`\`, []byte{1}, uint8(1), true, false)
	f.Fuzz(func(t *testing.T, name string, sum []byte, alg uint8, tag, binary bool) {
		if name == "" || strings.Contains(name, "\x00") {
			return // no file has such a name, and a line cannot say it
		}
		r := &result{Item: files.Item{Path: name}, alg: algorithms[int(alg)%len(algorithms)]}
		r.digest = append(sum, make([]byte, r.alg.size)...)[:r.alg.size]
		line := string((&Options{Tag: tag, Binary: binary}).appendLine(nil, r))
		line, ended := strings.CutSuffix(line, "\n")
		if !ended || strings.ContainsAny(line, "\n\r") {
			t.Fatalf("%q is not one line", line)
		}
		plain := r.alg
		if tag {
			plain = algorithms[0] // the line must say it
		}
		e, ok := parse(line, plain, false)
		if !ok {
			t.Fatalf("%q is not well formed", line)
		}
		if e.Path != name || e.alg != r.alg || string(e.want) != string(r.digest) {
			t.Fatalf("%q reads as %q %s %x", line, e.Path, e.alg.name, e.want)
		}
	})
}

// FuzzParse reads anything, with no more demands than that it comes to an end
// and that what is accepted is a name that can be opened.
func FuzzParse(f *testing.F) {
	f.Add("\\SHA1 (a\\n) = 00")
	f.Add("60b725f10c9c85c70d97880dfe8191b3 *a")
	f.Fuzz(func(t *testing.T, line string) {
		for _, alg := range algorithms {
			if e, ok := parse(line, alg, false); ok && strings.Contains(e.Path, "\x00") {
				t.Fatalf("%q gives the name %q", line, e.Path)
			}
		}
	})
}
