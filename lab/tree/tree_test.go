package tree

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// tiny is a tree for tests.
func tiny(seed uint64) Tree {
	return Tree{Seed: seed, Large: 3, LargeSize: 20_000, Small: 120, SmallMin: 0, SmallMax: 3}
}

// contents returns the digests of the files in dir.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = fmt.Sprintf("%d %x", len(b), sha256.Sum256(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTreeIsItsSeed(t *testing.T) {
	var trees []map[string]string
	var totals []int64
	for _, seed := range []uint64{1, 1, 2} {
		dir := t.TempDir()
		total, err := tiny(seed).Make(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		trees, totals = append(trees, contents(t, dir)), append(totals, total)
	}
	if len(trees[0]) != 123 {
		t.Errorf("%d files, want 123", len(trees[0]))
	}
	if !maps.Equal(trees[0], trees[1]) || totals[0] != totals[1] {
		t.Error("the same seed gave two trees")
	}
	if maps.Equal(trees[0], trees[2]) {
		t.Error("two seeds gave the same tree")
	}
	var sum int64
	for _, v := range trees[0] {
		var size int64
		if _, err := fmt.Sscan(v, &size); err != nil {
			t.Fatal(err)
		}
		sum += size
	}
	if sum != totals[0] {
		t.Errorf("said to hold %d bytes, holds %d", totals[0], sum)
	}
}

func TestPathsAreUnique(t *testing.T) {
	all := Tree{Large: 200, Small: 5000}
	seen := map[string]bool{}
	for i := range all.Files() {
		seen[all.path(i)] = true
	}
	if len(seen) != 5200 {
		t.Errorf("%d names for 5200 files", len(seen))
	}
}

func TestTreeEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tiny(1).Make(ctx, t.TempDir()); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}
