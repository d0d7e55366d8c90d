//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"
)

// pause stops a process until it is killed.
func pause(t *testing.T, p *os.Process) {
	t.Helper()
	must(t, p.Signal(syscall.SIGSTOP))
}
