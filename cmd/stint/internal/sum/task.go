package sum

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/files"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
)

// Lease is how long a file waits for another worker after its own has died. Tests
// shorten it.
var Lease = 10 * time.Second

var errNotShared = errors.New("not a regular file: workers cannot read it")

// request is a file for a worker to digest, or nothing if Algorithm is empty. The path is
// bytes: a name need not be UTF-8.
type request struct {
	Path      []byte `json:"path,omitempty"` // absolute, or empty for a file that does not exist
	Algorithm string `json:"algorithm,omitempty"`
}

// response is the answer of a worker.
type response struct {
	Digest  []byte       `json:"digest,omitempty"`
	Size    int64        `json:"size"`
	Error   cluster.Text `json:"error,omitempty"`   // as messages print it
	Missing bool         `json:"missing,omitempty"` // the error is that the file does not exist
}

// Task returns the task of a worker that digests the files below s.
func Task(s *files.Subtree) cluster.Handler {
	d := newDigester(nil)
	d.open = s.Open
	return digestTask(d)
}

func digestTask(d *digester) *cluster.Task[request, response] {
	return cluster.NewTask("digest/v1", d.respond, cluster.Lease(Lease))
}

// respond digests a file for another machine. It returns an error if ctx has ended, or
// for a request that no command of this version sends.
func (d *digester) respond(ctx context.Context, q request) (response, error) {
	if q.Algorithm == "" {
		return response{}, nil
	}
	alg, ok := algorithmByName(q.Algorithm)
	if !ok {
		return response{}, errors.New("the worker does not know the algorithm " + console.Quote(q.Algorithm))
	}
	path := string(q.Path)
	if path != "" && !filepath.IsAbs(path) {
		return response{}, errors.New("the worker got a relative path")
	}
	r, err := interrupt.Call(ctx, func() (result, error) {
		return d.digest(ctx, result{Item: files.Item{Path: path}, alg: alg})
	})
	switch {
	case err != nil:
		return response{}, err
	case errors.Is(r.Err, files.ErrNotRegular):
		return response{Error: cluster.Text(errNotShared.Error())}, nil
	case r.Err != nil:
		return response{Error: cluster.Text(console.Reason(r.Err)), Missing: errors.Is(r.Err, fs.ErrNotExist)}, nil
	}
	return response{Digest: r.digest(), Size: r.size}, nil
}

// workerError is an error of a file on a worker.
type workerError struct {
	text    string
	missing bool
}

func (e *workerError) Error() string        { return e.text }
func (e *workerError) Is(target error) bool { return e.missing && target == fs.ErrNotExist }

// refuse sets the error of a file that workers cannot read.
func (r *result) refuse() {
	switch {
	case r.Err != nil:
	case r.Kind == files.Stdin || r.Kind == files.StdinAgain:
		r.Err = errors.New("standard input: workers cannot read it")
	case r.Kind == files.Special:
		r.Err = errNotShared
	}
}

// complete fills in r from a worker's response, or from err if there is none.
func (r *result) complete(a *response, err error) {
	switch {
	case !r.unread():
	case err != nil:
		r.Err = err
	case a.Error != "":
		r.Err = &workerError{string(a.Error), a.Missing}
	case len(a.Digest) != r.alg.size:
		r.Err = fmt.Errorf("a worker returned a digest of %d bytes, want %d", len(a.Digest), r.alg.size)
	default:
		r.size = a.Size
		copy(r.sum[:], a.Digest)
	}
}
