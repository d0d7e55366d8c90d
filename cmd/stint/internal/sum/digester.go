package sum

import (
	"context"
	"hash"
	"io"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/cmd/stint/internal/files"
)

// readSize is large enough that calls cost little, and small enough for the cache of one
// core.
const readSize = 128 << 10

// result is an item with its digest, or before it is read without size and digest. Err
// is the item's own: a file that cannot be read does not end the run.
type result struct {
	files.Item
	alg  *algorithm
	line *checkLine // the line that the digest is compared with; nil: the digest is printed
	size int64
	sum  [maxDigest]byte // the first alg.size bytes are the digest
}

func (r *result) digest() []byte { return r.sum[:r.alg.size] }

// unread reports whether r is a file that is still to be read.
func (r *result) unread() bool { return r.Err == nil && r.Kind != files.Skipped }

// scratch is the memory of one digest while it is computed.
type scratch struct {
	hash hash.Hash
	buf  []byte
}

// digester computes digests, many concurrently.
type digester struct {
	stdin io.Reader
	open  func(path string) (io.ReadCloser, error) // opens a regular file
	files files.Descriptors
	bytes atomic.Int64 // read so far, for the progress line
	free  []sync.Pool  // of *scratch, by algorithm.index
}

func newDigester(stdin io.Reader) *digester {
	return &digester{stdin: stdin, open: files.OpenRegular, free: make([]sync.Pool, len(algorithms))}
}

// digest reads the item r and returns r with its digest. The error is nil unless ctx has
// ended: an error of the file is in the result. A read from a file server that does not
// answer may outlast ctx.
func (d *digester) digest(ctx context.Context, r result) (result, error) {
	if !r.unread() {
		return r, nil
	}
	s, _ := d.free[r.alg.index].Get().(*scratch)
	if s == nil {
		s = &scratch{hash: r.alg.make(), buf: make([]byte, readSize)}
	}
	r.size, r.Err = d.read(ctx, r.Item, s)
	s.hash.Sum(r.sum[:0])
	d.free[r.alg.index].Put(s)
	return r, context.Cause(ctx)
}

// read opens the item and hashes its bytes.
func (d *digester) read(ctx context.Context, it files.Item, s *scratch) (int64, error) {
	open := d.open
	switch {
	case it.Kind == files.StdinAgain: // its first mention has been read to the end
		return d.hash(ctx, strings.NewReader(""), s)
	case it.Kind == files.Stdin:
		return d.hash(ctx, d.stdin, s)
	case it.Kind == files.Special, it.Kind == files.Listed && files.KindOf(it.Path) == files.Special:
		open = files.OpenAny
	}
	f, err := files.Open(ctx, &d.files, it.Path, open)
	if err != nil {
		return 0, err
	}
	defer d.files.Close(f)
	return d.hash(ctx, f, s)
}

// hash hashes r a buffer at a time. It stops between two buffers when ctx ends.
func (d *digester) hash(ctx context.Context, r io.Reader, s *scratch) (size int64, err error) {
	s.hash.Reset()
	for {
		n, err := r.Read(s.buf)
		s.hash.Write(s.buf[:n])
		size += int64(n)
		d.bytes.Add(int64(n))
		switch {
		case err == io.EOF:
			return size, nil
		case err != nil:
			return size, err
		case ctx.Err() != nil:
			return size, context.Cause(ctx)
		}
	}
}
