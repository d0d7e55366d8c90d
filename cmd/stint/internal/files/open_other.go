//go:build !unix

package files

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
)

// OpenRegular opens a regular file, and fails for any other.
func OpenRegular(path string) (io.ReadCloser, error) { return asRegular(os.Open(path)) }

// openRegularIn is OpenRegular for a path below root.
func openRegularIn(root *os.Root, path string) (io.ReadCloser, error) {
	return asRegular(root.Open(path))
}

func asRegular(f *os.File, err error) (io.ReadCloser, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (info.Mode().IsRegular() || info.IsDir()) { // reading a directory fails
		return f, nil
	}
	f.Close()
	return nil, cmp.Or(err, ErrNotRegular)
}

// openDir opens a directory.
func openDir(path string) (*os.File, error) { return os.Open(path) }

// noDescriptor reports whether err means that too many files are open.
func noDescriptor(error) bool { return false }

// duplicate is for descriptors that have names, which this system does not have.
func duplicate(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }

// copyOwner gives f the permissions of old, where it can.
func copyOwner(f *os.File, old fs.FileInfo) bool {
	_ = f.Chmod(old.Mode().Perm())
	return true
}
