package files

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
)

// Target is an output file that appears when it is committed. Until then the output
// goes to a temporary file in the same directory, which replaces the target in one step.
// If that would lose hard links or the owner, the output is copied into the target
// instead, and stays in the temporary file if the copy fails. A device, a pipe or a
// descriptor is written directly.
type Target struct {
	path string   // where symbolic links lead
	temp string   // the temporary file; "" if the target is written directly
	file *os.File // temp or path; nil after Commit
	old  *os.File // the file to copy temp into; nil: temp replaces it
}

// tempPrefix and 26 random letters are the name of a temporary file.
const tempPrefix = ".stint-"

// isTemp reports whether name is the name of a temporary file of any run.
func isTemp(name string) bool {
	letters, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(letters) == 26 && strings.Trim(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Create prepares to write the file at path. It blocks while path is a pipe that
// nobody reads, until ctx ends.
func Create(ctx context.Context, path string) (*Target, error) {
	path, descriptor := resolve(path)
	if descriptor == ownDescriptor {
		number, _ := strconv.Atoi(filepath.Base(path))
		f, err := duplicate(number, path)
		return &Target{path: path, file: f}, err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && (descriptor == otherDescriptor || !info.Mode().IsRegular()):
		// The offset of another process's file is unknown: append.
		f, err := interrupt.Call(ctx, func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0) })
		return &Target{path: path, file: f}, err
	case errors.Is(err, fs.ErrNotExist):
		return createTemp(path, 0o666)
	case err != nil:
		return nil, err
	}
	old, err := os.OpenFile(path, os.O_WRONLY, 0) // a file that may not be written is not replaced either
	if err != nil {
		return nil, err
	}
	t, err := createTemp(path, 0o600)
	if err != nil || copyOwner(t.file, info) {
		old.Close()
		return t, err
	}
	t.old = old
	return t, nil
}

// createTemp creates the temporary file beside path.
func createTemp(path string, mode fs.FileMode) (*Target, error) {
	dir, _ := filepath.Split(path)
	temp := dir + tempPrefix + rand.Text()
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return &Target{path: path, temp: temp, file: f}, nil
}

// descriptor says whether a path names a file descriptor, and of which process.
type descriptor int

const (
	noneDescriptor descriptor = iota
	ownDescriptor
	otherDescriptor
)

// resolve returns where the symbolic links at path lead, even if nothing is there. It
// does not follow a descriptor.
func resolve(path string) (end string, d descriptor) {
	for range maxLinks {
		dir, name := filepath.Split(path)
		if _, err := strconv.Atoi(name); err == nil {
			if d := descriptorsIn(dir); d != noneDescriptor {
				return path, d
			}
		}
		link, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(link) {
			link = dir + link
		}
		path = link
	}
	return path, noneDescriptor // after too many links, opening path returns the error
}

// descriptorsIn returns which descriptors the names in dir are.
func descriptorsIn(dir string) descriptor {
	dir, err := filepath.EvalSymlinks(dir)
	switch {
	case err != nil:
	case dir == "/dev/fd", strings.HasPrefix(dir, fmt.Sprintf("/proc/%d/", os.Getpid())) && strings.HasSuffix(dir, "/fd"):
		return ownDescriptor
	case strings.HasPrefix(dir, "/proc/") && strings.HasSuffix(dir, "/fd"):
		return otherDescriptor
	}
	return noneDescriptor
}

// is reports whether path, whose last element is name, is the target or its temporary
// file. It looks at the disk only if the name matches, or if the target has several
// names.
func (t *Target) is(path, name string) bool {
	if t == nil || t.temp == "" {
		return false
	}
	for _, own := range []string{t.path, t.temp} {
		if name != filepath.Base(own) && (own == t.temp || t.old == nil) {
			continue
		}
		a, errA := os.Lstat(own)
		b, errB := os.Stat(path)
		if errA == nil && errB == nil && os.SameFile(a, b) {
			return true
		}
	}
	return false
}

// Write adds to the output.
func (t *Target) Write(b []byte) (int, error) { return t.file.Write(b) }

// SyscallConn is that of the file, which may be a terminal.
func (t *Target) SyscallConn() (syscall.RawConn, error) { return t.file.SyscallConn() }

// Commit makes the target appear, complete and synced to the disk.
func (t *Target) Commit() error {
	f := t.file
	t.file = nil
	if t.old != nil {
		return t.copy(f)
	}
	if t.temp == "" {
		if err := f.Close(); err != nil {
			return &console.WriteError{Err: err}
		}
		return nil
	}
	err := cmp.Or(f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(t.temp, t.path)
	}
	if err != nil {
		os.Remove(t.temp)
		return &console.WriteError{Err: err}
	}
	return nil
}

// copy copies the temporary file f into old. If that fails, f stays: it may be the only
// copy of the output.
func (t *Target) copy(f *os.File) error {
	err := overwrite(t.old, f)
	err = cmp.Or(err, t.old.Close())
	f.Close()
	if err != nil {
		return &console.WriteError{Err: fmt.Errorf("%s: %s; the output is in %s", console.Quote(t.path), console.Reason(err), console.Quote(t.temp))}
	}
	os.Remove(t.temp)
	return nil
}

// overwrite copies f into old. It writes the bytes beyond the end of old first: if
// there is no room for them, old stays as it was.
func overwrite(old, f *os.File) error {
	info, err := old.Stat()
	if err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	oldSize := info.Size()
	if size > oldSize {
		if err = copyAt(old, f, oldSize, size); err != nil {
			return errors.Join(err, old.Truncate(oldSize))
		}
	}
	err = copyAt(old, f, 0, min(oldSize, size))
	if err == nil && size < oldSize {
		err = cmp.Or(old.Truncate(size), old.Sync())
	}
	return err
}

// copyAt copies the bytes from begin to end, and syncs them to the disk.
func copyAt(to, from *os.File, begin, end int64) error {
	_, err := io.Copy(io.NewOffsetWriter(to, begin), io.NewSectionReader(from, begin, end-begin))
	return cmp.Or(err, to.Sync())
}

// Discard removes the output and leaves the target as it was. It does nothing after
// Commit.
func (t *Target) Discard() {
	if t.file == nil {
		return
	}
	t.file.Close()
	if t.temp != "" {
		os.Remove(t.temp)
	}
	if t.old != nil {
		t.old.Close()
	}
}
