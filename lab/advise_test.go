package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// It works in any directory.
func TestAdviseCommand(t *testing.T) {
	if _, err := exec.LookPath("true"); err != nil {
		t.Skip(err)
	}
	t.Chdir(t.TempDir())
	out, errs, status := call(t.Context(), "advise", "--n", "3", "--most", "2", "--budget", "300ms", "--", "true", "--n", "{}")
	if status != statusOK || !strings.Contains(out, "does concurrency pay? ") {
		t.Errorf("got %q, %q, %d", out, errs, status)
	}
	code := strings.Contains(out, "f(i)")
	if code != strings.Contains(out, "\tseq 0 2 | stint run -j ") || code != strings.Contains(out, "\tseq 0 2 | xargs -P ") {
		t.Errorf("got %q, want command lines beside the code", out)
	}
}

// "go run module@version" takes no module with replace directives.
func TestRunsFromAnywhere(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(mod), "replace") {
		t.Error("go.mod has a replace directive: go.work is the place for it")
	}
}

func TestAdviseFailingCommand(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"sh", "-c", "echo cannot {} >&2; exit 3"}, "lab: advise: sh -c echo cannot 0 >&2; exit 3: exit status 3: cannot 0\n"},
		{[]string{"no-such-program"}, `lab: advise: exec: "no-such-program": executable file not found`},
	} {
		out, errs, status := call(t.Context(), append([]string{"advise", "--"}, c.args...)...)
		if out != "" || status != statusFailed || !strings.Contains(errs, c.want) {
			t.Errorf("%q: got %q, %q, %d, want %q, %d", c.args, out, errs, status, c.want, statusFailed)
		}
	}
}

func TestAdviseInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"--", "true"}} {
		if _, errs, status := call(ctx, append([]string{"advise"}, args...)...); status != statusInterrupted && !strings.Contains(errs, "not found") {
			t.Errorf("%q: got %q, %d, want %d", args, errs, status, statusInterrupted)
		}
	}
}

func TestAdviseWrongCommandLines(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "lab: nothing to measure: "},
		{"--n 0 -- true", "lab: --n 0: must be 1 or more"},
		{"--n x -- true", `lab: invalid argument "x" for "--n"`},
		{"--most 1 -- true", "lab: --most 1: must be 2 or more"},
		{"--most -1 -- true", "lab: --most -1: must be 2 or more"},
		{"--budget -1s -- true", "lab: --budget -1s: must not be negative"},
		{"--fast -- true", "lab: unknown flag: --fast"},
	} {
		out, errs, status := call(t.Context(), append([]string{"advise"}, strings.Fields(c.args)...)...)
		if out != "" || status != statusUsage || !strings.HasPrefix(errs, c.want) {
			t.Errorf("%s: got %q, %q, %d, want %q, %d", c.args, out, errs, status, c.want, statusUsage)
		}
	}
}
