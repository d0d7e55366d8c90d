// Package remote runs jobs on the workers of a server, and is such a worker.
package remote

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"time"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/run/output"
)

// Lease is how long a job waits for another worker after its own has died. Tests shorten it.
var Lease = 10 * time.Second

// inlineOutput is how much output a response has itself. More is sent before it, in parts.
const inlineOutput = 128 << 10

// A part of output begins with a byte that says what it is a part of.
const (
	isStdout = iota
	isStderr
)

// numbersReserve is the bytes of a message for numbers and names of fields.
const numbersReserve = 128

// A request is a job for a worker. Arguments and items are bytes: they need not be UTF-8.
type request struct {
	Position   int64         `json:"position"`
	Seq        int64         `json:"seq"`
	Command    [][]byte      `json:"command,omitempty"` // with placeholders
	Replace    cluster.Text  `json:"replace,omitempty"`
	Shell      cluster.Text  `json:"shell,omitempty"` // the name of the shell, if the command is a script or missing
	Items      [][]byte      `json:"items,omitempty"`
	Block      []byte        `json:"block,omitempty"`
	Pipe       bool          `json:"pipe,omitempty"`
	Env        [][]byte      `json:"env,omitempty"` // name=value
	Dir        []byte        `json:"dir,omitempty"`
	Timeout    time.Duration `json:"timeout,omitempty"`
	Retries    int           `json:"retries,omitempty"`
	NoOverload bool          `json:"noOverload,omitempty"`
	RetryDelay time.Duration `json:"retryDelay,omitempty"`
}

// check returns an error unless this version can have sent the request: every user of the server
// may send one.
func (q *request) check() error {
	switch {
	case len(q.Command) == 0 && q.Pipe:
		return errors.New("the request has no command")
	case len(q.Items) == 0 && !q.Pipe:
		return errors.New("the request has no item")
	case q.Position < 0 || q.Seq < 0 || q.Timeout < 0 || q.Retries < 0 || q.RetryDelay < 0:
		return errors.New("the request has a negative number")
	}
	return nil
}

// A response is how a job has ended on a worker.
type response struct {
	output.Result
	Position int64
	Err      cluster.Text `json:",omitempty"` // in place of that of the Result
	Stdout   []byte       `json:",omitempty"`
	Stderr   []byte       `json:",omitempty"`
	Call     string       `json:",omitempty"` // that has sent the output in parts instead
}

// taskName returns the name of the task of workers that run the named program, or any program
// if it is "".
func taskName(program string) string {
	if program == "" {
		return "run/v1"
	}
	return "run/v1/" + program
}

var programName = regexp.MustCompile(`^[-_.0-9A-Za-z]{1,93}$`)

// ValidProgram reports whether a worker can be limited to a program of that name. A path is
// none: the submitter says in which directory a relative one begins.
func ValidProgram(name string) bool { return programName.MatchString(name) }

func newTask(name string, f func(context.Context, request) (response, error)) *cluster.Task[request, response] {
	if f == nil { // a submitter's, which never runs it
		f = func(context.Context, request) (response, error) { return response{}, nil }
	}
	return cluster.NewTask(name, f, cluster.Lease(Lease))
}

// encode returns v as JSON.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of our own types
	}
	return b
}

// bytesOf returns strings for a message.
func bytesOf(list []string) [][]byte {
	var all [][]byte
	for _, s := range list {
		all = append(all, []byte(s))
	}
	return all
}

// stringsOf is the reverse of bytesOf.
func stringsOf(list [][]byte) []string {
	var all []string
	for _, b := range list {
		all = append(all, string(b))
	}
	return all
}
