package template

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// paths are an item and its {.}, {/}, {//} and {/.}, as GNU parallel 20221122 prints
// them.
var paths = [][5]string{
	{"a", "a", "a", ".", "a"},
	{"a.b", "a", "a.b", ".", "a"},
	{"a.tar.gz", "a.tar", "a.tar.gz", ".", "a.tar"},
	{"a.", "a", "a.", ".", "a"},
	{"a..", "a.", "a..", ".", "a."},
	{"a..b", "a.", "a..b", ".", "a."},
	{".hidden", "", ".hidden", ".", ""},
	{".hidden.txt", ".hidden", ".hidden.txt", ".", ".hidden"},
	{"...", "..", "...", ".", ".."},
	{"..", ".", "..", ".", "."},
	{".", "", ".", ".", ""},
	{"", "", "", ".", ""},
	{"/", "/", "", "/", ""},
	{"//", "//", "", "/", ""},
	{"///", "///", "", "/", ""},
	{"/.", "/", ".", "/", ""},
	{"/..", "/.", "..", "/", "."},
	{"/a", "/a", "a", "/", "a"},
	{"/.a", "/", ".a", "/", ""},
	{"//a.b", "//a", "a.b", "/", "a"},
	{"///a///b", "///a///b", "b", "///a", "b"},
	{"a/", "a/", "", ".", ""},
	{"a///", "a///", "", ".", ""},
	{"a.b/", "a.b/", "", ".", ""},
	{".a/", ".a/", "", ".", ""},
	{"./", "./", "", ".", ""},
	{"./.a", "./", ".a", ".", ""},
	{"../a.b", "../a", "a.b", "..", "a"},
	{"a/b.c", "a/b", "b.c", "a", "b"},
	{"a/.b", "a/", ".b", "a", ""},
	{"a/.b.c", "a/.b", ".b.c", "a", ".b"},
	{"a/..", "a/.", "..", "a", "."},
	{"a/b//", "a/b//", "", "a", ""},
	{"a//b.c", "a//b", "b.c", "a", "b"},
	{"a.b/c", "a.b/c", "c", "a.b", "c"},
	{"a.b/.c", "a.b/", ".c", "a.b", ""},
	{"a.b/c/", "a.b/c/", "", "a.b", ""},
	{"/usr/lib/libc.so.6", "/usr/lib/libc.so", "libc.so.6", "/usr/lib", "libc.so"},
	{"a b/c d.e", "a b/c d", "c d.e", "a b", "c d"},
	{" ", " ", " ", ".", " "},
	{"-a/-b.c", "-a/-b", "-b.c", "-a", "-b"},
	{"\xff/\xfe.x", "\xff/\xfe", "\xfe.x", "\xff", "\xfe"},
	{"it's.a", "it's", "it's.a", ".", "it's"},
	{"a\\/b", "a\\/b", "b", "a\\", "b"},
	{"{.}/y.z", "{.}/y", "y.z", "{.}", "y"},
	{"a.b\n", "a", "a.b\n", ".", "a"},
	{"a\n.b", "a\n", "a\n.b", ".", "a\n"},
	{"a/\n", "a/\n", "\n", "a", "\n"},
	{"\n", "\n", "\n", ".", "\n"},
}

// pathsOfOurs are those where GNU parallel takes a newline for the end of a path: its
// {/} of "d\n/f.x" is "d\nf.x".
var pathsOfOurs = [][5]string{
	{"d\n/f.x", "d\n/f", "f.x", "d\n", "f"},
	{"x\ny/z.q", "x\ny/z", "z.q", "x\ny", "z"},
	{"d.e\n/f", "d.e\n/f", "f", "d.e\n", "f"},
	{"\n/", "\n/", "", ".", ""},
	{"a/b\n/c.d", "a/b\n/c", "c.d", "a/b\n", "c"},
}

func TestPaths(t *testing.T) {
	for _, row := range append(paths, pathsOfOurs...) {
		for i, f := range []form{whole, noExt, base, dir, baseNoExt} {
			if got := f.apply(row[0]); got != row[i] {
				t.Errorf("form %d of %q is %q, want %q", f, row[0], got, row[i])
			}
		}
	}
}

// TestPathsOfParallel compares the table with the program.
func TestPathsOfParallel(t *testing.T) {
	var items, want []string
	for _, row := range paths {
		items = append(items, row[0])
		want = append(want, row[:]...)
	}
	got := parallel(t, strings.Join(items, "\x00")+"\x00", "-0", "-k", "-j2", "printf '%s\\0' {} {.} {/} {//} {/.}")
	if len(got) != len(want) {
		t.Fatalf("parallel printed %d words, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("column %d of %q: parallel has %q, the table %q", i%5, want[i-i%5], got[i], want[i])
		}
	}
}

// parallel runs GNU parallel, or skips the test where there is none. It returns the
// words that its jobs printed, each before a NUL.
func parallel(t *testing.T, stdin string, args ...string) []string {
	t.Helper()
	version, err := exec.Command("parallel", "--version").Output()
	if err != nil || !bytes.HasPrefix(version, []byte("GNU parallel")) {
		t.Skip("no GNU parallel here")
	}
	cmd := exec.Command("parallel", append([]string{"--will-cite"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "SHELL=/bin/sh")
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Split(string(out), "\x00")
	return words[:len(words)-1]
}
