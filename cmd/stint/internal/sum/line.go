package sum

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/files"
)

// appendLine appends the line for r to b, byte for byte as coreutils prints it unless
// o.JSON is set.
func (o *Options) appendLine(b []byte, r *result) []byte {
	if o.JSON {
		return appendJSON(b, r)
	}
	name, escape, end := r.Path, "", "\n"
	if o.Zero {
		end = "\x00"
	} else if strings.ContainsAny(name, "\\\n\r") {
		name, escape = escapeName(name), "\\"
	}
	if o.Tag {
		return fmt.Appendf(b, "%s%s (%s) = %x%s", escape, r.alg.tag(), name, r.digest, end)
	}
	marker := " "
	if o.Binary {
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

// An escaped name has these escapes and no others, as in coreutils.
var (
	escapedName   = regexp.MustCompile(`^([^\\]|\\[\\nr])*$`)
	nameUnescaper = strings.NewReplacer(`\\`, "\\", `\n`, "\n", `\r`, "\r")
)

// Lines of checksum files. A name with a tag ends at the last parenthesis, since the tools
// that print tags do not escape names, and OpenSSL prints no blank after the tag. In a
// line without a tag, a space or an asterisk before the name is its marker.
var (
	taggedLine = regexp.MustCompile(`(?s)^(MD5|SHA1|SHA256|SHA384|SHA512) ?\((.*)\)[ \t]*=[ \t]*([[:xdigit:]]+)$`)
	plainLine  = regexp.MustCompile(`(?s)^([[:xdigit:]]+)[ \t][ *]?(.+)$`)
)

// parse parses a line of a checksum file without its line end, and reports whether it is
// well formed. It knows GNU's lines, BSD's with a tag, OpenSSL's, and BSD's reversed ones,
// with one blank. alg is the algorithm of lines without a tag; if onlyAlg, a line with the
// tag of another is refused.
func parse(line string, alg *algorithm, onlyAlg bool) (r result, ok bool) {
	line, escaped := strings.CutPrefix(strings.TrimLeft(line, " \t"), `\`)
	r = result{Item: files.Item{Kind: files.Listed}, alg: alg}
	var digest string
	if m := taggedLine.FindStringSubmatch(line); m != nil {
		r.alg, _ = algorithmByName(m[1])
		r.Path, digest = m[2], m[3]
	} else if m := plainLine.FindStringSubmatch(line); m != nil {
		digest, r.Path = m[1], m[2]
	}
	var err error
	r.want, err = hex.DecodeString(digest)
	if onlyAlg && r.alg != alg { // a weaker digest must not pass for the requested one
		return r, false
	}
	ok = err == nil && len(r.want) == r.alg.size && !strings.Contains(r.Path, "\x00")
	if escaped {
		ok = ok && escapedName.MatchString(r.Path)
		r.Path = nameUnescaper.Replace(r.Path)
	}
	return r, ok
}
