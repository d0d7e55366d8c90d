package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// xargsFlags are the flags of findutils 4.9, and otherFlags those of all peers that exist here with
// another meaning, as docs/run.md says.
var (
	xargsFlags = strings.Fields(`-0 --null -a --arg-file -d --delimiter -E -e --eof -I -i --replace -L -l --max-lines -n --max-args -P --max-procs
		-o --open-tty -p --interactive --process-slot-var -r --no-run-if-empty -s --max-chars -t --verbose -x --exit --help --version`)
	otherFlags = strings.Fields("-s -u --progress --retries --trim")
)

// TestPeerFlags wants each flag of xargs to exist, or to have advice.
func TestPeerFlags(t *testing.T) {
	cmd := newRun(console.Streams{})
	cmd.InitDefaultHelpFlag()
	f := cmd.Flags()
	exists := func(flag string) bool {
		if name, long := strings.CutPrefix(flag, "--"); long {
			return f.Lookup(name) != nil
		}
		return f.ShorthandLookup(flag[1:]) != nil
	}
	page, err := os.ReadFile("../../docs/run.md")
	must(t, err)
	_, differences, _ := strings.Cut(string(page), "\n## Differences\n")
	for _, flag := range xargsFlags {
		if exists(flag) == (peerFlags[flag] != "") {
			t.Errorf("%s exists: %v, advice: %q; want one of them", flag, exists(flag), peerFlags[flag])
		}
	}
	for _, flag := range otherFlags {
		if !exists(flag) || !strings.Contains(differences, "`"+flag) {
			t.Errorf("docs/run.md does not say that %s means something else here", flag)
		}
	}
	longs := regexp.MustCompile(`(?:^|[ ;])(--[a-z][a-z-]+)`)
	for flag, advice := range peerFlags {
		if exists(flag) {
			t.Errorf("%s exists, and has advice: %s", flag, advice)
		}
		for _, m := range longs.FindAllStringSubmatch(advice, -1) {
			if others := []string{"--version", "--run"}; !exists(m[1]) && !slices.Contains(others, m[1]) {
				t.Errorf("the advice for %s has %s, which does not exist", flag, m[1])
			}
		}
		wantRun(t, statusUsage, "", "; "+advice+"\n", "run", flag, "echo", ":::", "a")
	}
	wantRun(t, statusUsage, "", "; "+peerFlags["-t"]+"\n", "run", "-kt", "echo", ":::", "a")
	wantRun(t, statusUsage, "", "unknown flag: --nonesuch\nTry", "run", "--nonesuch", "echo", ":::", "a")
}
