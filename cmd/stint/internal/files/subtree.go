package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

var errOutside = errors.New("not below the directory that the worker reads")

// Subtree is the part of the file system that a worker reads. The zero value is all of
// it.
type Subtree struct {
	root  *os.Root // nil: everything
	names []string // of root: as it was given, and without symbolic links
}

// OpenSubtree returns the files below dir, or all files if dir is empty.
func OpenSubtree(dir string) (*Subtree, error) {
	if dir == "" {
		return &Subtree{}, nil
	}
	given, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(real)
	return &Subtree{root, []string{given, real}}, err
}

// All reports whether s is the whole file system.
func (s *Subtree) All() bool { return s.root == nil }

// Open opens a regular file below s. It looks at the file first, since opening a device
// or a pipe has effects; the type of the open file counts. It looks at nothing outside
// s, as os.Root does not: a client must not learn what exists there.
func (s *Subtree) Open(ctx context.Context, path string) (*os.File, error) {
	if s.All() {
		if KindOf(path) == Special {
			return nil, ErrNotRegular
		}
		return OpenRegular(ctx, path)
	}
	for _, name := range s.names {
		rest, err := filepath.Rel(name, path)
		if err != nil || !filepath.IsLocal(rest) {
			continue
		}
		if info, err := s.root.Stat(rest); err == nil && isSpecial(info.Mode()) {
			return nil, ErrNotRegular
		}
		f, err := openRegular(ctx, rest, s.root.OpenFile)
		if _, isErrno := errors.AsType[syscall.Errno](err); err == nil || isErrno || errors.Is(err, ErrNotRegular) || ctx.Err() != nil {
			return f, err
		}
		break // a link leads out
	}
	return nil, errOutside
}
