//go:build !unix

package measure

import (
	"os/exec"
	"time"
)

// OwnCPU reports false: the CPU time is not known here.
func OwnCPU() (d time.Duration, ok bool) { return 0, false }

// switches reports false: context switches are not counted here.
func switches() (n int64, ok bool) { return 0, false }

// ChildCPU returns 0: the CPU time is not known here.
func ChildCPU() time.Duration { return 0 }

// KillGroup does nothing: the end of the context kills the process alone.
func KillGroup(*exec.Cmd) {}
