package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// style is how a digest is written.
type style struct {
	tag    bool // "SHA256 (name) = hex" instead of "hex  name"
	binary bool // "hex *name"
	zero   bool // the line ends in NUL, and names are not escaped
	json   bool // one JSON object a line
}

// appendLine appends the line for r to b, byte for byte as coreutils writes it
// unless s.json is set.
func (s style) appendLine(b []byte, r *result) []byte {
	if s.json {
		return appendJSON(b, r)
	}
	name := r.path
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
		b = hex.AppendEncode(b, r.digest())
		b = append(b, ' ', marker(s.binary))
		b = append(b, name...)
	}
	if s.zero {
		return append(b, 0)
	}
	return append(b, '\n')
}

func marker(binary bool) byte {
	if binary {
		return '*'
	}
	return ' '
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
	rec := record{Path: r.path, Algorithm: r.alg.name}
	if !utf8.ValidString(r.path) {
		rec.Base64 = base64.StdEncoding.EncodeToString([]byte(r.path))
	}
	if r.err != nil {
		rec.Error = visible(reason(r.err))
	} else {
		rec.Digest = hex.EncodeToString(r.digest())
		rec.Size = &r.size
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(rec) // strings and a number into memory: cannot fail
	return append(b, buf.Bytes()...)
}

var nameEscaper = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\r", `\r`)

func escapeName(name string) string { return nameEscaper.Replace(name) }

// unescapeName undoes escapeName. It refuses a backslash that escapes nothing
// known, as coreutils does.
func unescapeName(s []byte) (string, bool) {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		if i == len(s) {
			return "", false
		}
		switch s[i] {
		case '\\':
			out = append(out, '\\')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		default:
			return "", false
		}
	}
	return string(out), true
}

// expectation is what one line of a checksum file says.
type expectation struct {
	path   string
	alg    *algorithm
	digest [maxDigest]byte // the first alg.size bytes count
}

func (e *expectation) want() []byte { return e.digest[:e.alg.size] }

// separator is what stands between digest and name in the lines without a tag.
type separator int

const (
	undecided   separator = iota
	spaceMarker           // a blank, then a space or an asterisk
	oneBlank              // a single blank, as the BSD tools write with -r
)

// parser reads the lines of checksum files: GNU's, BSD's with a tag, OpenSSL's,
// and BSD's reversed ones.
//
// A file of reversed lines can hold names that begin with a space, so the
// first line that shows which of the two separators is in use decides for all
// that follow, in all files. Coreutils does the same.
type parser struct {
	alg  *algorithm // of lines without a tag
	only bool       // and of those with one
	sep  separator
}

// parse reads one line without its line end, and reports whether it is well
// formed.
func (p *parser) parse(line []byte) (expectation, bool) {
	line = bytes.TrimLeft(line, " \t")
	escaped := len(line) > 0 && line[0] == '\\'
	if escaped {
		line = line[1:]
	}
	e := expectation{alg: p.alg}
	sum, name, ok := splitTagged(line, &e)
	if ok && p.only && e.alg != p.alg {
		return e, false // a weaker digest must not pass for the one that was asked for
	}
	if !ok {
		sum, name, ok = p.split(line)
	}
	sum, _, _ = bytes.Cut(sum, []byte{0}) // as in coreutils, where a NUL ends it
	if !escaped {
		name, _, _ = bytes.Cut(name, []byte{0})
	}
	if !ok || len(sum) != hex.EncodedLen(e.alg.size) || bytes.IndexByte(name, 0) >= 0 {
		return e, false
	}
	if _, err := hex.Decode(e.digest[:], sum); err != nil {
		return e, false
	}
	e.path = string(name)
	if escaped {
		e.path, ok = unescapeName(name)
	}
	return e, ok
}

// splitTagged cuts "SHA256 (name) = hex" at its last parenthesis, for these
// tools do not escape names, and sets e.alg to what the tag says.
func splitTagged(line []byte, e *expectation) (sum, name []byte, ok bool) {
	for _, alg := range algorithms {
		rest, found := bytes.CutPrefix(line, []byte(alg.tag))
		if !found {
			continue
		}
		rest = bytes.TrimPrefix(rest, []byte(" ")) // OpenSSL has none
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

// split cuts "hex  name" after the digits.
func (p *parser) split(line []byte) (sum, name []byte, ok bool) {
	n := hex.EncodedLen(p.alg.size)
	if len(line) < n+2 || line[n] != ' ' && line[n] != '\t' {
		return nil, nil, false
	}
	sum, name = line[:n], line[n+1:]
	if _, err := hex.Decode(make([]byte, p.alg.size), sum); err != nil {
		return nil, nil, false // a damaged line decides nothing
	}
	switch {
	case len(name) == 1 || name[0] != ' ' && name[0] != '*':
		if p.sep == spaceMarker {
			return nil, nil, false
		}
		p.sep = oneBlank
	case p.sep != oneBlank:
		p.sep = spaceMarker
		name = name[1:]
	}
	return sum, name, true
}
