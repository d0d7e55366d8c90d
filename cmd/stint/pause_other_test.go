//go:build !unix

package main

import (
	"os"
	"testing"
)

// pause skips the test: there is no such signal here.
func pause(t *testing.T, _ *os.Process) { t.Skip("a process cannot be stopped here") }
