package files

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
)

// Target is an output file that appears when it is committed. Until then the output
// goes to a temporary file in the same directory, which replaces the target in one step.
// A device, a pipe or a descriptor is written directly.
type Target struct {
	*os.File
	path string // without symbolic links, if there was a file; "" if the target is written directly
	temp string // the temporary file; "" if there is none, or no longer
}

const tempPrefix = ".stint-"

var (
	// tempName matches the names of the temporary files of all runs.
	tempName = regexp.MustCompile("^" + regexp.QuoteMeta(tempPrefix) + "[A-Z2-7]{26}$")
	// descriptor matches names of open files, which may be regular files that others write, too.
	descriptor = regexp.MustCompile(`^/(dev|proc/self)/(fd/|std)`)
)

// Create prepares to write the file at path. It blocks while path is a pipe that
// nobody reads, until ctx ends.
func Create(ctx context.Context, path string) (*Target, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return createTemp(path, 0o666)
	}
	if err != nil {
		return nil, err
	}
	old, err := interrupt.Call(ctx, func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0) })
	if err != nil || !info.Mode().IsRegular() || descriptor.MatchString(path) {
		return &Target{File: old}, err
	}
	old.Close() // a file that may not be written is not replaced either
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	t, err := createTemp(path, 0o600)
	if err == nil {
		copyOwner(t.File, info)
	}
	return t, err
}

// createTemp creates the temporary file beside path.
func createTemp(path string, mode fs.FileMode) (*Target, error) {
	temp := filepath.Join(filepath.Dir(path), tempPrefix+rand.Text())
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	return &Target{f, path, temp}, err
}

// is reports whether path, whose last element is name, is the target. It looks at the disk
// only if the name matches.
func (t *Target) is(path, name string) bool {
	if t == nil || name != filepath.Base(t.path) {
		return false
	}
	a, errA := os.Stat(t.path)
	b, errB := os.Stat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// Commit makes the target appear, complete and synced to the disk.
func (t *Target) Commit() (err error) {
	if t.temp == "" {
		err = t.Close()
	} else if err = cmp.Or(t.Sync(), t.Close()); err == nil {
		err = os.Rename(t.temp, t.path)
	}
	if err != nil {
		t.Discard()
		return &console.WriteError{Err: err}
	}
	t.temp = ""
	return nil
}

// Discard removes the output and leaves the target as it was. It does nothing after
// Commit.
func (t *Target) Discard() {
	if t.temp != "" {
		t.Close()
		os.Remove(t.temp)
	}
}
