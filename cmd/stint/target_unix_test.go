//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
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

// TestOutputHasOtherNames walks a directory in which the output has another name.
func TestOutputHasOtherNames(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	write(t, "out", "before\n")
	if err := os.Link("out", "twin"); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	told(t, 0, "", "", "sum", "-a", "md5", "-o", "out", ".")
	if got, err := os.ReadFile("twin"); string(got) != "60b725f10c9c85c70d97880dfe8191b3  ./a\n" {
		t.Errorf("it holds %q, %v; want the line of a", got, err)
	}
}

// TestOutputDoesNotFit copies into a file with two names that may not be as long as that.
func TestOutputDoesNotFit(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ) // so that to write is an error instead
	defer signal.Reset(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Skip(err)
	}
	few, many := "short\n", strings.Repeat("a longer line\n", 10)
	for _, test := range []struct {
		old, text, want string
		limit           uint64
	}{
		{few, many, few, 50},
		{many, strings.ToUpper(many[:100]), strings.ToUpper(many[:50]) + many[50:], 50},
	} {
		t.Chdir(t.TempDir())
		write(t, "out", test.old)
		if err := os.Link("out", "twin"); err != nil {
			t.Skipf("no hard links here: %v", err)
		}
		o, err := openTarget(t.Context(), "out")
		if err == nil {
			_, err = o.file.WriteString(test.text)
		}
		if err != nil {
			t.Fatal(err)
		}
		less := before
		less.Cur = test.limit
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &less); err != nil {
			t.Skip(err)
		}
		err = o.commit()
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
		if want := "write error: out: File too large; the output is in " + o.temp; err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
		if got, _ := os.ReadFile("twin"); string(got) != test.want {
			t.Errorf("the file holds %q, want %q", got, test.want)
		}
		if got, _ := os.ReadFile(o.temp); string(got) != test.text {
			t.Errorf("the temporary file holds %q, want %q", got, test.text)
		}
	}
}

// TestOutputOfAnotherProcess writes to a descriptor of one.
func TestOutputOfAnotherProcess(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a", "a\n")
	f, err := os.Create("out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("before\n"); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("cat")
	cmd.Stdout = f
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	fd := fmt.Sprintf("/proc/%d/fd/1", cmd.Process.Pid)
	if _, err := os.Stat(fd); err != nil {
		t.Skipf("descriptors have no names here: %v", err)
	}
	was := stat(t, "out")
	told(t, 0, "", "", "sum", "-a", "md5", "-o", fd, "a")
	if got, err := os.ReadFile("out"); string(got) != "before\n60b725f10c9c85c70d97880dfe8191b3  a\n" || stat(t, "out").Ino != was.Ino {
		t.Errorf("it holds %q, %v; want the line of a after the one before, in the same file", got, err)
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
