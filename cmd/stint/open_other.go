//go:build !unix

package main

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
)

// openRegular opens a file if it is a regular one.
func openRegular(path string) (io.ReadCloser, error) { return asRegular(os.Open(path)) }

// openRegularIn is openRegular below a directory.
func openRegularIn(root *os.Root, path string) (io.ReadCloser, error) {
	return asRegular(root.Open(path))
}

func asRegular(f *os.File, err error) (io.ReadCloser, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (info.Mode().IsRegular() || info.IsDir()) { // reading a directory gives the error
		return f, nil
	}
	f.Close()
	return nil, cmp.Or(err, errNotRegular)
}

// openDir opens a directory.
func openDir(path string) (*os.File, error) { return os.Open(path) }

// noDescriptor reports whether a file was not opened since too many are.
func noDescriptor(error) bool { return false }

// duplicate is for descriptors that have names, which they do not have here.
func duplicate(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }

// becomes gives f the permissions of the file that it is to replace, where it can.
func becomes(f *os.File, old fs.FileInfo) bool {
	_ = f.Chmod(old.Mode().Perm())
	return true
}
