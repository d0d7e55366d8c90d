package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// TestWalkUnreadable wants the rest of the tree if a directory cannot be read.
func TestWalkUnreadable(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"tree/a", "tree/b"} {
		must(t, os.MkdirAll(dir, 0o777))
		testfiles.Write(t, dir+"/x", "x")
	}
	must(t, os.Chmod("tree/a", 0))
	defer os.Chmod("tree/a", 0o777)
	if _, err := os.ReadDir("tree/a"); err == nil {
		t.Skip("this user may read every directory: run the tests as another than root")
	}
	out, errs, status := runStint(t, "", "sum", "tree")
	if !strings.HasSuffix(out, "  tree/b/x\n") || errs != "stint: tree/a: Permission denied\n" || status != 1 {
		t.Errorf("output %q, messages %q, exit status %d", out, errs, status)
	}
}
