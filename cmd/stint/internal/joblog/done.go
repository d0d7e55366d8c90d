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
)

// Done has the commands that a log says are done, each as often as it was; in nil is none. It is
// for one goroutine.
type Done map[key]uint32

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
func Read(name string, retryFailed bool) (Done, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
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

func read(r io.Reader, name string, retryFailed bool) (Done, error) {
	d := Done{}
	b := bufio.NewReaderSize(r, 64<<10)
	if start, _ := b.Peek(len(header) + 1); !isLog(start) {
		return nil, foreign(name)
	}
	for n := 1; ; n++ {
		line, err := b.ReadBytes('\n')
		switch {
		case err == io.EOF:
			return d, nil
		case err != nil:
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		line = line[:len(line)-1]
		// Of two processes, both may have ended the same torn line.
		if n == 1 || len(line) == 0 || bytes.HasSuffix(line, []byte(tornMark)) {
			continue
		}
		success, command, err := parse(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: not a line of a job log: %w", name, n, err)
		}
		if success || !retryFailed {
			d[keyOf(command)]++
		}
	}
}

// Take reports whether a job with this command is done, and counts it: if "a" was done once,
// the first Take of "a" returns true and the second false.
func (d Done) Take(command string) bool {
	if len(d) == 0 {
		return false
	}
	k := keyOf([]byte(logged(command)))
	if d[k] == 0 {
		return false
	}
	d[k]--
	return true
}
