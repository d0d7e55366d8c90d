//go:build !unix

package measure

import (
	"os"
	"os/exec"
	"time"
)

// These are not known here.

func OwnCPU() (d time.Duration, ok bool) { return 0, false }

func ChildCPU() time.Duration { return 0 }

func switches() (n int64, ok bool) { return 0, false }

func peakRSS(*os.ProcessState) int64 { return 0 }

// KillGroup does nothing: the end of the context kills the process alone.
func KillGroup(*exec.Cmd) {}
