//go:build !unix

package process

import (
	"io"
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func session() *syscall.SysProcAttr { return nil }

// start starts c with these descriptors. await waits for the process. There are no process
// groups here: what the process leaves behind is not waited for.
func (p *Process) start(c *Command, _ *syscall.SysProcAttr, files []*os.File) error {
	child, err := os.StartProcess(c.Path, c.Args, &os.ProcAttr{Dir: c.Dir, Env: c.Env, Files: files})
	if err != nil {
		return err
	}
	p.pid = child.Pid
	go func() {
		r := Result{Exit: -1}
		if state, err := child.Wait(); err == nil {
			r = Result{Exit: state.ExitCode(), CPU: state.UserTime() + state.SystemTime()}
		}
		p.end(r, true)
	}()
	return nil
}

// signalGroup kills the process, whatever s is: there are no signals here.
func signalGroup(pid int, _ syscall.Signal, _ bool) (denied bool) {
	killGroup(pid)
	return false
}

func killGroup(pid int) {
	if child, err := os.FindProcess(pid); err == nil {
		_ = child.Kill()
		_ = child.Release()
	}
}

func groupLives(int, *int) bool { return false }

func isStopped(int) bool { return false }

func stopGroup(int, bool) {}

type childNews struct{} // nothing tells

func reap() {}

// ReapOrphans does nothing: only on Unix a process may have to.
func ReapOrphans() {}

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

func marked(string) []int { return nil }
