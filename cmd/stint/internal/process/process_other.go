//go:build !unix

package process

import (
	"io"
	"os"
	"syscall"
	"time"
)

// start starts c with these standard streams. wait waits for the process. There are no
// process groups here: what the process leaves behind is not waited for.
func (p *Process) start(c *Command, _ string, files [3]*os.File) (wait func() Result, err error) {
	child, err := os.StartProcess(c.Path, c.Args, &os.ProcAttr{Dir: c.Dir, Env: c.Env, Files: files[:]})
	if err != nil {
		return nil, err
	}
	p.pid = child.Pid
	return func() Result {
		state, err := child.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.reaped, p.over = true, true
		if err != nil {
			return Result{Exit: -1}
		}
		return Result{Exit: state.ExitCode(), CPU: state.UserTime() + state.SystemTime()}
	}, nil
}

// OwnCPU returns 0: it is not known here.
func OwnCPU() time.Duration { return 0 }

// signalGroup kills the process, whatever s is: there are no signals here.
func signalGroup(pid int, _ syscall.Signal, _ bool) (denied bool) {
	if child, err := os.FindProcess(pid); err == nil {
		_ = child.Kill()
		_ = child.Release()
	}
	return false
}

func groupLives(int, *int) bool { return false }

// A pipe is the end of a pipe from which we read.
type pipe struct{ f *os.File }

// newPipe returns a pipe, and the end for a process.
func newPipe() (p pipe, w *os.File, err error) {
	p.f, w, err = os.Pipe()
	return p, w, err
}

func (p *pipe) open()  {}
func (p *pipe) close() { p.f.Close() }

func (p *pipe) readAvailable([]byte) (int, error) { return 0, io.EOF }

func newMark() string { return "" }

func killMarked(string, func()) {}

func marked(string) (groups []int, bare bool) { return nil, false }

// ReapOrphans does nothing: only on Linux a process may have to.
func ReapOrphans() {}
