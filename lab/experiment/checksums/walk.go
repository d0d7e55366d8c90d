package checksums

import (
	"crypto/md5"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// A File is a path with the digest of what is there.
type File struct {
	Path string
	Sum  [md5.Size]byte
}

// A folder is what models take the digests of.
type folder struct {
	root   string
	digest func(path string) (File, error)
}

// An entry is what the walk has found, or why it has ended early. All models get
// the error of the walk as that of the last file.
type entry struct {
	path string
	err  error
}

// walk yields the regular files below the root, in the order of their names.
func (f folder) walk() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		err := filepath.WalkDir(f.root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			if !yield(entry{path: path}) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(entry{err: err})
		}
	}
}

// file is the digest of an entry.
func (f folder) file(e entry) (File, error) {
	if e.err != nil {
		return File{}, e.err
	}
	return f.digest(e.path)
}

// digest reads a file piece by piece.
func digest(path string) (File, error) {
	in, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer in.Close()
	h := md5.New()
	if _, err := io.Copy(h, in); err != nil {
		return File{}, err
	}
	out := File{Path: path}
	h.Sum(out.Sum[:0])
	return out, nil
}
