package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestManyItems gives jobs more items than a command line has room for, in every way.
func TestManyItems(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	t.Setenv("STINT_SHELL", "sh")
	var lines, columns strings.Builder
	for i := range 12000 { // of 6 MiB, the most that Linux has room for
		item := "/" + strconv.Itoa(i) + strings.Repeat("x", 500)
		lines.WriteString(item + "\n")
		columns.WriteString(item[:len(item)/2] + "," + item + "\n")
	}
	scripts := strings.Repeat("true it is\n", 40000) // joined they are one argument
	count := []string{"sh", "-c", `echo $#`, "sh"}
	for _, test := range []struct {
		stdin string
		args  []string
		want  int // the sum of what the jobs print
	}{
		{lines.String(), append([]string{"-n", "20000"}, count...), 12000},
		{lines.String(), append([]string{"-X"}, count...), 12000},
		{lines.String(), append(append([]string{"-n", "20000"}, count...), "{}", "{.}"), 24000},
		{lines.String(), append([]string{"-n", "20000", "--tag", "--trim", "-u"}, "sh", "-c", `echo $# >> counts; echo 0`, "sh"), 12000},
		{columns.String(), append([]string{"-n", "20000", "--colsep", ","}, count...), 24000},
		{lines.String(), []string{"-n", "20000", "-s", "echo $#"}, 12000},
		{lines.String(), []string{"-n", "20000", "-s", "set -- {/} {//}; echo $#"}, 24000},
		{scripts, []string{"-n", "40000", "--joblog", "log"}, 0},
		{scripts, []string{"-X"}, 0},
	} {
		t.Chdir(t.TempDir())
		out, errs, status := runStint(t, test.stdin, append([]string{"run"}, test.args...)...)
		if counts, err := os.ReadFile("counts"); err == nil {
			out = string(counts)
		}
		sum := 0
		for _, word := range strings.Fields(out) {
			n, err := strconv.Atoi(word)
			must(t, err)
			sum += n
		}
		if sum != test.want || status != 0 || errs != "" {
			t.Errorf("%q: the jobs count %d items, exit status %d, messages %.200q; want %d", test.args, sum, status, errs, test.want)
		}
	}
}

// TestLongItems has an item that no argument can have, wherever items come from.
func TestLongItems(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	t.Setenv("STINT_SHELL", "sh")
	long := strings.Repeat("x", 3<<20)
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, []byte("a\n"+long+"\n"), 0o666))
	count := []string{"sh", "-c", "wc -c", "sh"}
	const tooLong = "which is too long for an argument\n"
	for _, test := range []struct {
		stdin, want, message string
		args                 []string
	}{
		{"a\n" + long, "a\n", "stint: standard input: line 2 is longer", []string{"echo"}},
		{"a\n" + long, "a\n", tooLong, []string{"-s", "echo {}"}},
		{"echo a\n" + long, "a\n", tooLong, nil},
		{long, "", tooLong, []string{"-0", "echo"}},
		{long, "", tooLong, []string{"-X", "echo"}},
		{long, "", tooLong, []string{"--dry-run", "echo"}},
		{"", "a\n", file + ": line 2 is longer", []string{"-a", file, "echo"}},
		{"", "", file + ": line 2 is longer", []string{"-a", file, "-a", file, "echo"}},
		{"a,b\na," + long, "a b\n", "are possible: xxxx", []string{"--colsep", ",", "echo"}},
		{long[:130000], "", "an argument of 260000 bytes is too long", []string{"echo", "{}{}"}},

		// A job with fewer items would do something else.
		{strings.Repeat(long[:120000]+"\n", 60), "", "arguments of ", []string{"-n", "60", "echo", "{}", "{60}"}},
		{strings.Repeat(long[:120000]+"\n", 60), "240000\n", "", []string{"-n", "60", "sh", "-c", "echo $((${#1} + ${#2}))", "sh", "{1}", "{60}"}},

		// Columns that the command does not have, and blocks, are no arguments.
		{"a,b\na," + long, "a\na\n", "", []string{"--colsep", ",", "echo", "{1}"}},
		{long, "3145728\n", "", append([]string{"--pipe"}, count...)},
		{"  a" + strings.Repeat(" ", 3<<20), "a\n", "", []string{"--trim", "echo"}},
	} {
		out, errs, status := runStint(t, test.stdin, append([]string{"run"}, test.args...)...)
		// An error of the input ends jobs that run.
		if failed := test.message != ""; out != test.want && !(failed && out == "") || !strings.Contains(errs, test.message) || (status == statusFailed) != failed || (errs != "") != failed {
			t.Errorf("%q: exit status %d, output %.200q, messages %.300q; want %q and %q", test.args, status, out, errs, test.want, test.message)
		}
	}
}
