package sum

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
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
	name, escape, end := r.Path, "", "\n"
	if s.zero {
		end = "\x00"
	} else if strings.ContainsAny(name, "\\\n\r") {
		name, escape = escapeName(name), "\\"
	}
	if s.tag {
		return fmt.Appendf(b, "%s%s (%s) = %x%s", escape, r.alg.tag(), name, r.digest, end)
	}
	marker := " "
	if s.binary {
		marker = "*"
	}
	return fmt.Appendf(b, "%s%x %s%s%s", escape, r.digest, marker, name, end)
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
		rec.Digest = hex.EncodeToString(r.digest)
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
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			i++
			which := -1
			if i < len(s) {
				which = strings.IndexByte(`\nr`, s[i])
			}
			if which < 0 {
				return "", false
			}
			c = "\\\n\r"[which]
		}
		name = append(name, c)
	}
	return string(name), true
}

// expectation is the content of one line of a checksum file.
type expectation struct {
	path   string
	alg    *algorithm
	digest []byte
}

// parser parses the lines of checksum files: GNU's, BSD's with a tag, OpenSSL's, and
// BSD's reversed ones, with one blank.
type parser struct {
	alg  *algorithm // of lines without a tag
	only bool       // lines with the tag of another algorithm are refused
}

// parse parses a line without its line end, and reports whether it is well formed.
func (p *parser) parse(line []byte) (expectation, bool) {
	line = bytes.TrimLeft(line, " \t")
	escaped := len(line) > 0 && line[0] == '\\'
	if escaped {
		line = line[1:]
	}
	e := expectation{alg: p.alg}
	sum, name, ok := splitTagged(line, &e)
	if ok && p.only && e.alg != p.alg {
		return e, false // a weaker digest must not pass for the requested one
	}
	if !ok {
		sum, name, ok = split(line, p.alg)
	}
	if !ok || len(sum) != hex.EncodedLen(e.alg.size) || bytes.IndexByte(name, 0) >= 0 {
		return e, false
	}
	e.digest = make([]byte, e.alg.size)
	if _, err := hex.Decode(e.digest, sum); err != nil {
		return e, false
	}
	e.path = string(name)
	if escaped {
		e.path, ok = unescapeName(name)
	}
	return e, ok
}

// splitTagged splits "SHA256 (name) = hex" at its last parenthesis, since these tools do
// not escape names, and sets e.alg by the tag.
func splitTagged(line []byte, e *expectation) (sum, name []byte, ok bool) {
	for _, alg := range algorithms {
		rest, found := bytes.CutPrefix(line, []byte(alg.tag()))
		if !found {
			continue
		}
		rest = bytes.TrimPrefix(rest, []byte(" ")) // OpenSSL prints none
		end := bytes.LastIndexByte(rest, ')')
		if len(rest) == 0 || rest[0] != '(' || end < 0 {
			continue
		}
		sum, found = bytes.CutPrefix(bytes.TrimLeft(rest[end+1:], " \t"), []byte("="))
		if found {
			e.alg = alg
			return bytes.TrimLeft(sum, " \t"), rest[1:end], true
		}
	}
	return nil, nil, false
}

// split splits "hex  name" after the digits. A space or an asterisk before the name is
// its marker.
func split(line []byte, alg *algorithm) (sum, name []byte, ok bool) {
	n := hex.EncodedLen(alg.size)
	if len(line) < n+2 || line[n] != ' ' && line[n] != '\t' {
		return nil, nil, false
	}
	sum, name = line[:n], line[n+1:]
	if len(name) > 1 && (name[0] == ' ' || name[0] == '*') {
		name = name[1:]
	}
	return sum, name, true
}
