package files

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
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
// A device, a pipe or a descriptor is written directly.
type Target struct {
	path string   // where symbolic links lead
	temp string   // the temporary file; "" if the target is written directly
	file *os.File // temp or path; nil after Commit
}

// tempPrefix and 26 random letters are the name of a temporary file.
const tempPrefix = ".stint-"

// maxLinks is how many symbolic links may lead to the target, as on Linux.
const maxLinks = 40

// isTemp reports whether name is the name of a temporary file of any run.
func isTemp(name string) bool {
	letters, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(letters) == 26 && strings.Trim(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// Create prepares to write the file at path. It blocks while path is a pipe that
// nobody reads, until ctx ends.
func Create(ctx context.Context, path string) (*Target, error) {
	for range maxLinks { // even if they lead to nothing yet
		if f := descriptor(path); f != nil {
			_, err := f.Stat()
			return &Target{path: path, file: f}, err
		}
		link, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(link) {
			dir, _ := filepath.Split(path)
			link = dir + link
		}
		path = link
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return createTemp(path, 0o666)
	case err != nil:
		return nil, err
	}
	old, err := interrupt.Call(ctx, func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) })
	if err != nil || !info.Mode().IsRegular() {
		return &Target{path: path, file: old}, err
	}
	old.Close() // a file that may not be written is not replaced either
	t, err := createTemp(path, 0o600)
	if err == nil {
		copyOwner(t.file, info)
	}
	return t, err
}

// createTemp creates the temporary file beside path.
func createTemp(path string, mode fs.FileMode) (*Target, error) {
	dir, _ := filepath.Split(path)
	temp := dir + tempPrefix + rand.Text()
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	return &Target{path: path, temp: temp, file: f}, err
}

// descriptor returns the open file that a path such as /dev/stdout or /dev/fd/3 names, or
// nil. Opened by its path it would be written from its beginning.
func descriptor(path string) *os.File {
	dir, name := filepath.Split(path)
	number, err := strconv.Atoi(name)
	switch {
	case path == "/dev/stdout", path == "/dev/fd/1", path == "/proc/self/fd/1":
		return os.Stdout
	case path == "/dev/stderr", path == "/dev/fd/2", path == "/proc/self/fd/2":
		return os.Stderr
	case err == nil && (dir == "/dev/fd/" || dir == "/proc/self/fd/"):
		return os.NewFile(uintptr(number), path)
	}
	return nil
}

// is reports whether path, whose last element is name, is the target or its temporary
// file. It looks at the disk only if the name matches.
func (t *Target) is(path, name string) bool {
	if t == nil || t.temp == "" {
		return false
	}
	for _, own := range []string{t.path, t.temp} {
		if name == filepath.Base(own) {
			a, errA := os.Lstat(own)
			b, errB := os.Stat(path)
			return errA == nil && errB == nil && os.SameFile(a, b)
		}
	}
	return false
}

// Write adds to the output.
func (t *Target) Write(b []byte) (int, error) { return t.file.Write(b) }

// SyscallConn is that of the file, which may be a terminal.
func (t *Target) SyscallConn() (syscall.RawConn, error) { return t.file.SyscallConn() }

// Commit makes the target appear, complete and synced to the disk.
func (t *Target) Commit() (err error) {
	switch {
	case t.temp != "":
		if err = cmp.Or(t.file.Sync(), t.file.Close()); err == nil {
			err = os.Rename(t.temp, t.path)
		}
	case t.file != os.Stdout && t.file != os.Stderr:
		err = t.file.Close()
	}
	if err != nil {
		t.Discard()
		return &console.WriteError{Err: err}
	}
	t.file = nil
	return nil
}

// Discard removes the output and leaves the target as it was. It does nothing after
// Commit.
func (t *Target) Discard() {
	if t.file != nil && t.temp != "" {
		t.file.Close()
		os.Remove(t.temp)
	}
}
