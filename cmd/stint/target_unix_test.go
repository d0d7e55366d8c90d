//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOutputKeepsLinks wants that a file with several names is written, and not replaced.
func TestOutputKeepsLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	write(t, "out", "a text that is longer than the line of one file, so that its end would stay\n")
	if err := os.Link("out", "twin"); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	if _, errs, code := runStint(t, "", "sum", "-a", "md5", "-o", "out", "a"); errs != "" || code != 0 {
		t.Errorf("exit status %d, messages %q", code, errs)
	}
	for _, name := range []string{"out", "twin"} {
		if got, err := os.ReadFile(name); string(got) != "60b725f10c9c85c70d97880dfe8191b3  a\n" {
			t.Errorf("%s holds %q, %v; want the line of a", name, got, err)
		}
	}
	if got := names(t, "."); got != "a out twin" {
		t.Errorf("the files %s, want a, out and twin", got)
	}
}

// TestOutputKeepsOwner wants the owner and the group of a file that is replaced.
func TestOutputKeepsOwner(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	write(t, "out", "")
	if err := os.Chown("out", 1234, 4321); err != nil {
		t.Skipf("only root can give a file away: %v", err)
	}
	before := stat(t, "out")
	runStint(t, "", "sum", "-o", "out", "a")
	if after := stat(t, "out"); after.Uid != 1234 || after.Gid != 4321 || after.Size == 0 || after.Ino == before.Ino {
		t.Errorf("out is now %+v, want another file of the same user and group as %+v", after, before)
	}
}

func stat(t *testing.T, name string) *syscall.Stat_t {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t)
}

// nobody runs stint as a user who is not root.
func nobody(t *testing.T, args ...string) (errs string, code int) {
	t.Helper()
	path, err := exec.LookPath("stint")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	if os.Geteuid() == 0 {
		for _, dir := range []string{filepath.Dir(path), filepath.Dir(filepath.Dir(path)), filepath.Dir(here)} {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	var messages strings.Builder
	cmd.Stderr = &messages
	_ = cmd.Run()
	return messages.String(), cmd.ProcessState.ExitCode()
}

// TestOutputMayNotBeWritten wants that a file that may not be written stays, also where
// its directory could be changed.
func TestOutputMayNotBeWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	write(t, "out", "before\n")
	if os.Chmod(".", 0o777) != nil || os.Chmod("out", 0o444) != nil {
		t.Skip("no permissions here")
	}
	errs, code := nobody(t, "sum", "-o", "out", "a")
	if got, _ := os.ReadFile("out"); string(got) != "before\n" || errs != "stint: out: Permission denied\n" || code != 1 {
		t.Errorf("exit status %d, messages %q, out holds %q; want 1, that it is denied, and what it held", code, errs, got)
	}
	if got := names(t, "."); got != "a out" {
		t.Errorf("the files %s, want a and out", got)
	}
}

// TestOutputOfAnother writes the file of another user, which stays theirs.
func TestOutputOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has the files of two users")
	}
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	write(t, "out", "before\n")
	if os.Chmod(".", 0o777) != nil || os.Chmod("out", 0o666) != nil {
		t.Skip("no permissions here")
	}
	before := stat(t, "out")
	errs, code := nobody(t, "sum", "-o", "out", "-a", "md5", "a")
	if got, _ := os.ReadFile("out"); string(got) != "60b725f10c9c85c70d97880dfe8191b3  a\n" || errs != "" || code != 0 {
		t.Errorf("exit status %d, messages %q, out holds %q; want the line of a", code, errs, got)
	}
	if after := stat(t, "out"); after.Ino != before.Ino || after.Uid != before.Uid || names(t, ".") != "a out" {
		t.Errorf("out is now %+v, want the same file as %+v; the files: %s", after, before, names(t, "."))
	}
}
