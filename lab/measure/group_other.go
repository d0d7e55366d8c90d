//go:build !unix

package measure

import "os/exec"

// KillGroup does nothing: the end of the context kills the process alone.
func KillGroup(*exec.Cmd) {}
