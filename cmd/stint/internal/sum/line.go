package sum

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// style is how a digest is printed.
type style struct {
	tag    bool // "SHA256 (name) = hex" instead of "hex  name"
	binary bool // "hex *name"
	zero   bool // the line ends in NUL, and names are not escaped
	json   bool // one JSON object a line
}

// appendLine appends the line for r to b, byte for byte as coreutils prints it unless
// s.json is set.
func (s style) appendLine(b []byte, r *result) []byte {
	if s.json {
		return appendJSON(b, r)
	}
	name := r.Path
	if !s.zero && strings.ContainsAny(name, "\\\n\r") {
		name = escapeName(name)
		b = append(b, '\\')
	}
	if s.tag {
		b = append(b, r.alg.tag...)
		b = append(b, " ("...)
		b = append(b, name...)
		b = append(b, ") = "...)
		b = hex.AppendEncode(b, r.digest())
	} else {
		marker := byte(' ')
		if s.binary {
			marker = '*'
		}
		b = hex.AppendEncode(b, r.digest())
		b = append(b, ' ', marker)
		b = append(b, name...)
	}
	if s.zero {
		return append(b, 0)
	}
	return append(b, '\n')
}

// record is the JSON form of a result.
type record struct {
	Path      string `json:"path"`
	Base64    string `json:"path_base64,omitempty"` // the bytes of a path that is not UTF-8
	Algorithm string `json:"algorithm"`
	Digest    string `json:"digest,omitempty"`
	Size      *int64 `json:"size,omitempty"`
	Error     string `json:"error,omitempty"`
}

func appendJSON(b []byte, r *result) []byte {
	rec := record{Path: r.Path, Algorithm: r.alg.name}
	if !utf8.ValidString(r.Path) {
		rec.Base64 = base64.StdEncoding.EncodeToString([]byte(r.Path))
	}
	if r.Err != nil {
		rec.Error = console.Visible(console.Reason(r.Err))
	} else {
		rec.Digest = hex.EncodeToString(r.digest())
		rec.Size = &r.size
	}
	buf := bytes.NewBuffer(b)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(rec) // strings and a number into memory: cannot fail
	return buf.Bytes()
}

var nameEscaper = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`)

func escapeName(name string) string { return nameEscaper.Replace(name) }

// unescapeName undoes escapeName. Like coreutils, it refuses any other escape.
func unescapeName(s []byte) (string, bool) {
	name := make([]byte, 0, len(s))
	for len(s) > 0 {
		c := s[0]
		if s = s[1:]; c == '\\' {
			if len(s) == 0 {
				return "", false
			}
			i := strings.IndexByte(`\nr`, s[0])
			if i < 0 {
				return "", false
			}
			c, s = "\\\n\r"[i], s[1:]
		}
		name = append(name, c)
	}
	return string(name), true
}
