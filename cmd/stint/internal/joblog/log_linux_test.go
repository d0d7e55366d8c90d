package joblog

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestCreateNamedPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(name, 0o666))
	read := make(chan string)
	go func() {
		text, err := os.ReadFile(name)
		read <- fmt.Sprint(string(text), err)
	}()
	l, err := Create(name)
	must(t, err)
	must(t, l.Append(entry))
	must(t, l.Close())
	if got, want := <-read, header+"\n"+entryLine+"<nil>"; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
	if _, err := Read(name, false); err == nil {
		t.Error("Read of a pipe returned no error")
	}
}

// TestGNUParallel lets GNU parallel read what this package wrote, and the other way round.
func TestGNUParallel(t *testing.T) {
	if out, _ := exec.Command("parallel", "--version").Output(); !strings.HasPrefix(string(out), "GNU parallel") {
		t.Skip("no GNU parallel")
	}
	name := filepath.Join(t.TempDir(), "log")
	parallel := func(args ...string) string {
		c := exec.Command("parallel", append([]string{"--will-cite", "--joblog", name, "-j1", "-k", "-0"}, args...)...)
		c.Env = append(os.Environ(), "SHELL=/bin/sh", "HOME="+t.TempDir())
		out, _ := c.Output() // the exit status is the number of jobs that failed
		return string(out)
	}
	command := []string{"test {} != b && echo {}", ":::", "a", "b", "c\nd", "e'f\t"}
	parallel(command...)
	lines := strings.SplitAfter(content(t, name), "\n")
	d, err := Read(name, true)
	must(t, err)
	want := "[1 0 1 1]"
	if got := fmt.Sprint(takes(d, "test a != b && echo a", "test b != b && echo b", "test 'c\nd' != b && echo 'c\nd'", `test 'e'"'"'f	' != b && echo 'e'"'"'f	'`)); got != want {
		t.Errorf("done %v, want %v, in %q", got, want, lines)
	}
	must(t, os.WriteFile(name, []byte(strings.Join(lines[:2], "")), 0o666))
	l, err := Open(name)
	must(t, err)
	must(t, l.Append(Entry{Seq: 3, Command: "x"}))
	must(t, l.Append(Entry{Seq: 4, Exit: 1, Command: "x"}))
	must(t, l.Close())
	if got := parallel(append([]string{"--resume-failed"}, command...)...); got != "e'f\t\n" {
		t.Errorf("parallel --resume-failed ran %q, after %q", got, content(t, name))
	}
}
