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
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(valid), &fields); err != nil {
		f.Fatal(err)
	}
	for _, field := range []string{"position", "seq", "command", "replace", "shell", "items", "block", "pipe", "env", "dir", "timeout", "retries", "noOverload", "retryDelay"} {
		for _, value := range wrong {
			changed := maps.Clone(fields)
			changed[field] = json.RawMessage(value)
			f.Add(encode(changed))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, w := range []*Worker{{}, {programs: []string{"echo", "sh"}}} {
			if err := prepareRequest(w, body); err != nil && err.Error() == "" {
				t.Error("an error without a text")
			}
		}
	})
}

func TestTaskBodies(t *testing.T) {
	for body, want := range map[string]string{
		valid:                        "",
		"":                           "unexpected end",
		`{"pipe":true}`:              "has no command",
		`{"pipe":true,"shell":"sh"}`: "has no command",
		`{}`:                         "has no item",
		`{"command":["ZWNobw=="]}`:   "has no item",
		strings.Replace(valid, `"seq":1`, `"seq":-1`, 1):     "negative number",
		strings.Replace(valid, `"seq":1`, `"timeout":-1`, 1): "negative number",
		strings.Replace(valid, `"seq":1`, `"retries":-1`, 1): "negative number",
		strings.Replace(valid, `"seq":1`, `"seq":"x"`, 1):    "cannot unmarshal string",
	} {
		if err := prepareRequest(new(Worker), []byte(body)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", body, err, want)
		}
	}
}

// TestForgedProgram has requests for another program than the task of a worker is for.
func TestForgedProgram(t *testing.T) {
	for command, isIt := range map[string]bool{"echo": true, "printf": false, "/bin/echo": false, "./echo": false, "{}": false, "": false} {
		for _, shell := range []cluster.Text{"", "sh", "/tmp/echo"} {
			q := request{Command: bytesOf(strings.Fields(command)), Items: bytesOf([]string{"echo"}), Shell: shell}
			err := prepareRequest(&Worker{host: "h", programs: []string{"echo"}}, encode(q))
			if permitted := isIt && shell == ""; permitted != (err == nil) || err != nil && err.Error() != "the worker on h runs only echo" {
				t.Errorf("%q in the shell %q: %v", command, shell, err)
			}
		}
	}
}
