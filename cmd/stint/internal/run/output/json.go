package output

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
)

// record is a job in the output of --json, without its output.
type record struct {
	Seq      int64    `json:"seq"`
	Items    []string `json:"items"`
	Base64   []string `json:"items_base64,omitempty"` // the bytes of items that are not all UTF-8
	Command  string   `json:"command"`
	Host     string   `json:"host,omitempty"`
	Start    string   `json:"start"`
	Time     float64  `json:"time"` // seconds
	CPU      float64  `json:"cpu"`  // seconds
	Attempts int      `json:"attempts"`
	Status   int      `json:"status"`
	Signal   int      `json:"signal"`
	Error    string   `json:"error,omitempty"`
}

// object prints j as a line of JSON. The output is read from where it is kept, as it may be
// large.
func (p *Printer) object(j *Job) {
	start := j.Start
	if start.IsZero() { // it was not started
		start = time.Now()
	}
	rec := record{
		Seq: j.Seq, Items: j.Items, Command: text(j.Log), Host: j.Host, Start: start.Format(time.RFC3339Nano), Time: j.Elapsed.Seconds(), CPU: j.CPU.Seconds(),
		Attempts: j.Attempts, Status: j.Status(), Signal: j.Signal,
	}
	if j.Items == nil {
		rec.Items = []string{}
	}
	for _, item := range j.Items {
		if !utf8.ValidString(item) {
			rec.Base64 = encodeItems(j.Items)
			break
		}
	}
	if j.Err != nil || j.TimedOut {
		rec.Error = text(j.Reason())
	}
	b := encode(rec)
	_ = p.out.Line(b[:len(b)-len("}\n")])
	p.member("stdout", j.Stdout)
	p.member("stderr", j.Stderr)
	_ = p.out.Line([]byte("}\n"))
}

// text returns s, with escapes if it is not UTF-8: JSON cannot have it otherwise.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return console.Visible(s)
}

func encodeItems(items []string) []string {
	var all []string
	for _, item := range items {
		all = append(all, base64.StdEncoding.EncodeToString([]byte(item)))
	}
	return all
}

// encode returns v as a line of JSON.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // of our own types
	}
	return b.Bytes()
}

// member prints a member of an object with what s has kept, and another one with its bytes if
// these are not UTF-8.
func (p *Printer) member(name string, s *Stream) {
	fmt.Fprintf(p.out, `,"%s":"`, name)
	valid := copyString(p.out, s.Reader())
	_ = p.out.Line([]byte{'"'})
	if valid {
		return
	}
	fmt.Fprintf(p.out, `,"%s_base64":"`, name)
	enc := base64.NewEncoder(base64.StdEncoding, p.out)
	_, _ = io.Copy(enc, s.Reader())
	_ = enc.Close()
	_ = p.out.Line([]byte{'"'})
}

// copyString writes what r has as the inside of a JSON string, and reports whether it was
// UTF-8. Other bytes become U+FFFD.
func copyString(w io.Writer, r io.Reader) (valid bool) {
	valid = true
	b := make([]byte, 0, 32<<10)
	for {
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		whole := len(b)
		if err == nil {
			whole = wholeRunes(b)
		}
		valid = valid && utf8.Valid(b[:whole])
		line := encode(string(b[:whole]))
		_, _ = w.Write(line[1 : len(line)-len("\"\n")])
		if err != nil {
			return valid
		}
		b = b[:copy(b, b[whole:])]
	}
}

// wholeRunes returns the length of b without a character at its end that is not complete.
func wholeRunes(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}

// A Summary is the last line of --json.
type Summary struct {
	Jobs      int         `json:"jobs"`
	Succeeded int         `json:"succeeded"`
	Failed    int         `json:"failed"`
	Skipped   int         `json:"skipped,omitempty"`
	Time      float64     `json:"time"` // seconds
	CPU       float64     `json:"cpu"`  // seconds
	Limit     limit.State `json:"concurrency"`
}

// Summary prints the last line of --json.
func (p *Printer) Summary(s Summary) {
	if p.o.JSON {
		_ = p.out.Line(encode(s))
	}
}
