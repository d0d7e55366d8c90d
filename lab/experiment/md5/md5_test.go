package md5

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stint-go/stint/lab/tree"
	"github.com/stint-go/stint/lab/trial"
)

// tiny is a tree for tests.
var tiny = tree.Tree{Seed: 3, Large: 3, LargeSize: 100_000, Small: 57, SmallMax: 10}

func TestRun(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	trial.Run(t, run, tiny, trial.Want{Processors: 1, Cases: 1, Verdicts: 1}, trial.Want{Processors: 2, Cases: 2, Verdicts: 2})
	if left, err := os.ReadDir(temp); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// made is a tree in a folder, with its digests.
func made(t *testing.T) (dir string, want []file) {
	t.Helper()
	dir = t.TempDir()
	if _, err := tiny.Make(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	want, err := digests(t.Context(), dir, digest, sequential)
	if err != nil || len(want) != tiny.Files() {
		t.Fatalf("%d files, %v", len(want), err)
	}
	return dir, want
}

// Every model finds all files in order, on any number of processors, and skips
// irregular files.
func TestModels(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	dir, want := made(t)
	if err := os.Symlink("nothing", filepath.Join(dir, "00", "link")); err != nil {
		t.Skip(err)
	}
	for _, procs := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(procs)
		for _, m := range allModels {
			if err := m.check(dir, want); err != nil {
				t.Errorf("%d processors: %s: %v", procs, m.Name, err)
			}
		}
	}
}

// Every model returns an error for a file that vanishes after the walk, and for
// a folder that cannot be walked.
func TestErrors(t *testing.T) {
	for _, m := range allModels {
		dir, want := made(t)
		gone := want[len(want)/2].path
		_, err := digests(t.Context(), dir, func(path string) (file, error) {
			if path == gone {
				if err := os.Remove(path); err != nil {
					t.Error(err)
				}
			}
			return digest(path)
		}, m.run)
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), gone) {
			t.Errorf("%s: %s has vanished: got %v", m.Name, gone, err)
		}
		nowhere := filepath.Join(dir, "nowhere")
		if _, err := digests(t.Context(), nowhere, digest, m.run); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), nowhere) {
			t.Errorf("%s: no folder: got %v", m.Name, err)
		}
	}
}

// Wrong, missing or unordered digests are detected.
func TestWrongDigests(t *testing.T) {
	dir, want := made(t)
	for name, change := range map[string]func([]file) []file{
		"other":   func(s []file) []file { s[3].sum[0]++; return s },
		"missing": func(s []file) []file { return s[:len(s)-1] },
		"order":   func(s []file) []file { s[0], s[1] = s[1], s[0]; return s },
	} {
		wrong := model{run: func(ctx context.Context, paths iter.Seq[string], digest func(string) (file, error)) ([]file, error) {
			got, err := sequential(ctx, paths, digest)
			return change(got), err
		}}
		if err := wrong.check(dir, want); err == nil || !strings.Contains(err.Error(), "a run over 60 files gave other digests") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// The digest is MD5 as in RFC 1321.
func TestDigest(t *testing.T) {
	name := filepath.Join(t.TempDir(), "abc")
	if err := os.WriteFile(name, []byte("abc"), 0o666); err != nil {
		t.Fatal(err)
	}
	want := [16]byte{0x90, 0x01, 0x50, 0x98, 0x3c, 0xd2, 0x4f, 0xb0, 0xd6, 0x96, 0x3f, 0x7d, 0x28, 0xe1, 0x7f, 0x72}
	if got, err := digest(name); got != (file{name, want}) || err != nil {
		t.Errorf("got %x, %v", got, err)
	}
}
