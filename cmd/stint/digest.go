package main

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"io"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	maxDigest  = sha512.Size
	bufferSize = 128 << 10 // large enough that calls cost little, small enough for a core's own cache
)

// algorithm is a digest by its name on our command line and in tagged lines.
type algorithm struct {
	name  string
	tag   string
	size  int
	index int // in algorithms
	make  func() hash.Hash
}

var algorithms = []*algorithm{
	{"md5", "MD5", md5.Size, 0, md5.New},
	{"sha1", "SHA1", sha1.Size, 1, sha1.New},
	{"sha256", "SHA256", sha256.Size, 2, sha256.New},
	{"sha384", "SHA384", sha512.Size384, 3, sha512.New384},
	{"sha512", "SHA512", sha512.Size, 4, sha512.New},
}

// algorithmNames is the list for messages and completion.
func algorithmNames() []string {
	var names []string
	for _, a := range algorithms {
		names = append(names, a.name)
	}
	return names
}

func algorithmByName(name string) (*algorithm, bool) {
	for _, a := range algorithms {
		if strings.EqualFold(a.name, name) {
			return a, true
		}
	}
	return nil, false
}

// result is what became of one item, or what is wanted of it: then without a size
// and a sum. Its err is the item's own, so that one file that cannot be read does not
// end the run.
type result struct {
	item
	alg   *algorithm
	claim *claim // that it is compared with; nil if it is printed
	size  int64
	sum   [maxDigest]byte // the first alg.size bytes count
}

func (r *result) digest() []byte { return r.sum[:r.alg.size] }

// scratch is what one digest needs while it is computed.
type scratch struct {
	hash hash.Hash
	buf  []byte
}

// digester computes digests, many at a time.
type digester struct {
	stdin io.Reader
	open  func(path string) (io.ReadCloser, error) // a regular file
	files descriptors
	bytes atomic.Int64 // read so far, for the progress line
	free  []sync.Pool  // of *scratch, by algorithm.index
}

func newDigester(stdin io.Reader) *digester {
	return &digester{stdin: stdin, open: openRegular, free: make([]sync.Pool, len(algorithms))}
}

// digest reads what r names, and returns r with its digest. The error is not nil only
// when ctx has ended: what is wrong with the file itself is in the result. A file that
// nobody answers for may keep it after ctx has ended.
func (d *digester) digest(ctx context.Context, r result) (result, error) {
	if r.err != nil || r.kind == skipped {
		return r, nil
	}
	s, _ := d.free[r.alg.index].Get().(*scratch)
	if s == nil {
		s = &scratch{hash: r.alg.make(), buf: make([]byte, bufferSize)}
	}
	r.size, r.err = d.read(ctx, r.item, s)
	s.hash.Sum(r.sum[:0])
	d.free[r.alg.index].Put(s)
	return r, context.Cause(ctx)
}

// read opens the item and passes its bytes through s.hash.
func (d *digester) read(ctx context.Context, it item, s *scratch) (int64, error) {
	open := d.open
	switch {
	case it.kind == stdinAgain: // the first mention of standard input has read it all
		return d.copy(ctx, strings.NewReader(""), s)
	case it.kind == stdin:
		return d.copy(ctx, d.stdin, s)
	case it.kind == special, it.kind == listed && kindOf(it.path) == special:
		open = openAny
	}
	f, err := opened(ctx, &d.files, it.path, open)
	if err != nil {
		return 0, err
	}
	defer d.files.close(f)
	return d.copy(ctx, f, s)
}

// copy passes r through s.hash a buffer at a time, and stops between two of
// them when ctx ends.
func (d *digester) copy(ctx context.Context, r io.Reader, s *scratch) (size int64, err error) {
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
