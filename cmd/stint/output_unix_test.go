//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// TestOutputKeepsOwner wants the mode, the owner and the group of the replaced file.
func TestOutputKeepsOwner(t *testing.T) {
	testfiles.Dir(t, "a", "a\n", "out", "")
	_ = os.Chown("out", 1234, 4321) // only root can give a file away
	must(t, os.Chmod("out", 0o640))
	before := stat(t, "out")
	runStint(t, "", "sum", "-o", "out", "a")
	if after := stat(t, "out"); after.Uid != before.Uid || after.Gid != before.Gid || after.Mode != before.Mode || after.Size == 0 || after.Ino == before.Ino {
		t.Errorf("out is now %+v, want another file with the user, the group and the mode of %+v", after, before)
	}
}

func stat(t *testing.T, name string) *syscall.Stat_t {
	t.Helper()
	info, err := os.Stat(name)
	must(t, err)
	return info.Sys().(*syscall.Stat_t)
}

// runUnprivileged runs stint as a user other than root.
func runUnprivileged(t *testing.T, args ...string) (errs string, code int) {
	t.Helper()
	path, err := exec.LookPath("stint")
	must(t, err)
	here, err := os.Getwd()
	must(t, err)
	cmd := exec.Command(path, args...)
	if os.Geteuid() == 0 {
		for _, dir := range []string{filepath.Dir(path), filepath.Dir(filepath.Dir(path)), filepath.Dir(here)} {
			must(t, os.Chmod(dir, 0o755))
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	var messages strings.Builder
	cmd.Stderr = &messages
	_ = cmd.Run()
	return messages.String(), cmd.ProcessState.ExitCode()
}

// TestOutputMayNotBeWritten wants that a read-only file is not replaced, even in a
// writable directory.
func TestOutputMayNotBeWritten(t *testing.T) {
	testfiles.Dir(t, "a", "a\n", "out", "before\n")
	if os.Chmod(".", 0o777) != nil || os.Chmod("out", 0o444) != nil {
		t.Skip("no permissions here")
	}
	errs, code := runUnprivileged(t, "sum", "-o", "out", "a")
	if got, _ := os.ReadFile("out"); string(got) != "before\n" || errs != "stint: out: Permission denied\n" || code != 1 {
		t.Errorf("exit status %d, messages %q, out holds %q; want 1, that it is denied, and what it held", code, errs, got)
	}
	if got := names(t); got != "a out" {
		t.Errorf("the files %s, want a and out", got)
	}
}
