package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// call runs a command line and returns its output and exit status.
func call(ctx context.Context, args ...string) (stdout, stderr string, status int) {
	var out, errs strings.Builder
	status = run(ctx, args, &out, &errs)
	return out.String(), errs.String(), status
}

func TestList(t *testing.T) {
	out, errs, status := call(t.Context(), "list")
	if status != statusOK || errs != "" || strings.Count(out, "\n") != len(experiments()) || !strings.Contains("\n"+out, "\nsum ") {
		t.Errorf("got %q, %q, %d", out, errs, status)
	}
}

func TestWrongCommandLines(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"run nothing", `lab: no experiment "nothing": there are `},
		{"run --count -1", "lab: --count -1: must not be negative"},
		{"run --procs 1,-1", "lab: --procs -1: want numbers from 1 on, or N"},
		{"run --procs all", "lab: --procs all: want numbers from 1 on, or N"},
		{"run --time -1s", "lab: --time -1s: must not be negative"},
		{"run --time 3", "lab: invalid argument"},
		{"run add --quick --models nope,none", `lab: no model "nope": there are `},
		{"run cluster --cases nope,none", "lab: --cases nope,none: no case that can be measured here has such a name"},
		{"run --fast", "lab: unknown flag: --fast"},
		{"measure", "lab: unknown command"},
		{"list all", "lab: unknown command"},
	} {
		out, errs, status := call(t.Context(), strings.Fields(c.args)...)
		if out != "" || status != statusUsage || !strings.HasPrefix(errs, c.want) {
			t.Errorf("%s: got %q, %q, %d, want %q, %d", c.args, out, errs, status, c.want, statusUsage)
		}
	}
}

// manyGoroutines run last, in whatever order they are named.
func TestCrowdedLast(t *testing.T) {
	chosen, err := choose([]string{"sleepers", "io", "sha", "add"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range chosen {
		names = append(names, e.Name)
	}
	if got := strings.Join(names, " "); got != "io add sha sleepers" {
		t.Errorf("the order is %s", got)
	}
	if _, err := choose(manyGoroutines); err != nil {
		t.Error(err)
	}
}

// An unwritable directory is detected before measuring.
func TestOutputThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	out, errs, status := call(t.Context(), "run", "tiny", "--quick", "--count", "1", "--out", filepath.Join(file, "dir"))
	if out != "" || status != statusFailed || strings.Contains(errs, "rounds") {
		t.Errorf("got %q, %q, %d, want an error and no run", out, errs, status)
	}
}

func TestMissingTools(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	bin := t.TempDir()
	if err := os.Symlink(sh, filepath.Join(bin, "sh")); err != nil {
		t.Skip(err)
	}
	t.Setenv("PATH", bin)
	out, errs, status := call(t.Context(), "run", "sum")
	if out != "" || status != statusFailed || !strings.HasPrefix(errs, "lab: sum: sha256sum of GNU coreutils not found") || !strings.Contains(errs, "install coreutils") {
		t.Errorf("got %q, %q, %d", out, errs, status)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, errs, status := call(ctx, "run", "sum", "--quick"); status != statusInterrupted && !strings.Contains(errs, "not found") {
		t.Errorf("got %q, %d, want %d", errs, status, statusInterrupted)
	}
}
