package main

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

var (
	errNotRegular = errors.New("no longer a regular file")
	errOutside    = errors.New("not below the directory that the worker reads")
)

// subtree is what a worker reads.
type subtree struct {
	root  *os.Root   // nil: everything
	paths [][]string // of root, an element for each name: as it was given, and without symbolic links
}

// openSubtree prepares to read what is below dir, or everything if dir is empty.
func openSubtree(dir string) (*subtree, error) {
	if dir == "" {
		return &subtree{}, nil
	}
	if !filepath.IsAbs(dir) {
		here, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		dir = here + string(os.PathSeparator) + dir
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(real)
	s := &subtree{root: root}
	for _, path := range []string{undotted(dir), real} {
		s.paths = append(s.paths, elements(path))
	}
	return s, err
}

// open opens a regular file for whoever asks. It looks at the file before that, since to
// open a device or a pipe does something to it; what counts is what was opened. Of what is
// not below the directory it looks at nothing: whether it is there is not for the asker.
func (s *subtree) open(path string) (io.ReadCloser, error) {
	if s.root == nil || path == "" { // which is not there
		if kindOf(path) == special {
			return nil, errNotRegular
		}
		return openRegular(path)
	}
	path, ok := s.below(path)
	if !ok {
		return nil, errOutside
	}
	info, err := s.root.Stat(path)
	if err != nil { // perhaps since it refuses links that begin at the top
		if path, err = s.resolve(path); err != nil {
			return nil, err
		}
		info, err = s.root.Stat(path)
	}
	if err == nil && isSpecial(info) {
		return nil, errNotRegular
	}
	return openRegularIn(s.root, path) // and a link that was changed meanwhile leads nowhere else
}

// below returns what follows the directory's path in path, by text. An element ".." before
// that is refused: what it means depends on what is outside.
func (s *subtree) below(path string) (rest string, ok bool) {
	for _, root := range s.paths {
		rest, ok = filepath.ToSlash(path), true
		for _, want := range root {
			name := "."
			for name == "." || name == "" && rest != "" {
				name, rest, _ = strings.Cut(rest, "/")
			}
			ok = ok && name == want && name != ".."
		}
		if ok {
			return cmp.Or(strings.TrimLeft(rest, "/"), "."), true
		}
	}
	return "", false
}

// maxLinks is how many symbolic links one path may lead through, as on Linux.
const maxLinks = 40

// resolve returns path, which is below the directory, without symbolic links. It looks at
// nothing but what is there: a link that leads out is an error, wherever it leads.
func (s *subtree) resolve(path string) (string, error) {
	done := "."
	for links, more := 0, true; more; {
		var name string
		name, path, more = strings.Cut(path, "/")
		if name == ".." {
			if done == "." && len(s.paths[1]) > 0 {
				return "", errOutside
			}
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		info, err := s.root.Lstat(next)
		if err == nil && info.Mode().Type() == fs.ModeSymlink {
			if links++; links > maxLinks {
				return "", syscall.ELOOP
			}
			done, name, err = s.link(done, next)
			if more {
				name += "/" + path
			}
			path, more = name, true
		} else {
			done = next
		}
		if err == nil && more && !info.IsDir() && info.Mode().Type() != fs.ModeSymlink {
			err = syscall.ENOTDIR
		}
		if err != nil {
			return "", err
		}
	}
	return done, nil
}

// link returns where the link at path leads, which is in dir: the directory to begin in,
// and the path from there.
func (s *subtree) link(dir, path string) (from, to string, err error) {
	to, err = s.root.Readlink(path)
	if err != nil || !filepath.IsAbs(to) {
		return dir, filepath.ToSlash(to), err
	}
	to, ok := s.below(to)
	if !ok {
		err = errOutside
	}
	return ".", to, err
}

// elements returns the names in path, in order.
func elements(path string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(name string) bool { return name == "" || name == "." })
}

// undotted returns path without "..", unless it would lead elsewhere then: a/../b is not b if a
// is a symbolic link.
func undotted(path string) string {
	path = filepath.FromSlash(path)
	up, end := string(os.PathSeparator)+"..", 0
	for i := range len(path) {
		if strings.HasPrefix(path[i:], up) && (i+len(up) == len(path) || path[i+len(up)] == os.PathSeparator) {
			end = i + len(up)
		}
	}
	dir := filepath.Clean(path[:end])
	was, errWas := os.Stat(path[:end])
	is, errIs := os.Stat(dir)
	if end == 0 || errWas != nil || errIs != nil || !os.SameFile(was, is) {
		return path
	}
	return strings.TrimSuffix(dir, string(os.PathSeparator)) + path[end:]
}
