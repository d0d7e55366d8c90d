package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	if _, errs, status := call(t.Context(), "run", "tiny", "--quick", "--count", "1", "--models", "stint.Group", "--out", run); status != statusOK {
		t.Fatalf("%q, %d", errs, status)
	}
	runs := []string{run, run}
	for _, args := range [][]string{runs, {filepath.Join(runs[0], "tiny.jsonl"), runs[1]}} {
		out, errs, status := call(t.Context(), append([]string{"compare"}, args...)...)
		if want := "A  " + args[0] + "\nB  " + args[1] + "\n\n"; status != statusOK || !strings.HasPrefix(out, want) || !strings.Contains(out, "stint.Group") || !strings.Contains(out, "tiny: time/op") {
			t.Errorf("%q: got %q, %q, %d", args, out, errs, status)
		}
	}
	for _, c := range []struct {
		args   []string
		want   string
		status int
	}{
		{runs[:1], "accepts 2 arg", statusUsage},
		{append(runs, "--unit", "ns"), `no unit "ns"`, statusUsage},
		{append(runs, "--models", "nope"), `no model "nope"`, statusUsage},
		{[]string{runs[0], filepath.Join(dir, "none")}, "no such file", statusFailed},
		{[]string{dir, runs[1]}, "no results in it", statusFailed},
	} {
		out, errs, status := call(t.Context(), append([]string{"compare"}, c.args...)...)
		if out != "" || status != c.status || !strings.Contains(errs, c.want) {
			t.Errorf("%q: got %q, %q, %d, want %q, %d", c.args, out, errs, status, c.want, c.status)
		}
	}
}
