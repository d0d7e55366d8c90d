//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// TestOutputKeepsLinks wants that a file with several names is written, not replaced.
func TestOutputKeepsLinks(t *testing.T) {
	testfiles.Dir(t, "a", "a\n", "out", "a text that is longer than the line of one file, so that its end would stay\n")
	testfiles.Link(t, "out", "twin")
	if _, errs, code := runStint(t, "", "sum", "-a", "md5", "-o", "out", "a"); errs != "" || code != 0 {
		t.Errorf("exit status %d, messages %q", code, errs)
	}
	for _, name := range []string{"out", "twin"} {
		if got, err := os.ReadFile(name); string(got) != "60b725f10c9c85c70d97880dfe8191b3  a\n" {
			t.Errorf("%s holds %q, %v; want the line of a", name, got, err)
		}
	}
	if got := names(t); got != "a out twin" {
		t.Errorf("the files %s, want a, out and twin", got)
	}
}

// TestOutputHasOtherNames walks a directory in which the output file has another name.
func TestOutputHasOtherNames(t *testing.T) {
	testfiles.Dir(t, "a", "a\n", "out", "before\n")
	testfiles.Link(t, "out", "twin")
	wantRun(t, 0, "", "", "sum", "-a", "md5", "-o", "out", ".")
	if got, err := os.ReadFile("twin"); string(got) != "60b725f10c9c85c70d97880dfe8191b3  ./a\n" {
		t.Errorf("it holds %q, %v; want the line of a", got, err)
	}
}

// TestOutputOfAnotherProcess writes to a descriptor of another process.
func TestOutputOfAnotherProcess(t *testing.T) {
	testfiles.Dir(t, "a", "a\n")
	f, err := os.Create("out")
	must(t, err)
	defer f.Close()
	if _, err := f.WriteString("before\n"); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cat")
	cmd.Stdout = f
	in, err := cmd.StdinPipe()
	must(t, err)
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	fd := fmt.Sprintf("/proc/%d/fd/1", cmd.Process.Pid)
	if _, err := os.Stat(fd); err != nil {
		t.Skipf("descriptors have no names here: %v", err)
	}
	was := stat(t, "out")
	wantRun(t, 0, "", "", "sum", "-a", "md5", "-o", fd, "a")
	if got, err := os.ReadFile("out"); string(got) != "before\n60b725f10c9c85c70d97880dfe8191b3  a\n" || stat(t, "out").Ino != was.Ino {
		t.Errorf("it holds %q, %v; want the line of a after the one before, in the same file", got, err)
	}
}

// TestOutputKeepsOwner wants the owner and the group of the replaced file.
func TestOutputKeepsOwner(t *testing.T) {
	testfiles.Dir(t, "a", "a\n", "out", "")
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

// TestOutputOfAnotherUser wants that the owner of the output file stays.
func TestOutputOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make the files of two users")
	}
	testfiles.Dir(t, "a", "a\n", "out", "before\n")
	if os.Chmod(".", 0o777) != nil || os.Chmod("out", 0o666) != nil {
		t.Skip("no permissions here")
	}
	before := stat(t, "out")
	errs, code := runUnprivileged(t, "sum", "-o", "out", "-a", "md5", "a")
	if got, _ := os.ReadFile("out"); string(got) != "60b725f10c9c85c70d97880dfe8191b3  a\n" || errs != "" || code != 0 {
		t.Errorf("exit status %d, messages %q, out holds %q; want the line of a", code, errs, got)
	}
	if after := stat(t, "out"); after.Ino != before.Ino || after.Uid != before.Uid || names(t) != "a out" {
		t.Errorf("out is now %+v, want the same file as %+v; the files: %s", after, before, names(t))
	}
}
