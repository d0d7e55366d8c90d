package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/sum"
	"github.com/stint-go/stint/cmd/stint/internal/testfiles"
)

// TestCheckKnowsForeignTags wants what coreutils does not do: without -a a tag names the
// algorithm. With -a it must be that algorithm.
func TestCheckKnowsForeignTags(t *testing.T) {
	testfiles.Dir(t, "a", "a\n")
	var list, want strings.Builder
	for _, alg := range sum.Algorithms() {
		line, _, _ := runStint(t, "", "sum", "--tag", "-a", alg, "a")
		list.WriteString(line)
		want.WriteString("a: OK\n")
	}
	plain, _, _ := runStint(t, "", "sum", "a")
	testfiles.Write(t, "list", list.String()+plain)
	out, errs, status := runStint(t, "", "sum", "-c", "list")
	if out != want.String()+"a: OK\n" || errs != "" || status != 0 {
		t.Errorf("output %q, messages %q, exit status %d; want %d times OK", out, errs, status, len(sum.Algorithms())+1)
	}
	for _, alg := range sum.Algorithms() {
		out, errs, status = runStint(t, "", "sum", "-a", alg, "-c", "--strict", "list")
		ok, wrong := 1, "5 lines are"
		if alg == "sha256" { // with the plain line
			ok, wrong = 2, "4 lines are"
		}
		if out != strings.Repeat("a: OK\n", ok) || errs != "stint: WARNING: "+wrong+" improperly formatted\n" || status != 1 {
			t.Errorf("-a %s: output %q, messages %q, exit status %d", alg, out, errs, status)
		}
	}
}

func TestJSONKeepsNames(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"plain", "<&>", "new\nline", "not utf8 \xff", "\x01"} {
		if err := os.WriteFile(name, []byte("x"), 0o666); err != nil {
			t.Skipf("this file system refuses the name: %v", err)
		}
		out, _, _ := runStint(t, "", "sum", "--json", "-a", "md5", name)
		var rec struct {
			Path      string
			Base64    []byte `json:"path_base64"`
			Algorithm string
			Digest    string
			Size      int64
		}
		if err := json.Unmarshal([]byte(out), &rec); err != nil || strings.Count(out, "\n") != 1 {
			t.Fatalf("%q is not one JSON line: %v", out, err)
		}
		if rec.Base64 != nil {
			rec.Path = string(rec.Base64)
		}
		if rec.Path != name || rec.Algorithm != "md5" || rec.Digest != "9dd4e461268c8034f5c8564e155c67a6" || rec.Size != 1 {
			t.Errorf("%q reads as %+v", out, rec)
		}
	}
}

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

// TestFewDescriptors reads more files concurrently than may be open.
func TestFewDescriptors(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("tree", 0o777))
	for i := range 60 {
		name := fmt.Sprint("tree/", i)
		testfiles.Write(t, name, name)
		if err := os.Truncate(name, 2<<20); err != nil { // so that many are read concurrently
			t.Fatal(err)
		}
	}
	want, _, _ := runStint(t, "", "sum", "-a", "md5", "tree")
	testfiles.Write(t, "sums", want)
	wantCheck, _, _ := runStint(t, "", "sum", "-a", "md5", "-c", "sums")
	for args, want := range map[string]string{"tree": want, "--progress=always tree": want, "-c sums": wantCheck} {
		cmd := exec.Command("sh", "-c", "ulimit -n 20 && exec stint sum -a md5 -j 64 "+args)
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil || out.String() != want {
			t.Errorf("%s: %v, messages %q, output %s", args, err, &errs, difference(out.String(), want))
		}
	}
}
