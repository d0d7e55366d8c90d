package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/browser"
	"github.com/stint-go/stint/lab/claims"
	"github.com/stint-go/stint/lab/report"
)

// committed is the directory of the results in BENCHMARKS.md and in the README.
const committed = "results/2-core"

func call(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	status = start(t.Context(), args, &out, &errs)
	return out.String(), errs.String(), status
}

func TestWrongCommandLines(t *testing.T) {
	for _, args := range [][]string{
		{}, {"walk"}, {"run", "-x"}, {"run", "nowhere"}, {"run", "pools", "nowhere"}, {"report"}, {"report", "-x", "a"},
	} {
		if out, errs, status := call(t, args...); status != 2 || out != "" || errs == "" {
			t.Errorf("%q: got %q, %q, %d, want status 2 and a message", args, out, errs, status)
		}
	}
	if _, errs, status := call(t, "report", t.TempDir()+"/none"); status != 1 || !strings.Contains(errs, "none") {
		t.Errorf("a directory that is not there: %q, %d", errs, status)
	}
}

// A round of one directory is run, and reported; other directories are not measured.
func TestRunAndReport(t *testing.T) {
	dir := t.TempDir()
	if _, errs, status := call(t, "run", "-quick", "-o", dir, "lab/scheduling/add"); status != 0 || !strings.Contains(errs, "round 1 of 1") {
		t.Fatalf("got %q, %d", errs, status)
	}
	text, err := os.ReadFile(filepath.Join(dir, "scheduling-add.txt"))
	if err != nil || !bytes.Contains(text, []byte("BenchmarkSequential ")) || bytes.Contains(text, []byte("PASS")) {
		t.Errorf("results %q, %v", text, err)
	}
	out, errs, status := call(t, "report", dir)
	if status != 0 || !strings.Contains(out, "| undecided |") ||
		!strings.Contains(out, "not measured") || !strings.Contains(out, "| Beside the article. ") || strings.Contains(out, "**holds** | ") != strings.Contains(out, "a test") {
		t.Errorf("got %q, %d:\n%s", errs, status, out)
	}
}

// With one CPU nothing is measured twice.
func TestCPUs(t *testing.T) {
	for word, want := range map[string]string{
		"-test.cpu=1,N": "-test.cpu=1 -test.cpu=1,16", "-test.cpu=N": "-test.cpu=1 -test.cpu=16",
		"-n=N": "-n=N -n=N",
	} {
		if got := cpus(word, 1) + " " + cpus(word, 16); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
}

// What a benchmark logs is no result, nor are the lines of package testing, nor configuration that is in the file already.
func TestTrimmed(t *testing.T) {
	r := runner{config: map[string]string{"pkg:": "pkg: a\n", "cpus:": "cpus: 28\n"}}
	lines, messages := r.trimmed("-test.shuffle 1\npkg: a\ncpus: 0\nBenchmarkA-2   \t  1  2 ns/op\n" +
		"--- BENCH: BenchmarkA-2\n    a_test.go:1: note: x\nPASS\n")
	if lines != "cpus: 0\nBenchmarkA-2 1 2 ns/op\n" || !strings.Contains(messages, "note: x") {
		t.Errorf("got %q and %q", lines, messages)
	}
}

// What the documents say is what the committed results say.
func TestDocumentsAreWrittenFromResults(t *testing.T) {
	t.Chdir("..")
	r, err := report.New("lab/" + committed)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"BENCHMARKS.md", "README.md", "docs/images/costs-light.svg", "docs/images/costs-dark.svg"} {
		got, err := os.ReadFile(name)
		want, err2 := r.File(name)
		if err != nil || err2 != nil || string(got) != want {
			t.Errorf("%s is not what the results say: run go run ./lab report lab/%s %[1]s (%v, %v)", name, committed, err, err2)
		}
		if lines := strings.Count(want, "\n"); name == "BENCHMARKS.md" && lines > 400 {
			t.Errorf("%s has %d lines, want 400 or fewer", name, lines)
		}
	}
}

// Each conclusion that does not hold has a cause that an experiment shows, and the committed results are all there.
func TestEachNoHasACause(t *testing.T) {
	machines, err := filepath.Glob("results/*")
	if err != nil || len(machines) == 0 {
		t.Fatal(machines, err)
	}
	for _, dir := range machines {
		r, err := report.New(dir)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(r.Markdown()) {
			missing := strings.Contains(line, "| not measured |") || strings.Contains(line, " figures were measured) |")
			if strings.HasPrefix(line, "| **does not hold here** |") && !strings.Contains(line, "* Here ") ||
				strings.HasPrefix(line, "| undecided |") && missing && filepath.ToSlash(dir) == committed {
				t.Errorf("%s: %s", dir, line)
			}
		}
	}
	for _, a := range claims.Articles {
		if a.Author != "" && (len(a.Claims) == 0 || a.Write == "" || a.Title == "") {
			t.Errorf("%s: want conclusions, and what to write", a.Title)
		}
	}
}

// The page has no fault in a browser: overlapping or clipped text, low contrast, dead links, requests.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if _, errs, status := call(t, "report", committed, file); status != 0 {
		t.Fatal(errs)
	}
	b := browser.Start(t)
	for scheme, width := range map[browser.Scheme]int{browser.Light: 390, browser.Dark: 1280} {
		p := b.Open(t, "file://"+filepath.ToSlash(file), scheme, width)
		p.Check(string(scheme))
		if browser.Eval[int](p, "document.querySelectorAll('figure svg').length") == 0 {
			t.Error("no curve is drawn")
		}
	}
}
