package md5

import (
	"crypto/md5"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// A File is a path with the digest of its contents.
type File struct {
	Path string
	Sum  [md5.Size]byte
}

// A folder is the input of the models.
type folder struct {
	root   string
	digest func(path string) (File, error)
}

// An entry is a path, or the error that ended the walk: all models receive it
// as the last file's.
type entry struct {
	path string
	err  error
}

// walk yields the regular files of the folder in order of their names.
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

// file returns the digest of an entry.
func (f folder) file(e entry) (File, error) {
	if e.err != nil {
		return File{}, e.err
	}
	return f.digest(e.path)
}

// digest reads a file block by block.
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
