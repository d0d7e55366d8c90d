package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

var (
	errNotRegular = errors.New("no longer a regular file")
	errOutside    = errors.New("not below the directory that the worker reads")
)

// subtree is what a worker reads.
type subtree struct {
	root *os.Root // nil: everything
	path string   // of root, without symbolic links, ends in a separator
}

// openSubtree prepares to read what is below dir, or everything if dir is empty.
func openSubtree(dir string) (*subtree, error) {
	if dir == "" {
		return &subtree{}, nil
	}
	path, err := filepath.Abs(dir)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	return &subtree{root, withSeparator(path)}, err
}

// open opens a regular file for whoever asks. It looks at the file before that, since to
// open a device or a pipe does something to it; what counts is what was opened.
func (s *subtree) open(path string) (io.ReadCloser, error) {
	if s.root == nil || path == "" { // which is not there
		if kindOf(path) == special {
			return nil, errNotRegular
		}
		return openRegular(path)
	}
	path, ok := strings.CutPrefix(resolve(path), s.path)
	if !ok {
		return nil, errOutside
	}
	if info, err := s.root.Stat(path); err == nil && isSpecial(info) {
		return nil, errNotRegular
	}
	return openRegularIn(s.root, path) // and a link that was changed meanwhile leads nowhere else
}

// resolve returns path without symbolic links as far as it exists, so that a file that is
// missing is known to be one of a directory.
func resolve(path string) string {
	for there := strings.TrimRight(path, string(os.PathSeparator)); ; {
		real, err := filepath.EvalSymlinks(there)
		if err == nil {
			return strings.TrimSuffix(real, string(os.PathSeparator)) + path[len(there):]
		}
		there = there[:max(0, strings.LastIndexByte(there, os.PathSeparator))]
	}
}

// withSeparator is a directory's path as the beginning of those below it.
func withSeparator(dir string) string {
	if os.IsPathSeparator(dir[len(dir)-1]) {
		return dir
	}
	return dir + string(os.PathSeparator)
}
