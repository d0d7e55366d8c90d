//go:build unix && !linux

package jobserver

import "golang.org/x/sys/unix"

const fionread = 0x4004667f

// reopen returns another descriptor of the same open pipe. If that blocks, as with make before
// 4.3, a read could not be given up: another process may take the token that poll(2) has seen.
func reopen(fd, mode int) (int, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return -1, err
	}
	if mode == unix.O_RDONLY && flags&unix.O_NONBLOCK == 0 {
		return -1, ErrSystem
	}
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
}
