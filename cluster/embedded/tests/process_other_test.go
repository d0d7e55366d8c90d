//go:build !linux

package tests

import "syscall"

// dieTogether is nothing here: a test that is killed leaves its processes.
func dieTogether() *syscall.SysProcAttr { return nil }
