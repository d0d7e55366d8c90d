package template

import "testing"

// paths are an item and its {.}, {/}, {//} and {/.}, as GNU parallel 20221122 prints them, but for
// those with a newline before the last slash: GNU parallel takes that for the end of a path.
var paths = [][5]string{
	{"", "", "", ".", ""},
	{"a.b", "a", "a.b", ".", "a"},
	{"a.tar.gz", "a.tar", "a.tar.gz", ".", "a.tar"},
	{"a.", "a", "a.", ".", "a"},
	{".hidden", "", ".hidden", ".", ""},
	{"..", ".", "..", ".", "."},
	{"/", "/", "", "/", ""},
	{"///", "///", "", "/", ""},
	{"/a", "/a", "a", "/", "a"},
	{"//a.b", "//a", "a.b", "/", "a"},
	{"///a///b", "///a///b", "b", "///a", "b"},
	{"a.b///", "a.b///", "", ".", ""},
	{"a/.b.c", "a/.b", ".b.c", "a", ".b"},
	{"a.b/c/", "a.b/c/", "", "a.b", ""},
	{"/usr/lib/libc.so.6", "/usr/lib/libc.so", "libc.so.6", "/usr/lib", "libc.so"},
	{"\xff/\xfe.x", "\xff/\xfe", "\xfe.x", "\xff", "\xfe"},
	{"a\\/b", "a\\/b", "b", "a\\", "b"},
	{"a/\n", "a/\n", "\n", "a", "\n"},
	{"a/b\n/c.d", "a/b\n/c", "c.d", "a/b\n", "c"},
}

func TestPaths(t *testing.T) {
	for _, row := range paths {
		for i, f := range []form{whole, noExt, base, dir, baseNoExt} {
			if got := f.apply(row[0]); got != row[i] {
				t.Errorf("form %d of %q is %q, want %q", f, row[0], got, row[i])
			}
		}
	}
}
