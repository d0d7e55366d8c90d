package jobserver

import "testing"

var flagCases = []struct {
	makeflags string
	how       string // "": there is no jobserver
	dry       bool
	ours      string // MAKEFLAGS with the jobserver X
}{
	{"", "", false, " -j5 --jobserver-auth=X"},
	{"kn", "", true, "kn -j5 --jobserver-auth=X"},
	{"-j 4 -k", "", false, " -k -j5 --jobserver-auth=X"},
	{" -j3 --jobserver-auth=3,4", "3,4", false, " -j5 --jobserver-auth=X"},
	{" --jobserver-fds=3,4 -j", "3,4", false, " -j5 --jobserver-auth=X"},
	{"w -j3 --jobserver-auth=fifo:/tmp/a", "fifo:/tmp/a", false, "w -j5 --jobserver-auth=X"},
	{" -j3 --jobserver-auth=3,4 --jobserver-auth=-2,-2", "-2,-2", false, " -j5 --jobserver-auth=X"},
	{"k -j3 --jobserver-auth=3,4 -- A=-n --jobserver-auth=5,6", "3,4", false, "k -j5 --jobserver-auth=X -- A=-n --jobserver-auth=5,6"},
	{" -- A=b\\ c", "", false, " -j5 --jobserver-auth=X -- A=b\\ c"},
	{"-- n=1", "", false, " -j5 --jobserver-auth=X -- n=1"},
	{"n=1", "", false, " n=1 -j5 --jobserver-auth=X"},
	{" --no-print-directory --jobs --trace", "", false, " --no-print-directory --trace -j5 --jobserver-auth=X"},
}

func TestMakeflags(t *testing.T) {
	for _, c := range flagCases {
		how, ok := auth(c.makeflags)
		if how != c.how || ok != (how != "") || DryRun(c.makeflags) != c.dry || flags(c.makeflags, 5, "X") != c.ours {
			t.Errorf("%q: %q, %v, dry %v, %q", c.makeflags, how, ok, DryRun(c.makeflags), flags(c.makeflags, 5, "X"))
		}
	}
}
