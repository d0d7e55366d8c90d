// Package joblog reads and writes the log of the jobs of a run, in the format of GNU
// parallel's --joblog: a header, then a line of nine columns a job, separated by tabs.
// Each program reads what the other wrote.
package joblog

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// tornMark ends a line that was not written to its end: kill -9 or a full disk cut it. Its
// beginning may look like the line of another job, "echo 1" for "echo 12", so a newline alone
// would not do.
const tornMark = "\t<incomplete>"

// Log is a job log that is open for writing. Its methods may be called by several goroutines
// at once, and several processes may append to one file: each line is one write.
type Log struct {
	mu   sync.Mutex
	file io.WriteCloser
	torn bool // the last line has no newline
}

// Create opens the named log and writes the header. It discards the lines of an earlier run,
// as GNU parallel does, but returns an error for a regular file that is not a job log.
//
// The name may be that of a pipe or a device, and "-" is standard output. Opening a named
// pipe blocks until it has a reader.
func Create(name string) (*Log, error) { return open(name, os.O_TRUNC) }

// Open opens the named log to append to it. It writes the header if the file does not exist
// or is empty. A last line without a newline stays, and [Read] ignores it from then on.
func Open(name string) (*Log, error) { return open(name, 0) }

func open(name string, flag int) (*Log, error) {
	if f := standard(name); f != nil {
		l := &Log{file: standardFile{f}}
		return l, l.begin(0)
	}
	mode := os.O_WRONLY
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		mode = os.O_RDWR
	}
	f, err := os.OpenFile(name, mode|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	l, have := &Log{file: f}, 0
	if mode == os.O_RDWR {
		have, l.torn, err = inspect(f)
	}
	if err == nil && flag == os.O_TRUNC && have > 0 {
		have, l.torn, err = 0, false, os.Truncate(name, 0)
	}
	if err == nil {
		err = l.begin(have)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// begin writes the header, of which the file has some bytes.
func (l *Log) begin(have int) error {
	rest := (header + "\n")[have:]
	if rest == "" {
		return nil
	}
	_, err := io.WriteString(l.file, rest)
	return err
}

// inspect returns how many bytes of the header a file has, and whether its last line, unless
// that is the header, has no newline.
func inspect(f *os.File) (have int, torn bool, err error) {
	start := make([]byte, len(header)+1)
	have, err = f.ReadAt(start, 0)
	switch {
	case err != nil && err != io.EOF:
		return 0, false, err
	case !isLog(start[:have]):
		return 0, false, foreign(f.Name())
	case have < len(start):
		return have, false, nil
	}
	if _, err = f.Seek(-1, io.SeekEnd); err == nil {
		_, err = f.Read(start[:1])
	}
	return have, start[0] != '\n', err
}

// isLog reports whether a job log may start so.
func isLog(start []byte) bool { return strings.HasPrefix(header+"\n", string(start)) }

func foreign(name string) error {
	return fmt.Errorf("%s:1: not a job log: the first line is not %q", name, header)
}

// standardFile is a file of the process, which stays open.
type standardFile struct{ *os.File }

func (standardFile) Close() error { return nil }

// standard returns standard output or error if name means it, or nil. Opened again, as
// /dev/stdout, a regular file would have a second offset, and the two would overwrite each
// other; a socket could not be opened.
func standard(name string) *os.File {
	if name == "-" {
		return os.Stdout
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil
	}
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if own, err := f.Stat(); err == nil && os.SameFile(info, own) {
			return f
		}
	}
	return nil
}

// Append writes the line of e. The line is with the system when Append returns.
//
// After an error the job is not in the log, though a part of its line may be; the next
// Append begins a new line.
func (l *Log) Append(e Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var line []byte
	if l.torn {
		line = append(line, tornMark+"\n"...)
	}
	line = e.appendTo(line)
	n, err := l.file.Write(line)
	if n > 0 {
		l.torn = n < len(line)
	}
	return err
}

// IsTerminal reports whether the lines go to a terminal. l may be nil.
func (l *Log) IsTerminal() bool { return l != nil && console.IsTerminal(l.file) }

// Close closes the file, unless it is standard output or error.
func (l *Log) Close() error { return l.file.Close() }
