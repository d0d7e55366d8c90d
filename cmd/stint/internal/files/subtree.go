package files

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

var errOutside = errors.New("not below the directory that the worker reads")

// maxLinks is how many symbolic links one path may lead through, as on Linux.
const maxLinks = 40

// Subtree is the part of the file system that a worker reads. The zero value is all of
// it.
type Subtree struct {
	root  *os.Root   // nil: everything
	paths [][]string // the elements of root's path: as it was given, and without symbolic links
}

// OpenSubtree returns the files below dir, or all files if dir is empty.
func OpenSubtree(dir string) (*Subtree, error) {
	if dir == "" {
		return &Subtree{}, nil
	}
	if !filepath.IsAbs(dir) {
		wd, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		dir = wd + string(os.PathSeparator) + dir
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(real)
	s := &Subtree{root: root}
	for _, path := range []string{Clean(dir), real} {
		s.paths = append(s.paths, elements(path))
	}
	return s, err
}

// All reports whether s is the whole file system.
func (s *Subtree) All() bool { return s.root == nil }

// Open opens a regular file below s. It looks at the file first, since opening a device
// or a pipe has effects; the type of the open file counts. It looks at nothing outside
// s: a client must not learn what exists there.
func (s *Subtree) Open(path string) (io.ReadCloser, error) {
	if s.All() || path == "" { // an empty path does not exist
		if KindOf(path) == Special {
			return nil, ErrNotRegular
		}
		return OpenRegular(path)
	}
	path, ok := s.below(path)
	if !ok {
		return nil, errOutside
	}
	info, err := s.root.Stat(path)
	if err != nil { // perhaps because os.Root refuses absolute links
		if path, err = s.resolve(path); err != nil {
			return nil, err
		}
		info, err = s.root.Stat(path)
	}
	if err == nil && isSpecial(info) {
		return nil, ErrNotRegular
	}
	return openRegularIn(s.root, path) // a link that changes meanwhile cannot lead out of root
}

// below returns the part of path that follows the directory's path, comparing text. It
// refuses ".." before that: its meaning depends on files outside.
func (s *Subtree) below(path string) (rest string, ok bool) {
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

// resolve returns path, which is below the directory, without symbolic links. It looks
// only at files below the directory: a link that leads out is an error, whether or not
// its target exists.
func (s *Subtree) resolve(path string) (string, error) {
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

// link returns where the symbolic link at path, in directory dir, leads: a directory,
// and the path from there.
func (s *Subtree) link(dir, path string) (from, to string, err error) {
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

// elements returns the names in path.
func elements(path string) []string {
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(name string) bool { return name == "" || name == "." })
}

// Clean removes ".." elements from path if it then still names the same file: a/../b is
// not b if a is a symbolic link.
func Clean(path string) string {
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
