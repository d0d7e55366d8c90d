package main

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// TestReadme runs the commands of docs/sum.md and docs/cluster.md in a shell, one page after
// the other, and wants the output that the pages show. The server listens on a
// free port, and the fields of a worker that differ from machine to machine are ignored.
func TestReadme(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skipf("no shell here: %v", err)
	}
	local := sessionIn(t, "docs/sum.md", 4)
	remote := sessionIn(t, "docs/cluster.md", 4)
	t.Chdir(t.TempDir())
	testfiles.Dir(t, "notes.txt", "notes\n")
	must(t, os.Mkdir("photos", 0o777))
	testfiles.Write(t, "photos/hill.jpg", "hill\n")
	for _, step := range local {
		step.want(t, shell(step.command))
	}
	url := startInShell(t, remote[0].command+" --listen 127.0.0.1:0")
	here := strings.NewReplacer(strings.TrimSpace(remote[0].output), url)
	if here.Replace(remote[0].output) != url+"\n" {
		t.Errorf("the server prints %q, want as in %q", url, remote[0].output)
	}
	for _, step := range remote[1:] {
		step = shellStep{here.Replace(step.command), here.Replace(step.output)}
		command, stays := strings.CutSuffix(step.command, "&")
		switch {
		case stays:
			step.want(t, startInShell(t, command)+"\n")
		case strings.HasPrefix(command, "stint status "):
			step.output = anyMachine(step.output)
			got := anyMachine(shell(command))
			for range 20 { // a worker counts a file a little after sum has its digest
				if got != step.output {
					got = anyMachine(shell(command))
				}
			}
			step.want(t, got)
		default:
			step.want(t, shell(command))
		}
	}
}

// shellStep is a command, and the output that the README shows.
type shellStep struct{ command, output string }

func (s *shellStep) want(t *testing.T, got string) {
	t.Helper()
	if got != s.output {
		t.Errorf("$ %s\ngot:\n%swant:\n%s", s.command, got, s.output)
	}
}

// shell returns what a command prints. Other tests check its exit status.
func shell(command string) string {
	out, _ := exec.Command("sh", "-c", command).CombinedOutput()
	return string(out)
}

// machineFields are a worker's ID, host, process and limit.
var machineFields = regexp.MustCompile(`(?m)^\w{22} \S+ \d+ \d+`)

// anyMachine returns s without what differs from machine to machine, the width of columns
// included, and without empty lines.
func anyMachine(s string) string {
	s = regexp.MustCompile(`  +`).ReplaceAllString(s, " ")
	s = regexp.MustCompile(`\n+`).ReplaceAllString(s, "\n")
	return machineFields.ReplaceAllString(s, "MACHINE")
}

// startInShell starts a command and returns its first line. At the end of the test it
// terminates the command, and wants exit status 0.
func startInShell(t *testing.T, command string) string {
	t.Helper()
	p := spawn(t, false, "sh", "-c", "exec "+command+" 2>&1")
	t.Cleanup(func() {
		_ = p.Process.Signal(syscall.SIGTERM)
		rest, _ := io.ReadAll(p.lines)
		if err := p.Wait(); err != nil {
			t.Errorf("$ %s\n%v, after %q", command, err, rest)
		}
	})
	return p.line()
}

// sessionIn returns the indented commands of a page.
func sessionIn(t *testing.T, page string, atLeast int) []shellStep {
	t.Helper()
	text, err := os.ReadFile("../../" + page)
	must(t, err)
	return sessionOf(t, string(text), atLeast)
}

// sessionOf returns the indented commands of a text. The output of a command ends before a line
// that is not indented.
func sessionOf(t *testing.T, text string, atLeast int) (session []shellStep) {
	t.Helper()
	printed := false
	for line := range strings.Lines(text) {
		line, indented := strings.CutPrefix(line, "    ")
		switch command, prompt := strings.CutPrefix(line, "$ "); {
		case !indented:
			printed = printed && line == "\n"
		case prompt:
			session = append(session, shellStep{command: strings.TrimSpace(command)})
			printed = true
		case printed:
			session[len(session)-1].output += line
		}
	}
	if len(session) < atLeast {
		t.Fatalf("the text has %d commands, want %d or more: %q", len(session), atLeast, session)
	}
	return session
}
