package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/stint-go/stint/cluster"
)

// errNotShared is the error for what only the machine with the command line can read.
var errNotShared = errors.New("not a regular file: workers cannot read it")

// lease is how long a file waits for another worker after its own has died. A test
// makes it shorter.
var lease = 10 * time.Second

// question is a file to be digested by a worker, or nothing. The path is bytes, since
// a name need not be UTF-8.
type question struct {
	Path      []byte `json:"path,omitempty"` // absolute, or empty, which is a path that is not there
	Algorithm string `json:"algorithm,omitempty"`
}

// answer is what a worker found.
type answer struct {
	Digest  []byte `json:"digest,omitempty"`
	Size    int64  `json:"size"`
	Error   string `json:"error,omitempty"`   // as the message has it; "": none
	Missing bool   `json:"missing,omitempty"` // the error is that there is no such file
}

// digestTask is what workers do, with d.
func digestTask(d *digester) *cluster.Task[question, answer] {
	return cluster.NewTask("digest/v1", d.answer, cluster.Lease(lease))
}

// answer digests a file for another machine. The error is not nil when ctx has ended,
// or when q is not what a command of this version sends.
func (d *digester) answer(ctx context.Context, q question) (answer, error) {
	if q.Algorithm == "" { // nothing
		return answer{}, nil
	}
	alg, ok := algorithmByName(q.Algorithm)
	if !ok {
		return answer{}, errors.New("the worker does not know the algorithm " + quote(q.Algorithm))
	}
	path := string(q.Path)
	if path != "" && !filepath.IsAbs(path) {
		return answer{}, errors.New("the worker got a relative path")
	}
	r, err := patiently(ctx, func() (result, error) {
		return d.digest(ctx, result{item: item{path: path}, alg: alg})
	})
	switch {
	case err != nil:
		return answer{}, err
	case errors.Is(r.err, errNotRegular):
		return answer{Error: errNotShared.Error()}, nil
	case r.err != nil:
		return answer{Error: reason(r.err), Missing: errors.Is(r.err, fs.ErrNotExist)}, nil
	}
	return answer{Digest: r.digest(), Size: r.size}, nil
}

// remoteError is the error that a worker met in a file.
type remoteError struct {
	text    string
	missing bool
}

func (e *remoteError) Error() string        { return e.text }
func (e *remoteError) Is(target error) bool { return e.missing && target == fs.ErrNotExist }

// refuse sets the error for what only this machine could read.
func (r *result) refuse() {
	switch {
	case r.err != nil:
	case r.kind == stdin || r.kind == stdinAgain:
		r.err = errors.New("standard input: workers cannot read it")
	case r.kind == special:
		r.err = errNotShared
	}
}

// answered fills in what a worker said, or err, the error instead of an answer.
func (r *result) answered(a *answer, err error) {
	switch {
	case r.err != nil || r.kind == skipped:
	case err != nil:
		r.err = err
	case a.Error != "":
		r.err = &remoteError{a.Error, a.Missing}
	case len(a.Digest) != r.alg.size:
		r.err = fmt.Errorf("a worker answered with a digest of %d bytes, want %d", len(a.Digest), r.alg.size)
	default:
		r.size = a.Size
		copy(r.sum[:], a.Digest)
	}
}
