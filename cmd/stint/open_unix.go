//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// openRegular opens a file whose reads do not wait for anybody. It does what
// os.Open does, except for offering the file to the poller, which refuses
// regular ones: that takes more system calls than reading a small file.
func openRegular(path string) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), path), nil
		case syscall.EINTR: // by a signal: not an answer
		default:
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
