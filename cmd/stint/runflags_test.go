package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// The flags of xargs of findutils 4.9, and most of those of GNU parallel 20221122.
var (
	xargsFlags = strings.Fields(`-0 --null -a --arg-file -d --delimiter -E -e --eof -I -i --replace -L -l --max-lines -n --max-args -P --max-procs
		-o --open-tty -p --interactive --process-slot-var -r --no-run-if-empty -s --max-chars --show-limits -t --verbose -x --exit --help --version`)
	parallelFlags = strings.Fields(`-0 --null -a --arg-file --arg-sep --arg-file-sep --bar --basefile --bf --bg --block --block-size --cat --citation --cleanup --color
		--colsep -C --compress --csv --ctag --delay -d --delimiter -D --dry-run -E -e --eof --embed --env --eta --fg --fifo --files --filter --group --group-by
		--halt --halt-on-error --header -h --help -I -i --replace --id -J --profile -j --jobs --joblog --jl -k --keep-order -L -l --max-lines --latest-line --ll
		--lb --linebuffer --line-buffer --link --xapply --load -M -m --memfree --memsuspend -n --max-args -N --max-replace-args --max-line-length-allowed
		--nice --no-keep-order --no-notice --noswap --onall --nonall --open-tty -o --output-as-files -P --max-procs -p --interactive --parens --pipe --pipe-part --pipepart
		--plus --progress --process-slot-var -q --quote -r --no-run-if-empty --recend --recstart --regexp --remove-rec-sep --rrs --res --results --resume
		--resume-failed --retries --retry-failed --return --round-robin --rpl -S --sshlogin --slf --sshloginfile -s --max-chars --semaphore --semaphore-name --shard
		--shebang --shebang-wrap --shellquote --shell-quote --show-limits --shuf --silent --skip-first-line --sql -t --verbose -v --tag --tagstring --tee
		--term-seq --timeout --tmpdir --tmux --transferfile --tf --trc --trim --tty -u --ungroup --version --wd --workdir --will-cite -X -x --exit --xargs`)
	// otherFlags exist here with another meaning, as docs/run.md says.
	otherFlags = strings.Fields("-s -u --progress --retries --trim")
)

// TestPeerFlags wants each flag of other programs to exist, or to have advice.
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
	all := slices.Concat(xargsFlags, parallelFlags)
	for _, flag := range all {
		if exists(flag) == (peerFlags[flag] != "") {
			t.Errorf("%s exists: %v, advice: %q; want one of them", flag, exists(flag), peerFlags[flag])
		}
		if slices.Contains(otherFlags, flag) && !strings.Contains(differences, "`"+flag) {
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
