//go:build unix

package measure

import (
	"os/exec"
	"syscall"
)

// KillGroup makes cmd the head of a process group, and the end of its context
// the end of the group. An interrupt from the terminal does not reach the
// group: the laboratory gets it and ends the context.
func KillGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
