//go:build !unix

package measure

import "os/exec"

// killGroup does nothing: the end of the context kills the process alone.
func killGroup(*exec.Cmd) {}
