package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const marks = "<!-- lab:begin -->\n<!-- lab:end -->\n"

// What is run, written and reported is the same.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "BENCHMARKS.md")
	if err := os.WriteFile(file, []byte("# Head\n\n"+marks), 0o666); err != nil {
		t.Fatal(err)
	}
	run := []string{"run", "tiny", "--quick", "--count", "1", "--models", "stint.Group", "--out", dir}
	if out, errs, status := call(t.Context(), run...); status != statusOK || !strings.Contains(out, "stint.Group") {
		t.Fatalf("got %q, %q, %d", out, errs, status)
	}
	printed, errs, status := call(t.Context(), "report", dir)
	if status != statusOK || !strings.Contains(printed, "**stint.Group**") || !strings.Contains(printed, "`go run ./lab run tiny --quick --count 1 --models stint.Group`") {
		t.Errorf("got %q, %q, %d", printed, errs, status)
	}
	if out, errs, status := call(t.Context(), "report", "--write", file, dir); status != statusOK || out != "" {
		t.Errorf("got %q, %q, %d", out, errs, status)
	}
	text, err := os.ReadFile(file)
	if want := "# Head\n\n<!-- lab:begin -->\n\n" + printed + "\n<!-- lab:end -->\n"; string(text) != want || err != nil {
		t.Errorf("the file holds %q, %v, want %q", text, err, want)
	}
}

func TestReportComplains(t *testing.T) {
	empty := t.TempDir()
	for _, c := range []struct {
		args   []string
		want   string
		status int
	}{
		{[]string{"report"}, "accepts 1 arg", statusUsage},
		{[]string{"report", empty}, "no results in it", statusFailed},
	} {
		if out, errs, status := call(t.Context(), c.args...); out != "" || status != c.status || !strings.Contains(errs, c.want) {
			t.Errorf("%q: got %q, %q, %d, want %q, %d", c.args, out, errs, status, c.want, c.status)
		}
	}
}

// BENCHMARKS.md is what the laboratory says of the results in the repository.
func TestBenchmarksAreTheResults(t *testing.T) {
	dirs, err := filepath.Glob("results/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Skip("there are no results in the repository yet")
	}
	if len(dirs) > 1 {
		t.Fatalf("results of several machines, %q: BENCHMARKS.md is about one", dirs)
	}
	have, err := os.ReadFile("../BENCHMARKS.md")
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "BENCHMARKS.md")
	if err := os.WriteFile(copied, have, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, errs, status := call(t.Context(), "report", "--write", copied, dirs[0]); status != statusOK {
		t.Fatalf("%q, %d", errs, status)
	}
	want, err := os.ReadFile(copied)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != string(want) {
		t.Errorf("BENCHMARKS.md is not what the results give; run: go run ./lab report --write BENCHMARKS.md lab/%s", filepath.ToSlash(dirs[0]))
	}
}
