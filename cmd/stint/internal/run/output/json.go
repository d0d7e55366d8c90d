package output

import (
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
)

// record is a job in the output of --json, without its output.
type record struct {
	Seq      int64    `json:"seq"`
	Items    []string `json:"items"`
	Base64   [][]byte `json:"items_base64,omitempty"` // the bytes of items that are not all UTF-8
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
		Seq: j.Seq, Items: append([]string{}, j.Items...), Command: text(j.Log), Host: j.Host, Start: start.Format(time.RFC3339Nano), Time: j.Elapsed.Seconds(), CPU: j.CPU.Seconds(),
		Attempts: j.Attempts, Status: j.Status(), Signal: j.Signal,
	}
	if slices.ContainsFunc(j.Items, func(item string) bool { return !utf8.ValidString(item) }) {
		for _, item := range j.Items {
			rec.Base64 = append(rec.Base64, []byte(item))
		}
	}
	if j.Err != nil || j.TimedOut {
		rec.Error = text(j.Reason())
	}
	b := console.JSON(rec)
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
		if err == nil { // the last character is perhaps not complete
			whole = max(0, whole-1)
			for whole > max(0, len(b)-utf8.UTFMax) && !utf8.RuneStart(b[whole]) {
				whole--
			}
		}
		valid = valid && utf8.Valid(b[:whole])
		line := console.JSON(string(b[:whole]))
		_, _ = w.Write(line[1 : len(line)-len("\"\n")])
		if err != nil {
			return valid
		}
		b = b[:copy(b, b[whole:])]
	}
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
		_ = p.out.Line(console.JSON(s))
	}
}
