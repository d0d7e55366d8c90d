package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pageSession returns the commands of docs/run.md, and its text.
func pageSession(t *testing.T) ([]shellStep, string) {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	t.Setenv("SHELL", bash)
	t.Setenv("STINT_SHELL", "")
	text, err := os.ReadFile("../../docs/run.md")
	must(t, err)
	return sessionOf(t, string(text), 12), string(text)
}

// TestRunPage runs the commands of docs/run.md in a shell, and wants the output that the page
// shows.
func TestRunPage(t *testing.T) {
	steps, _ := pageSession(t)
	t.Chdir(t.TempDir())
	for _, step := range steps {
		step.want(t, shell(step.command))
	}
}

// TestRunPagePairs runs the pairs of commands of docs/run.md, for another program and for ours,
// which print the same lines.
func TestRunPagePairs(t *testing.T) {
	steps, text := pageSession(t)
	home := t.TempDir()
	must(t, os.Mkdir(filepath.Join(home, ".parallel"), 0o777))
	must(t, os.WriteFile(filepath.Join(home, ".parallel", "will-cite"), nil, 0o666))
	t.Setenv("HOME", home)
	files := t.TempDir()
	t.Chdir(files)
	for _, step := range steps {
		if step.output == "" { // it makes files
			shell(step.command)
		}
	}
	missing := map[string]bool{"parallel": !prints("parallel", "GNU parallel"), "xargs": !prints("xargs", "GNU findutils")}
	pairs := 0
	for line := range strings.Lines(text) {
		other, ours, found := pair(line)
		if !found {
			continue
		}
		pairs++
		t.Run(other, func(t *testing.T) {
			for name, gone := range missing {
				if gone && strings.Contains(other, name) {
					t.Skipf("no GNU %s here", name)
				}
			}
			want, got := linesIn(t, files, other), linesIn(t, files, ours)
			if !slices.Equal(got, want) {
				t.Errorf("%s\nprints %q, but\n%s\nprints %q", ours, got, other, want)
			}
		})
	}
	if pairs < 25 {
		t.Errorf("docs/run.md has %d pairs of commands, want 25 or more", pairs)
	}
}

// prints reports whether a program names itself so.
func prints(program, name string) bool {
	out, _ := exec.Command(program, "--version").Output()
	return strings.Contains(string(out), name)
}

// pair returns the two commands of a row of a table, if there are two and the second is ours.
func pair(row string) (other, ours string, found bool) {
	const bar = "\x00"
	cells := strings.Split(strings.TrimSpace(strings.ReplaceAll(row, `\|`, bar)), "|")
	if len(cells) != 4 || !strings.HasPrefix(cells[1], " `") || !strings.Contains(cells[2], "stint run ") {
		return "", "", false
	}
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(strings.Trim(cell, " `"), bar, "|")
	}
	return cells[1], cells[2], true
}

// linesIn returns the lines that a command prints in a copy of a directory, sorted.
func linesIn(t *testing.T, dir, command string) []string {
	t.Helper()
	fresh := filepath.Join(t.TempDir(), "pair")
	must(t, os.CopyFS(fresh, os.DirFS(dir)))
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir = fresh
	cmd.Stderr = t.Output()
	out, _ := cmd.Output() // some fail
	lines := strings.SplitAfter(string(out), "\n")
	slices.Sort(lines)
	return lines
}
