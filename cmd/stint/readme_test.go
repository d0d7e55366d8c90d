package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadme types the commands of the section on the command into a shell, in a
// folder with the two files that they are about, and wants the output that stands there.
func TestReadme(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to type into: ", err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"notes.txt": "notes\n", "photos/hill.jpg": "hill\n"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	session := readmeSession(t)
	if len(session) < 4 {
		t.Fatalf("the README has %d commands, want 4 and more: %q", len(session), session)
	}
	for _, step := range session {
		cmd := exec.Command(shell, "-c", step.command)
		cmd.Dir = dir
		got, _ := cmd.CombinedOutput() // the status is that of sha256sum: other tests look at it
		if string(got) != step.output {
			t.Errorf("$ %s\ngot:\n%swant:\n%s", step.command, got, step.output)
		}
	}
}

// A typed command, and what the README says it prints.
type typed struct{ command, output string }

// readmeSession returns what is indented in the section of the README.
func readmeSession(t *testing.T) (session []typed) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## The command\n")
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
	return session
}
