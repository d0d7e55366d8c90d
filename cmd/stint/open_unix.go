//go:build unix

package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// openFlags are for files whose opening and reading must not wait for anybody.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// regularFile is the descriptor of a regular file. An os.File asks the poller about
// it, which takes more system calls than reading a small file, and waits for the
// few that it accepts, such as /proc/kmsg.
type regularFile int

func (f regularFile) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(f), b)
		switch {
		case err == syscall.EINTR: // by a signal: not an answer
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (f regularFile) Close() error { return syscall.Close(int(f)) }

// openRegular opens a file if it is a regular one, which only the open file can tell:
// path may lead elsewhere a moment after it was looked at.
func openRegular(path string) (io.ReadCloser, error) {
	for {
		fd, err := syscall.Open(path, openFlags|syscall.O_CLOEXEC, 0)
		switch err {
		case nil:
			return asRegular(fd)
		case syscall.EINTR:
		default:
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// openRegularIn is openRegular below a directory.
func openRegularIn(root *os.Root, path string) (io.ReadCloser, error) {
	f, err := root.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return asRegular(fd)
}

func asRegular(fd int) (io.ReadCloser, error) {
	var info syscall.Stat_t
	err := syscall.Fstat(fd, &info)
	if err == nil {
		switch info.Mode & syscall.S_IFMT {
		case syscall.S_IFREG:
			return regularFile(fd), nil
		case syscall.S_IFDIR:
			err = syscall.EISDIR
		default:
			err = errNotRegular
		}
	}
	syscall.Close(fd)
	return nil, err
}

// openDir opens a directory. What is none gives an error when its entries are read.
func openDir(path string) (*os.File, error) { return os.OpenFile(path, openFlags, 0) }

// noDescriptor reports whether a file was not opened since too many are.
func noDescriptor(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// duplicate is another descriptor for an open file.
func duplicate(fd int, name string) (*os.File, error) {
	fd, err := syscall.Dup(fd)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// becomes gives f the owner, the group and the permissions of the file that it is to
// replace, and reports whether nothing is lost then: other links to that file are.
func becomes(f *os.File, old fs.FileInfo) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	was, now := old.Sys().(*syscall.Stat_t), info.Sys().(*syscall.Stat_t)
	if was.Nlink > 1 {
		return false
	}
	if (was.Uid != now.Uid || was.Gid != now.Gid) && f.Chown(int(was.Uid), int(was.Gid)) != nil {
		return false
	}
	return f.Chmod(old.Mode().Perm()) == nil
}
