// Package testfiles makes the files of tests.
package testfiles

import (
	"os"
	"os/exec"
	"testing"
)

// Dir changes to a new directory with files: names, each followed by its content.
func Dir(t *testing.T, files ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for i := 0; i < len(files); i += 2 {
		Write(t, files[i], files[i+1])
	}
}

// Write makes a file in the working directory.
func Write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Pipe makes a named pipe, or skips the test where there are none.
func Pipe(t *testing.T, name string) {
	t.Helper()
	if err := exec.Command("mkfifo", name).Run(); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
}

// OddNames are legal names that are hard to print.
var OddNames = []string{
	"plain", "with space", " leading space", "trailing ", "-n", "--help", "new\nline", "\n", "back\\slash", "both\\\n",
	"carriage\rreturn", "tab\there", "bell\a", "not utf8 \xff\xfe", "utf8 é", "quote'", `quote"`, "dollar$", "both'$",
	"star*", "(paren) = x", "#hash", "~tilde", "{", "semi;colon:", "equals=", "\x01", "middle\x01dle", "ends\x7f", "%s", "a]b",
}
