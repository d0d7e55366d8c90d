package joblog

import (
	"strings"
	"testing"
	"time"
)

// lines are those that GNU parallel 20221122 wrote for these entries.
var lines = []struct {
	entry Entry
	want  string
}{
	{Entry{Seq: 1, Start: time.UnixMilli(1795532839444), Runtime: 3 * time.Millisecond, Exit: 3, Command: "sleep 0; exit 3"},
		"1\t:\t1795532839.444\t     0.003\t0\t0\t3\t0\tsleep 0; exit 3\n"},
	{Entry{Seq: 1, Start: time.UnixMilli(1795532839943), Runtime: 1085 * time.Millisecond, Exit: -1, Signal: 15, Command: "sleep 2"},
		"1\t:\t1795532839.943\t     1.085\t0\t0\t-1\t15\tsleep 2\n"},
	{Entry{Seq: 2, Start: time.UnixMilli(1795532839849), Runtime: 2999 * time.Microsecond, Send: 8, Receive: 6, Signal: 9, Command: "echo '\tlead'"},
		"2\t:\t1795532839.849\t     0.002\t8\t6\t0\t9\techo '\tlead'\n"},
	{Entry{Seq: 1, Start: time.UnixMilli(1795533233207), Receive: 5, Command: "echo 'a\nb\n'"},
		"1\t:\t1795533233.207\t     0.000\t0\t5\t0\t0\techo 'a\x00b\x00'\n"},
	{Entry{Seq: 1234567, Host: "a host\tname\n\x1b[31m\xff", Start: time.Unix(0, 999999), Runtime: 11 * 24 * time.Hour, Command: ""},
		"1234567\ta host\\tname\\n\\033[31m\\377\t0.000\t950400.000\t0\t0\t0\t0\t\n"},
}

func TestEntry(t *testing.T) {
	for _, l := range lines {
		got := string(l.entry.appendTo([]byte("before")))
		if got != "before"+l.want {
			t.Errorf("%+v:\n got %q\nwant %q", l.entry, got, l.want)
		}
		success, command, err := parse([]byte(strings.TrimSuffix(l.want, "\n")))
		if want := l.entry.Exit == 0 && l.entry.Signal == 0; success != want || string(command) != logged(l.entry.Command) || err != nil {
			t.Errorf("%q: %v, %q, %v", l.want, success, command, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for line, want := range map[string]string{
		"hello":                                  "1 of 9 columns",
		"1\t:\t1.0\t0.1\t0\t0\t0\t0":             "8 of 9 columns",
		"1\t:\t\t0.1\t0\t0\t0\t0\ta":             `Starttime is not a number: ""`,
		"1\t:\t1.0\t0.1\t0\t0\t0\tKILL\ta":       `Signal is not a number: "KILL"`,
		"1\t:\t1.02\t:\t1.0\t0.1\t0\t0\t0\t0\ta": `JobRuntime is not a number: ":"`,
	} {
		if _, _, err := parse([]byte(line)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}
