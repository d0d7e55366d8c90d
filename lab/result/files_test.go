package result_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/result/resulttest"
)

func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[a]", "b")
	tiny, other := resulttest.Example(), resulttest.Example()
	tiny.Experiment, other.Experiment = "tiny", "a"
	for _, r := range []*result.Result{resulttest.Example(), resulttest.Example(), tiny, other} { // replaces its own file
		if err := result.Save(dir, r); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if want := []string{"a.jsonl", "sum.jsonl", "tiny.jsonl"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("written %q, %v, want %q", got, err, want)
	}
	for path, want := range map[string][]string{dir: {"tiny", "sum", "a"}, filepath.Join(dir, "a.jsonl"): {"a"}} {
		results, err := result.Load(path, []string{"tiny", "sum"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range results {
			got = append(got, r.Experiment)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: read in the order %q, want %q", path, got, want)
		}
	}
	short := resulttest.Example()
	short.Experiment, short.Unfinished = "short", "interrupted"
	if err := result.Save(dir, short); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"sum": true, "short": false, "none": false} {
		if got := result.Whole(dir, name); got != want {
			t.Errorf("%s: whole: %v, want %v", name, got, want)
		}
	}
	twice := t.TempDir()
	for _, name := range []string{"a", "b"} {
		text, err := os.ReadFile(filepath.Join(dir, "sum.jsonl"))
		if err == nil {
			err = os.WriteFile(filepath.Join(twice, name+".jsonl"), text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{filepath.Join(dir, "none"): "no such file", t.TempDir(): "no results in it", twice: "sum is in another file too"} {
		if _, err := result.Load(path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}
