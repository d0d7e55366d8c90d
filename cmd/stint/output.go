package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
// until then the lines go to a file beside it, which replaces it in one step.
// A device or a pipe is written directly, for there is nothing to replace.
type target struct {
	path string   // with symbolic links resolved
	temp string   // "" if written directly
	file *os.File // temp, or path
}

// openTarget creates the temporary file.
func openTarget(path string) (*target, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &target{path: path, file: f}, err
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".stint-"+rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
	}
	if info != nil {
		_ = f.Chmod(info.Mode().Perm()) // the file is replaced, its mode is kept where it can be
	}
	return &target{path: path, temp: temp, file: f}, nil
}

// is reports whether path, whose last element is name, is the target or its
// temporary file. It looks at the disk only when the name fits.
func (t *target) is(path, name string) bool {
	if t == nil || t.temp == "" {
		return false
	}
	for _, own := range []string{t.path, t.temp} {
		if name != filepath.Base(own) {
			continue
		}
		a, errA := os.Lstat(own)
		b, errB := os.Stat(path)
		return errA == nil && errB == nil && os.SameFile(a, b)
	}
	return false
}

// commit makes the target appear, complete and on the disk.
func (t *target) commit() error {
	f := t.file
	t.file = nil
	var err error
	if t.temp != "" {
		err = f.Sync()
	}
	err = cmp.Or(err, f.Close())
	if t.temp != "" && err == nil {
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
}
