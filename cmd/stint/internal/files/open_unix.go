//go:build unix

package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// openFlags make opening and reading nonblocking.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// regularFile is the descriptor of a regular file. An os.File registers with the
// runtime's poller, which takes more system calls than reading a small file, and blocks
// on the few regular files that can be polled, such as /proc/kmsg.
type regularFile int

func (f regularFile) Read(b []byte) (int, error) {
	for {
		n, err := syscall.Read(int(f), b)
		switch {
		case err == syscall.EINTR:
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

// OpenRegular opens a regular file, and fails for any other. It checks the type of the
// open file, since path may have been replaced after it was looked at.
func OpenRegular(path string) (io.ReadCloser, error) {
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

// openRegularIn is OpenRegular for a path below root.
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
			err = ErrNotRegular
		}
	}
	syscall.Close(fd)
	return nil, err
}

// openDir opens a directory. For any other file, reading the entries fails.
func openDir(path string) (*os.File, error) { return os.OpenFile(path, openFlags, 0) }

// noDescriptor reports whether err means that too many files are open.
func noDescriptor(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// duplicate returns another descriptor for an open file.
func duplicate(fd int, name string) (*os.File, error) {
	fd, err := syscall.Dup(fd)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// copyOwner gives f the owner, group and permissions of old, and reports whether
// replacing old by f loses nothing. It loses other hard links to old.
func copyOwner(f *os.File, old fs.FileInfo) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	was, is := old.Sys().(*syscall.Stat_t), info.Sys().(*syscall.Stat_t)
	if was.Nlink > 1 {
		return false
	}
	if (was.Uid != is.Uid || was.Gid != is.Gid) && f.Chown(int(was.Uid), int(was.Gid)) != nil {
		return false
	}
	return f.Chmod(old.Mode().Perm()) == nil
}
