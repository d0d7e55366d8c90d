package sum

import (
	"bytes"
	"encoding/hex"
)

// expectation is the content of one line of a checksum file.
type expectation struct {
	path string
	alg  *algorithm
	sum  [maxDigest]byte // the first alg.size bytes are the digest
}

func (e *expectation) digest() []byte { return e.sum[:e.alg.size] }

// separator is what stands between digest and name in lines without a tag.
type separator int

const (
	undecided   separator = iota
	spaceMarker           // a blank, then a space or an asterisk
	oneBlank              // a single blank, as BSD tools print with -r
)

// parser parses the lines of checksum files: GNU's, BSD's with a tag, OpenSSL's, and
// BSD's reversed ones.
//
// In a file of reversed lines a name may begin with a space. The first line that shows
// which separator is in use therefore decides for all later lines of all files, as in
// coreutils.
type parser struct {
	alg  *algorithm // of lines without a tag
	only bool       // lines with the tag of another algorithm are refused
	sep  separator
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
		sum, name, ok = p.split(line)
	}
	sum, _, _ = bytes.Cut(sum, []byte{0}) // as in coreutils, where a NUL ends it
	if !escaped {
		name, _, _ = bytes.Cut(name, []byte{0})
	}
	if !ok || len(sum) != hex.EncodedLen(e.alg.size) || bytes.IndexByte(name, 0) >= 0 {
		return e, false
	}
	if _, err := hex.Decode(e.sum[:], sum); err != nil {
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
		rest, found := bytes.CutPrefix(line, []byte(alg.tag))
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

// split splits "hex  name" after the digits.
func (p *parser) split(line []byte) (sum, name []byte, ok bool) {
	n := hex.EncodedLen(p.alg.size)
	if len(line) < n+2 || line[n] != ' ' && line[n] != '\t' {
		return nil, nil, false
	}
	sum, name = line[:n], line[n+1:]
	if _, err := hex.Decode(make([]byte, p.alg.size), sum); err != nil {
		return nil, nil, false // a damaged line does not decide the separator
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
