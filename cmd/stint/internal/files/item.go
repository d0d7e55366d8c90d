package files

import (
	"errors"
	"io/fs"
	"os"
)

// Kind says how an item is read.
type Kind uint8

const (
	Regular    Kind = iota // a regular file
	Listed                 // named by a checksum file, and not looked at yet
	Special                // a pipe, device or socket named on the command line: reading may block
	Stdin                  // standard input
	StdinAgain             // standard input after it has been read to its end
	Skipped                // a special file in a directory: Err is nil, Note is its type
)

// Item is one file to read, or the reason why there is none.
type Item struct {
	Path string
	Kind Kind
	Note string
	Err  error
}

// ErrNotRegular is the error for a file that is not regular, or no longer.
var ErrNotRegular = errors.New("no longer a regular file")

// KindOf returns Special or Regular. A file that cannot be looked at is Regular:
// opening it returns the error.
func KindOf(path string) Kind {
	if info, err := os.Stat(path); err == nil && isSpecial(info) {
		return Special
	}
	return Regular
}

// isSpecial reports whether reading the file may block.
func isSpecial(info fs.FileInfo) bool { return !info.Mode().IsRegular() && !info.IsDir() }

// describe returns the type of a special file.
func describe(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeCharDevice != 0:
		return "character device"
	case mode&fs.ModeDevice != 0:
		return "block device"
	}
	return "special file"
}
