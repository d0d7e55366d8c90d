//go:build unix

package process

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A pipe is the end of a pipe from which we read.
type pipe struct {
	fd int
	f  *os.File // of fd, which the runtime waits for; nil: it does not
}

// newPipe returns a pipe, and the end for a process.
func newPipe() (p pipe, w *os.File, err error) {
	fds, err := descriptors()
	if err != nil {
		return pipe{}, nil, os.NewSyscallError("pipe", err)
	}
	_ = syscall.SetNonblock(fds[0], true) // fails for no descriptor that is open
	return pipe{fd: fds[0]}, os.NewFile(uintptr(fds[1]), "|"), nil
}

// open lets the runtime wait for p.
func (p *pipe) open() { p.f = os.NewFile(uintptr(p.fd), "|") }

func (p *pipe) close() {
	if p.f != nil {
		p.f.Close()
		return
	}
	_ = unix.Close(p.fd)
}

// readAvailable reads what is in the pipe, and returns io.EOF if that is nothing.
func (p *pipe) readAvailable(b []byte) (n int, err error) {
	for {
		n, err = syscall.Read(p.fd, b)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n <= 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}
