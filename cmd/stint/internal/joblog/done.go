package joblog

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// maxLine is more than a line can have: arguments of 6 MB are the most on Linux, and to quote a
// byte takes five.
const maxLine = 32 << 20

// Done has the commands that a log says are done, each as often as it was. It is for one
// goroutine.
type Done struct {
	times map[key]uint32
}

// key stands for a command, so that a million long commands take 40 MB, not hundreds. Two
// commands with one key would be a job that never runs; the hash is one for which nobody can
// make such file names.
type key [16]byte

func keyOf(command []byte) key {
	sum := sha256.Sum256(command)
	return key(sum[:])
}

// Read reads the named log. A job is done if the log has a line of it or, with retryFailed,
// a line with exit status 0 and no signal. Lines count by their commands alone; their numbers
// and order do not matter. So "a" twice is done when two lines say so, and lines that say
// success, failure, success are two jobs with retryFailed: the failed one has run again.
// Without it they are three.
//
// Read returns an error that names the line if the file is not a job log. But a last line
// without a newline is ignored: its job was interrupted. If the file does not exist, nothing
// is done.
func Read(name string, retryFailed bool) (*Done, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return new(Done), nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: cannot resume from what is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, name, retryFailed)
}

func read(r io.Reader, name string, retryFailed bool) (*Done, error) {
	d := &Done{times: map[key]uint32{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	lines.Split(wholeLine)
	n := 1
	for ; lines.Scan(); n++ {
		line, complete := bytes.CutSuffix(lines.Bytes(), []byte("\n"))
		switch {
		case n == 1 && string(line) != header && (complete || !strings.HasPrefix(header, string(line))):
			return nil, foreign(name)
		case n == 1 || !complete || bytes.HasSuffix(line, []byte(tornMark)):
			continue
		case len(line) == 0: // two processes have ended the same torn line
			continue
		}
		success, command, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: not a line of a job log: %w", name, n, err)
		}
		if success || !retryFailed {
			d.times[keyOf(command)]++
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, n, err)
	}
	return d, nil
}

// wholeLine is a split function that leaves the newline, to tell a last line without one.
func wholeLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// Take reports whether a job with this command is done, and counts it: if "a" was done once,
// the first Take of "a" returns true and the second false.
func (d *Done) Take(command string) bool {
	k := keyOf([]byte(logged(command)))
	if d.times[k] == 0 {
		return false
	}
	d.times[k]--
	return true
}
