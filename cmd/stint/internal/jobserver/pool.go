//go:build unix

package jobserver

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const firstFd = 10 // that is passed: scripts use lower ones

// A Pool is the pipe of a jobserver.
type Pool struct {
	r, w *os.File // a read of r does not block the thread, and no other process has r
}

// Open opens the jobserver that MAKEFLAGS names.
func Open(makeflags string) (*Pool, error) {
	how, ok := auth(makeflags)
	if !ok {
		return nil, ErrNone
	}
	if path, ok := strings.CutPrefix(how, "fifo:"); ok {
		return openFIFO(path)
	}
	var r, w int
	if _, err := fmt.Sscanf(how, "%d,%d", &r, &w); err != nil {
		return nil, fmt.Errorf("--jobserver-auth=%s: %w", how, ErrSystem)
	}
	if !inherited(r) || !inherited(w) {
		return nil, ErrClosed
	}
	in, err := reopen(r, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	out, err := reopen(w, unix.O_WRONLY)
	if err != nil {
		unix.Close(in)
		return nil, err
	}
	return &Pool{os.NewFile(uintptr(in), "jobserver"), os.NewFile(uintptr(out), "jobserver")}, nil
}

// openFIFO opens a named pipe.
func openFIFO(path string) (*Pool, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	if !isPipe(fd) {
		unix.Close(fd)
		return nil, fmt.Errorf("%s is no named pipe", path)
	}
	f := os.NewFile(uintptr(fd), path)
	return &Pool{f, f}, nil
}

// makeFIFO makes a named pipe for this user.
func makeFIFO(path string) error {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return &os.PathError{Op: "mkfifo", Path: path, Err: err}
	}
	return nil
}

// inheritable opens the ends of a named pipe, which another Pool has, for processes that this one
// starts from now on. Reads block: make before 4.3 wants that.
func inheritable(path string) (fds [2]int, err error) {
	for i, mode := range []int{unix.O_RDONLY, unix.O_WRONLY} {
		fd, err := unix.Open(path, mode|unix.O_CLOEXEC, 0)
		if err != nil {
			return fds, err
		}
		defer unix.Close(fd)
		if fds[i], err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD, firstFd); err != nil {
			return fds, err
		}
	}
	return fds, nil
}

// inherited reports whether a descriptor is that of a pipe which the parent of this process has
// passed: those of this process are closed in its children.
func inherited(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	return err == nil && flags&unix.FD_CLOEXEC == 0 && isPipe(fd)
}

func isPipe(fd int) bool {
	var s unix.Stat_t
	return unix.Fstat(fd, &s) == nil && s.Mode&unix.S_IFMT == unix.S_IFIFO
}

// Take waits for a token and takes it, or returns the cause of ctx if ctx ends first: then it has
// taken none. Calls wait for each other.
func (p *Pool) Take(ctx context.Context) (token byte, err error) {
	err = p.wait(ctx, func() (ok bool) {
		token, ok = p.try()
		return ok
	})
	return token, err
}

// wait calls f at first, and whenever there may be a token, until f returns true or ctx ends.
func (p *Pool) wait(ctx context.Context, f func() bool) error {
	c, err := p.r.SyscallConn()
	if err != nil {
		return err
	}
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = p.r.SetReadDeadline(time.Unix(1, 0))
		close(over)
	})
	err = c.Read(func(uintptr) bool { return f() })
	if !stop() {
		<-over
		_ = p.r.SetReadDeadline(time.Time{})
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// control calls f at once, also while Take waits.
func (p *Pool) control(f func(fd int)) {
	if c, err := p.r.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { f(int(fd)) })
	}
}

// try takes a token if there is one.
func (p *Pool) try() (token byte, ok bool) {
	p.control(func(fd int) {
		var b [1]byte
		n, _ := unix.Read(fd, b[:])
		token, ok = b[0], n == 1
	})
	return token, ok
}

// Put returns tokens.
func (p *Pool) Put(tokens ...byte) error {
	_, err := p.w.Write(tokens)
	return err
}

// Len returns how many tokens nobody has.
func (p *Pool) Len() (n int) {
	p.control(func(fd int) { n, _ = unix.IoctlGetInt(fd, fionread) })
	return n
}

// Close closes the pipe. Tokens stay in it while another process has it.
func (p *Pool) Close() {
	p.r.Close()
	p.w.Close()
}
