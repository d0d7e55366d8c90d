package remote

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stint-go/stint/cluster"
)

// valid is a request that the command could send.
const valid = `{"position":0,"seq":1,"command":["ZWNobw=="],"items":["YQ=="]}`

// wrong are values of fields that no command sends: other types, and other sizes.
var wrong = []string{`null`, `-1`, `9223372036854775807`, `1e400`, `""`, `"x"`, `"*"`, `"a b"`, `"\ud800"`, `{}`, `{"bytes":"/w=="}`, `[]`, `[null]`, `[""]`, `["AA=="]`, `["e30="]`, `["ezk5OX0=","e30="]`, `true`}

// bodies returns requests in which one field is absent, or has a wrong value.
func bodies(t *testing.T) []string {
	var q map[string]json.RawMessage
	if err := json.Unmarshal([]byte(valid), &q); err != nil {
		t.Fatal(err)
	}
	all := []string{valid, "", "null", "[]", "{}", `{"pipe":true}`, `{"pipe":true,"shell":"sh"}`, "\xff"}
	for _, field := range []string{"position", "seq", "command", "replace", "shell", "items", "block", "pipe", "env", "dir", "timeout", "retries", "noOverload", "retryDelay"} {
		for _, value := range append(wrong, "") {
			changed := maps.Clone(q)
			if changed[field] = json.RawMessage(value); value == "" {
				delete(changed, field)
			}
			all = append(all, string(encode(changed)))
			changed["pipe"] = json.RawMessage("true")
			all = append(all, string(encode(changed)))
		}
	}
	return all
}

// prepareRequest does what a worker does with a request before it starts the job.
func prepareRequest(w *Worker, body []byte) error {
	var q request
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	if err := q.check(); err != nil {
		return err
	}
	c := q.command()
	if err := w.permits(c, &q); err != nil {
		return err
	}
	if err := c.Find(); err != nil {
		return err
	}
	_, err := c.Make(stringsOf(q.Items), q.Seq, 1)
	return err
}

// A worker answers each request with an error or a job, and does not panic.
func FuzzTask(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte(`{"pipe":true}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		for _, w := range []*Worker{{}, {programs: []string{"echo", "sh"}}} {
			_ = prepareRequest(w, body)
		}
	})
}

func TestTaskBodies(t *testing.T) {
	w := &Worker{}
	for _, body := range bodies(t) {
		err := prepareRequest(w, []byte(body))
		if err != nil && err.Error() == "" {
			t.Errorf("%s: an error without a text", body)
		}
	}
	for body, want := range map[string]string{
		valid:                        "",
		`{"pipe":true}`:              "has no command",
		`{"pipe":true,"shell":"sh"}`: "has no command",
		`{}`:                         "has no item",
		`{"command":["ZWNobw=="]}`:   "has no item",
		strings.Replace(valid, `"seq":1`, `"seq":-1`, 1):     "negative number",
		strings.Replace(valid, `"seq":1`, `"timeout":-1`, 1): "negative number",
		strings.Replace(valid, `"seq":1`, `"retries":-1`, 1): "negative number",
		strings.Replace(valid, `"seq":1`, `"seq":"x"`, 1):    "cannot unmarshal string",
	} {
		if err := prepareRequest(w, []byte(body)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", body, err, want)
		}
	}
}

// The texts of a request and a response have any bytes.
func TestTaskBytes(t *testing.T) {
	for _, s := range []string{"\xff", "a\xffb", "\xed\xa0\x80", "\x1b[31m", "two\nlines", "\ufffd", `\ufffd`} {
		q := request{
			Command: bytesOf([]string{s}), Replace: cluster.Text(s), Shell: cluster.Text(s), Items: bytesOf([]string{s}), Block: []byte(s),
			Env: bytesOf([]string{s}), Dir: []byte(s),
		}
		var got request
		if err := json.Unmarshal(encode(q), &got); err != nil {
			t.Fatal(err)
		}
		o := got.spec()
		if o.Replace != s || o.Command[0] != s || o.Dir != s || got.Shell != q.Shell || string(got.Items[0]) != s || string(got.Block) != s || string(got.Env[0]) != s {
			t.Errorf("%q: got %+v", s, got)
		}
		a, back := response{Error: cluster.Text(s), Stdout: []byte(s), Stderr: []byte(s)}, response{}
		if err := json.Unmarshal(encode(a), &back); err != nil || back.Error != a.Error || string(back.Stdout) != s || string(back.Stderr) != s {
			t.Errorf("%q: got %+v, %v", s, back, err)
		}
	}
}
