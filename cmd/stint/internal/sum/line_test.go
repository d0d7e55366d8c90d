package sum

import (
	"encoding/json"
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
		var rec struct {
			Path   string
			Base64 []byte `json:"path_base64"`
		}
		if err := json.Unmarshal((&Options{JSON: true}).appendLine(nil, r), &rec); err != nil || rec.Path != name && string(rec.Base64) != name {
			t.Fatalf("%q as JSON reads as %q, %v", name, rec, err)
		}
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
