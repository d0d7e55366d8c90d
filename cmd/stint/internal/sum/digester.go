package sum

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint/cmd/stint/internal/files"
)

// algorithm is a digest algorithm, by its name on the command line.
type algorithm struct {
	name string
	size int
	make func() hash.Hash
}

var algorithms = []*algorithm{
	{"md5", md5.Size, md5.New},
	{"sha1", sha1.Size, sha1.New},
	{"sha256", sha256.Size, sha256.New},
	{"sha384", sha512.Size384, sha512.New384},
	{"sha512", sha512.Size, sha512.New},
}

// tag returns the name in tagged lines.
func (a *algorithm) tag() string { return strings.ToUpper(a.name) }

// Algorithms returns the names of all algorithms.
func Algorithms() []string {
	var names []string
	for _, a := range algorithms {
		names = append(names, a.name)
	}
	return names
}

// algorithmByName ignores case.
func algorithmByName(name string) (*algorithm, bool) {
	for _, a := range algorithms {
		if strings.EqualFold(a.name, name) {
			return a, true
		}
	}
	return nil, false
}

// readSize is large enough that calls cost little, and small enough for the cache of one
// core.
const readSize = 128 << 10

// result is an item with its digest, or before it is read without size and digest. Err
// is the item's own: a file that cannot be read does not end the run.
type result struct {
	files.Item
	alg    *algorithm
	size   int64
	digest []byte
	want   []byte              // the digest that a checksum file lists
	report func(*result) error // prints it, after the results before it
}

// unread reports whether r is a file that is still to be read.
func (r *result) unread() bool { return r.Err == nil && r.Kind != files.Skipped }

// digester computes digests, many concurrently.
type digester struct {
	stdin io.Reader
	open  func(ctx context.Context, path string) (*os.File, error) // opens a regular file
	bytes atomic.Int64                                             // read so far, for the progress line
	free  sync.Pool                                                // of *[readSize]byte
}

func newDigester(stdin io.Reader) *digester {
	return &digester{stdin: stdin, open: files.OpenRegular, free: sync.Pool{New: func() any { return new([readSize]byte) }}}
}

// read reads the item r and returns r with its digest. The error is nil unless ctx has
// ended: an error of the file is in the result. A read from a file server that does not
// answer may outlast ctx.
func (d *digester) read(ctx context.Context, r result) (result, error) {
	if r.unread() {
		r.Err = d.hash(ctx, &r)
	}
	return r, context.Cause(ctx)
}

// hash opens the item and hashes its bytes, a buffer at a time. It stops between two
// buffers when ctx ends.
func (d *digester) hash(ctx context.Context, r *result) error {
	in := d.stdin
	switch r.Kind {
	case files.StdinAgain: // its first mention has been read to the end
		in = strings.NewReader("")
	case files.Regular, files.Listed, files.Special:
		f, err := d.file(ctx, r.Item)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	h, buf := r.alg.make(), d.free.Get().(*[readSize]byte)
	defer d.free.Put(buf)
	for {
		n, err := in.Read(buf[:])
		h.Write(buf[:n])
		r.size += int64(n)
		d.bytes.Add(int64(n))
		switch {
		case err == io.EOF:
			r.digest = h.Sum(nil)
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
	}
}

// file opens a file. To open a special one may block, as for the other end of a pipe.
func (d *digester) file(ctx context.Context, it files.Item) (*os.File, error) {
	if it.Kind == files.Special || it.Kind == files.Listed && files.KindOf(it.Path) == files.Special {
		return os.Open(it.Path)
	}
	return d.open(ctx, it.Path)
}
