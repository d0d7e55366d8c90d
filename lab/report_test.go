package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const marks = "<!-- lab:begin -->\n<!-- lab:end -->\n"

// Run, files and report agree.
func TestReport(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	file := filepath.Join(t.TempDir(), "BENCHMARKS.md")
	if err := os.WriteFile(file, []byte("# Head\n\n"+marks), 0o666); err != nil {
		t.Fatal(err)
	}
	run := []string{"run", "tiny", "--quick", "--count", "1", "--models", "stint.Group", "--out", dir}
	if out, errs, status := call(t.Context(), run...); status != statusOK || !strings.Contains(out, "stint.Group") {
		t.Fatalf("got %q, %q, %d", out, errs, status)
	}
	command := "`go run ./lab run tiny --quick --count 1 --models stint.Group`"
	other := filepath.Join(t.TempDir(), "other")
	for target, args := range map[string][]string{dir: {"report", dir}, other: {"report", "--out", other, dir}} {
		printed, errs, status := call(t.Context(), args...)
		if want := filepath.Join(target, "report.html") + "\n"; status != statusOK || !strings.HasPrefix(printed, want) {
			t.Errorf("%q: got %q, %q, %d, want %q first", args, printed, errs, status, want)
		}
		for name := range strings.Lines(printed) {
			if info, err := os.Stat(strings.TrimSuffix(name, "\n")); err != nil || info.Size() == 0 {
				t.Errorf("%q: said to have written %q: %v, %v", args, name, info, err)
			}
		}
		text, err := os.ReadFile(filepath.Join(target, "report.md"))
		if err != nil || !strings.Contains(string(text), "**stint.Group**") || !strings.Contains(string(text), command) {
			t.Errorf("%q: report.md is %q, %v", args, text, err)
		}
	}
	if out, errs, status := call(t.Context(), "report", "--write", file, dir); status != statusOK || out != file+"\n" {
		t.Errorf("got %q, %q, %d", out, errs, status)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(text), "# Head\n\n<!-- lab:begin -->\n\nResults in `"+filepath.ToSlash(dir)+"`") || !strings.Contains(string(text), command) {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

// A summary is smaller, and reported and compared like its result.
func TestSummarize(t *testing.T) {
	dir := t.TempDir()
	full, short := filepath.Join(dir, "full"), filepath.Join(dir, "short")
	run := []string{"run", "tiny", "--quick", "--models", "stint.Group,channel", "--cases", "limit=2", "--out", full, "--cpuprofile", filepath.Join(dir, "profiles")}
	for _, args := range [][]string{run, {"summarize", full, short}, {"report", short}} {
		if _, errs, status := call(t.Context(), args...); status != statusOK {
			t.Fatalf("%q: %q, %d", args, errs, status)
		}
	}
	sizes := map[string]int64{}
	for _, d := range []string{full, short} {
		info, err := os.Stat(filepath.Join(d, "tiny.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		sizes[d] = info.Size()
	}
	if sizes[short] >= sizes[full] {
		t.Errorf("a summary of %d bytes for %d", sizes[short], sizes[full])
	}
	if text, err := os.ReadFile(filepath.Join(short, "report.md")); err != nil || !strings.Contains(string(text), "stint.Group") {
		t.Errorf("report.md is %q, %v", text, err)
	}
	if out, errs, status := call(t.Context(), "compare", full, short); status != statusOK || !strings.Contains(out, "stint.Group") {
		t.Errorf("got %q, %q, %d", out, errs, status)
	}
	if read, err := results(short); err != nil || !read[0].Summary || read[0].Commit != commit(t.Context()) {
		t.Errorf("read %+v, %v, want a summary of %s", read, err, commit(t.Context()))
	}
	if profiles, err := filepath.Glob(filepath.Join(dir, "profiles", "tiny", "limit=2", "*.pprof")); err != nil || len(profiles) < 2 {
		t.Errorf("profiles %q, %v", profiles, err)
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
		{[]string{"report", "--picture", filepath.Join(empty, "costs"), "--out", empty, empty}, "none of the others can be", statusUsage},
		{[]string{"summarize", empty, empty}, "no results in it", statusFailed},
		{[]string{"summarize", empty}, "accepts 2 arg", statusUsage},
	} {
		if out, errs, status := call(t.Context(), c.args...); out != "" || status != c.status || !strings.Contains(errs, c.want) {
			t.Errorf("%q: got %q, %q, %d, want %q, %d", c.args, out, errs, status, c.want, c.status)
		}
	}
}

// origin matches the directory named in a generated part.
var origin = regexp.MustCompile("(?:in|from) `([^`]+)`")

// BENCHMARKS.md and the README match the results that they name.
func TestBenchmarksAreTheResults(t *testing.T) {
	t.Chdir("..")
	for _, name := range []string{"BENCHMARKS.md", "README.md"} {
		have, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, marked, _ := strings.Cut(string(have), "<!-- lab:begin")
		dir := origin.FindStringSubmatch(marked)
		if dir == nil {
			t.Fatalf("%s does not say of which results it is", name)
		}
		copied := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(copied, have, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, errs, status := call(t.Context(), "report", "--write", copied, dir[1]); status != statusOK {
			t.Fatalf("%s: %q, %d", name, errs, status)
		}
		want, err := os.ReadFile(copied)
		if err != nil {
			t.Fatal(err)
		}
		if string(have) != string(want) {
			t.Errorf("%s is not what the results give; run: go run ./lab report --write %s %s", name, name, dir[1])
		}
	}
}

// The committed results have all rows of the picture.
func TestPicture(t *testing.T) {
	name := filepath.Join(t.TempDir(), "costs")
	out, errs, status := call(t.Context(), "report", "--picture", name, filepath.Join("results", "2-core-epyc"))
	if want := name + "-light.svg\n" + name + "-dark.svg\n"; status != statusOK || out != want {
		t.Errorf("got %q, %q, %d, want %q", out, errs, status, want)
	}
}
