//go:build unix

package advise

import (
	"os/exec"
	"syscall"
)

// killGroup makes cmd the head of a process group, and the end of its context the
// end of the group. An interrupt from the terminal does not reach the group, so it is
// not taken for a failure of the command.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
