package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestReadme types the commands of the sections on the command into a shell, in a
// folder with the two files that they are about, and wants the output that stands there.
//
// The server listens on a port that is free, instead of that of the README, and of the
// line on a worker what is not the same on each machine does not count.
func TestReadme(t *testing.T) {
	alone := readmeSession(t, "The command", 4)
	several := readmeSession(t, "Several machines", 4)
	shell := typeInto(t)
	for _, step := range alone {
		step.want(t, printed(shell, step.command))
	}
	url := start(t, shell, several[0].command+" --listen 127.0.0.1:0")
	here := strings.NewReplacer(strings.TrimSpace(several[0].output), url)
	if here.Replace(several[0].output) != url+"\n" {
		t.Errorf("the server says %q, want as in %q", url, several[0].output)
	}
	for _, step := range several[1:] {
		step = typed{here.Replace(step.command), here.Replace(step.output)}
		command, stays := strings.CutSuffix(step.command, "&")
		switch {
		case stays:
			step.want(t, start(t, shell, command)+"\n")
		case strings.HasPrefix(command, "stint status "):
			step.output = everywhere(step.output)
			got := everywhere(printed(shell, command))
			for range 20 { // a worker counts a file when the server has heard of it, which sum does not wait for
				if got != step.output {
					got = everywhere(printed(shell, command))
				}
			}
			step.want(t, got)
		default:
			step.want(t, printed(shell, command))
		}
	}
}

// printed is what a command prints. Its status does not count: other tests look at it.
func printed(shell, command string) string {
	out, _ := exec.Command(shell, "-c", command).CombinedOutput()
	return string(out)
}

// want compares what a command printed with what the README says.
func (s *typed) want(t *testing.T, got string) {
	t.Helper()
	if got != s.output {
		t.Errorf("$ %s\ngot:\n%swant:\n%s", s.command, got, s.output)
	}
}

// machine is the beginning of the line on a worker: its ID, the host, the process, and
// the limit.
var machine = regexp.MustCompile(`(?m)^\w{22} \S+ \d+ \d+`)

// everywhere is s without what differs from machine to machine, with it the width of
// columns, and without empty lines, which the README has like those between its blocks.
func everywhere(s string) string {
	s = regexp.MustCompile(`  +`).ReplaceAllString(s, " ")
	s = regexp.MustCompile(`\n+`).ReplaceAllString(s, "\n")
	return machine.ReplaceAllString(s, "MACHINE")
}

// start starts a command and returns its first line. At the end of the test it is
// terminated, and is to end well: interrupts may be ignored here.
func start(t *testing.T, shell, command string) string {
	t.Helper()
	cmd := exec.Command(shell, "-c", "exec "+command)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	lines := bufio.NewReader(r)
	line, err := lines.ReadString('\n')
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		rest, _ := io.ReadAll(lines)
		if err := cmd.Wait(); err != nil {
			t.Errorf("$ %s\n%v, after %q", command, err, rest)
		}
		r.Close()
	})
	if err != nil {
		t.Fatalf("$ %s\n%v, want a line", command, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// typeInto returns a shell, and changes to the folder of the README.
func typeInto(t *testing.T) string {
	t.Helper()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to type into: ", err)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"notes.txt": "notes\n", "photos/hill.jpg": "hill\n"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, name, text)
	}
	return shell
}

// A typed command, and what the README says it prints.
type typed struct{ command, output string }

// readmeSession returns what is indented in a section of the README: some commands at least.
func readmeSession(t *testing.T, title string, atLeast int) (session []typed) {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## "+title+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		line, indented := strings.CutPrefix(line, "    ")
		switch command, prompt := strings.CutPrefix(line, "$ "); {
		case !indented:
		case prompt:
			session = append(session, typed{command: strings.TrimSpace(command)})
		case len(session) > 0:
			session[len(session)-1].output += line
		}
	}
	if len(session) < atLeast {
		t.Fatalf("the section %q of the README has %d commands, want %d and more: %q", title, len(session), atLeast, session)
	}
	return session
}
