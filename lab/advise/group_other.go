//go:build !unix

package advise

import "os/exec"

// killGroup does nothing: the end of the context kills the process alone.
func killGroup(*exec.Cmd) {}
