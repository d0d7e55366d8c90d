package sum

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/files"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
	"github.com/stint-go/stint/cmd/stint/internal/server"
)

// Tests shorten these.
var (
	// Lease is how long a file waits for another worker after its own has died.
	Lease = 10 * time.Second
	// StallInterval is the time without a result after which the command says what it
	// waits for.
	StallInterval = 3 * time.Second
)

var errNotShared = errors.New("not a regular file: workers cannot read it")

// request is a file for a worker to digest, or nothing if Algorithm is empty. The path is
// bytes: a name need not be UTF-8.
type request struct {
	Path      []byte `json:"path,omitempty"` // absolute
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
	r, err := interrupt.Call(ctx, func() (result, error) {
		return d.read(ctx, result{Item: files.Item{Path: string(q.Path)}, alg: alg})
	})
	switch {
	case err != nil:
		return response{}, err
	case errors.Is(r.Err, files.ErrNotRegular):
		return response{Error: cluster.Text(errNotShared.Error())}, nil
	case r.Err != nil:
		return response{Error: cluster.Text(console.Reason(r.Err)), Missing: errors.Is(r.Err, fs.ErrNotExist)}, nil
	}
	return response{Digest: r.digest, Size: r.size}, nil
}

// request returns the request for r, or an empty one after it has set the error of a file
// that workers cannot read.
func (r *result) request() request {
	if !r.unread() {
		return request{}
	}
	var path string
	switch r.Kind {
	case files.Stdin, files.StdinAgain, files.Special:
		r.Err = errNotShared
	default:
		path, r.Err = absolute(r.Path)
	}
	if r.Err != nil {
		return request{}
	}
	return request{[]byte(path), r.alg.name}
}

// absolute returns path as a worker gets it: without "..", as a/../b is not b if a is a
// symbolic link.
func absolute(path string) (_ string, err error) {
	if path == "" {
		return "", syscall.ENOENT
	}
	if strings.Contains(path, "..") {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return "", err
		}
	}
	return filepath.Abs(path)
}

// complete fills in r from a worker's response, or from err if there is none.
func (r *result) complete(a *response, err error) {
	switch {
	case !r.unread():
	case err != nil:
		r.Err = err
	case a.Missing:
		r.Err = syscall.ENOENT
	case a.Error != "":
		r.Err = errors.New(string(a.Error))
	case len(a.Digest) != r.alg.size:
		r.Err = fmt.Errorf("a worker returned a digest of %d bytes, want %d", len(a.Digest), r.alg.size)
	default:
		r.size, r.digest = a.Size, a.Digest
	}
}

// maxRequestsAhead is maxFilesAhead for files in the queue of a server, whose results
// are in its memory.
const maxRequestsAhead = 4096

// remoteDigests is digests, by the workers of the cluster.
func (s *Summer) remoteDigests(ctx context.Context, wanted iter.Seq[result]) iter.Seq2[result, error] {
	opts := []cluster.Option{cluster.Queue(maxRequestsAhead), cluster.KeepGoing()}
	if n := s.Jobs.N(); n > 0 {
		opts = append(opts, cluster.Limit(min(n, maxRequestsAhead)))
	}
	return func(yield func(result, error) bool) {
		// pending are the results without digest, in order. It has room for all that MapSeq
		// pulls ahead, the Limit and the Queue, so that requests never blocks.
		pending := make(chan result, 2*maxRequestsAhead+2)
		var results atomic.Int64
		task := digestTask(s.digester)
		stall := server.Stall{
			Client: s.client, Console: s.console, Interval: StallInterval, Task: task.Name(),
			Advice: func([]cluster.WorkerStatus) string { return "start it with 'stint work'" },
			State:  func() (bool, int) { return len(pending) > 0, int(results.Load()) },
		}
		defer stall.Report(ctx)()
		// A request is empty for a file that no worker could read, which keeps its position
		// in the order and counts against maxRequestsAhead.
		requests := func(yield func(request) bool) {
			for r := range wanted {
				q := r.request()
				pending <- r
				if !yield(q) {
					return
				}
			}
		}
		for got, err := range cluster.MapSeq(ctx, s.client, task, requests, opts...) {
			if item, isItem := errors.AsType[*stint.ItemError](err); isItem {
				err = item.Err
			} else if err != nil {
				if ctx.Err() == nil {
					err = s.Server.Failed(err)
				}
				yield(result{}, err)
				return
			}
			r := <-pending
			results.Add(1)
			r.complete(&got, err)
			s.digester.bytes.Add(r.size)
			if !yield(r, nil) {
				return
			}
		}
	}
}
