package main

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
	"sync"
	"time"
)

const (
	outputBuffer = 32 << 10
	outputDelay  = 100 * time.Millisecond
)

// writeError is the first error that writing the results met.
type writeError struct{ err error }

func (e *writeError) Error() string { return "write error: " + reason(e.err) }
func (e *writeError) Unwrap() error { return e.err }

// recorder keeps the first error of w and hides it from cobra, which would print
// it in its own way.
type recorder struct {
	w   io.Writer
	err error
}

func (r *recorder) Write(b []byte) (int, error) {
	_, err := r.w.Write(b)
	r.err = cmp.Or(r.err, err)
	return len(b), nil
}

func (r *recorder) failed() error {
	if r.err == nil {
		return nil
	}
	return &writeError{r.err}
}

// output gathers lines and writes them some at a time, whole lines only, so
// that several processes can write to one file. No line waits longer than
// outputDelay, so that a reader sees what is finished while a large file is
// still being read. After the first error nothing more is written.
//
// It is for one writer, beside which the timer runs.
type output struct {
	before func()      // called before each write, to clear a shared terminal; may be nil
	broken func(error) // called once, with the first error; may be nil

	mu    sync.Mutex
	w     io.Writer
	buf   []byte
	timer *time.Timer // runs while buf is not empty
	err   error       // sticks
}

func newOutput(w io.Writer) *output {
	o := &output{w: w, buf: make([]byte, 0, outputBuffer)}
	o.timer = time.AfterFunc(time.Hour, func() { _ = o.flush() })
	o.timer.Stop()
	return o
}

// line takes over one line, and reports the error of an earlier one.
func (o *output) line(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.buf) > 0 && len(o.buf)+len(b) > outputBuffer {
		o.flushLocked()
	}
	if len(o.buf) == 0 {
		o.timer.Reset(outputDelay)
	}
	o.buf = append(o.buf, b...)
	return o.failed()
}

// flush writes what has been gathered.
func (o *output) flush() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushLocked()
	return o.failed()
}

func (o *output) flushLocked() {
	o.timer.Stop()
	if len(o.buf) > 0 && o.err == nil {
		if o.before != nil {
			o.before()
		}
		_, o.err = o.w.Write(o.buf)
		if o.err != nil && o.broken != nil {
			o.broken(o.failed())
		}
	}
	o.buf = o.buf[:0]
}

// failed is a method rather than a field so that a nil error stays nil.
func (o *output) failed() error {
	if o.err == nil {
		return nil
	}
	return &writeError{o.err}
}

// target is the file that -o names. It comes into being when it is committed:
// until then the lines go to a file beside it, which replaces it in one step. If
// that would lose hard links or its owner, the lines are then copied into it, and
// stay in the temporary file if that fails. A device, a pipe or a descriptor is written
// directly.
type target struct {
	path string   // where symbolic links lead
	temp string   // "" if written directly
	file *os.File // temp, or path
	old  *os.File // that temp is copied into; nil: it is replaced
}

// tempPrefix and random letters are the name of a temporary file.
const tempPrefix = ".stint-"

// isTemp reports whether name is one of a temporary file, of whichever run.
func isTemp(name string) bool {
	letters, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(letters) == 26 && strings.Trim(letters, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// openTarget creates the temporary file.
func openTarget(ctx context.Context, path string) (*target, error) {
	path, descriptor := follow(path)
	if descriptor == ofThis {
		number, _ := strconv.Atoi(filepath.Base(path))
		f, err := duplicate(number, path)
		return &target{path: path, file: f}, err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && (descriptor == ofAnother || !info.Mode().IsRegular()):
		// Where another process stands in a file only its descriptor knows: that is the end.
		f, err := patiently(ctx, func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0) })
		return &target{path: path, file: f}, err
	case errors.Is(err, fs.ErrNotExist):
		return createTemp(path, 0o666)
	case err != nil:
		return nil, err
	}
	old, err := os.OpenFile(path, os.O_WRONLY, 0) // what may not be written is not replaced either
	if err != nil {
		return nil, err
	}
	t, err := createTemp(path, 0o600)
	if err != nil || becomes(t.file, info) {
		old.Close()
		return t, err
	}
	t.old = old
	return t, nil
}

// createTemp creates the file beside path.
func createTemp(path string, mode fs.FileMode) (*target, error) {
	dir, _ := filepath.Split(path)
	temp := dir + tempPrefix + rand.Text()
	f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return &target{path: path, temp: temp, file: f}, nil
}

// holder says whose descriptors the names in a directory are.
type holder int

const (
	ofNobody holder = iota
	ofThis          // process
	ofAnother
)

// follow returns where the links at path lead, also if nothing is there. What is a
// descriptor is not followed further.
func follow(path string) (end string, descriptor holder) {
	for range 40 {
		dir, name := filepath.Split(path)
		if _, err := strconv.Atoi(name); err == nil {
			if h := holderOf(dir); h != ofNobody {
				return path, h
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
	return path, ofNobody // if there are too many, opening the last one says so
}

// holderOf returns whose descriptors the names in dir are.
func holderOf(dir string) holder {
	dir, err := filepath.EvalSymlinks(dir)
	switch {
	case err != nil:
	case dir == "/dev/fd", strings.HasPrefix(dir, fmt.Sprintf("/proc/%d/", os.Getpid())) && strings.HasSuffix(dir, "/fd"):
		return ofThis
	case strings.HasPrefix(dir, "/proc/") && strings.HasSuffix(dir, "/fd"):
		return ofAnother
	}
	return ofNobody
}

// is reports whether path, whose last element is name, is the target or its
// temporary file. It looks at the disk only when the name fits, or when the target may
// have others.
func (t *target) is(path, name string) bool {
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

// commit makes the target appear, complete and on the disk.
func (t *target) commit() error {
	f := t.file
	t.file = nil
	if t.old != nil {
		return t.copy(f)
	}
	var err error
	if t.temp != "" {
		err = f.Sync()
	}
	err = cmp.Or(err, f.Close())
	if err == nil && t.temp != "" {
		err = os.Rename(t.temp, t.path)
	}
	if err == nil {
		return nil
	}
	if t.temp != "" {
		os.Remove(t.temp)
	}
	return &writeError{err}
}

// copy makes old hold what f, the temporary file, holds. If it cannot, the temporary file
// stays: it may be all that there is.
func (t *target) copy(f *os.File) error {
	err := overwrite(t.old, f)
	err = cmp.Or(err, t.old.Close())
	f.Close()
	if err != nil {
		return &writeError{fmt.Errorf("%s: %s; the output is in %s", quote(t.path), reason(err), quote(t.temp))}
	}
	os.Remove(t.temp)
	return nil
}

// overwrite makes old hold what f holds. What is longer comes first: where there is no room
// for that, old stays as it was.
func overwrite(old, f *os.File) error {
	info, err := old.Stat()
	if err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	was := info.Size()
	if size > was {
		if err = copyAt(old, f, was, size); err != nil {
			return errors.Join(err, old.Truncate(was))
		}
	}
	err = copyAt(old, f, 0, min(was, size))
	if err == nil && size < was {
		err = cmp.Or(old.Truncate(size), old.Sync())
	}
	return err
}

// copyAt copies the bytes from begin to end, to the disk.
func copyAt(to, from *os.File, begin, end int64) error {
	_, err := io.Copy(io.NewOffsetWriter(to, begin), io.NewSectionReader(from, begin, end-begin))
	return cmp.Or(err, to.Sync())
}

// discard removes what was written and leaves the target as it was. It does
// nothing after commit.
func (t *target) discard() {
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
