package run

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/stint-go/stint/lab/result"
)

// The names of models.
const (
	nameOurs      = "stint-run"
	nameXargs     = "xargs"
	nameGNU       = "gnu-parallel"
	nameMoreutils = "moreutils-parallel"
	nameRush      = "rush"
	nameRust      = "rust-parallel"
)

func jobsName(n int) string { return fmt.Sprintf("jobs-%d", n) }

// A tool runs a command for every item.
type tool struct {
	result.Model
	version string
	args    func(b batch) []string
}

// ours is stint run. n is the number of jobs, which counts if it is not 0; otherwise that
// of the batch does.
func (l *lab) ours(n int) tool {
	t := tool{Model: result.Ours.Model(nameOurs, "stint run, from this repository")}
	if n > 0 {
		t.Model = result.Peer.Model(jobsName(n), fmt.Sprintf("stint run -j %d", n))
		t.Sweep, t.At = "-j", float64(n)
	}
	t.args = func(b batch) []string {
		if n > 0 {
			b.jobs = n
		}
		return slices.Concat([]string{l.exe, "run"}, flag(b.jobs > 0, "-j", strconv.Itoa(b.jobs)), b.flags, b.command)
	}
	return t
}

// tools returns stint run without a limit, with some fixed ones, and some peers, if they are
// installed; in a run with few limits, the second and the last.
func (l *lab) tools(limits []int, peers ...string) []tool {
	out := []tool{l.ours(0)}
	for i, n := range limits {
		if !l.few || i == 1 || i == len(limits)-1 {
			out = append(out, l.ours(n))
		}
	}
	for _, t := range l.peers {
		if slices.Contains(peers, t.Name) {
			out = append(out, t)
		}
	}
	return out
}

// against adds claims about an installed peer.
func (l *lab) against(peer string, claims ...result.Claim) []result.Claim {
	if !slices.ContainsFunc(l.peers, func(t tool) bool { return t.Name == peer }) {
		return nil
	}
	return claims
}

// candidates are the peers that we know: an installed program answers what it is. Two programs
// are named parallel, and two rush.
var candidates = []struct {
	name             string   // of the model
	files            []string // of the program
	ask, answer, doc string
	args             func(b batch) []string // after the program
}{
	{nameXargs, []string{"xargs", "gxargs"}, "--version", "GNU findutils", "xargs -P N -n 1, but for items that fit", func(b batch) []string {
		return slices.Concat(flag(!b.fit, "-n", "1", "-P", b.atOnce()), b.command)
	}},
	{nameGNU, []string{"parallel"}, "--version", "GNU parallel",
		"parallel, with -k where the output has an order, and -X for items that fit", func(b batch) []string {
			return slices.Concat(flag(b.jobs+b.others > 0, "-j", b.atOnce()), flag(b.ordered, "-k"), flag(b.fit, "-X"), b.command)
		}},
	{nameMoreutils, []string{"parallel", "parallel.moreutils", "parallel-moreutils"}, "--version", "for each argument, run command",
		"parallel of moreutils -j N, with the items as arguments", func(b batch) []string {
			return slices.Concat([]string{"-j", b.atOnce()}, b.command, []string{"--"}, b.all())
		}},
	{nameRush, []string{"rush"}, "--help", "executing jobs in parallel", "rush -j N, with a shell for each job", func(b batch) []string {
		return slices.Concat([]string{"-j", b.atOnce()}, flag(b.ordered, "-k"), []string{strings.Join(append(b.command, "{}"), " ")})
	}},
	{nameRust, []string{"rust-parallel"}, "--version", "rust-parallel", "rust-parallel -j N", func(b batch) []string {
		return slices.Concat([]string{"-j", b.atOnce()}, flag(b.ordered, "-k"), b.command)
	}},
}

// atOnce is the number of jobs for tools that want one.
func (b batch) atOnce() string {
	return strconv.Itoa(cmp.Or(b.jobs, b.others, runtime.GOMAXPROCS(0)))
}

// flag returns the words of a flag that is given.
func flag(given bool, words ...string) []string {
	if given {
		return words
	}
	return nil
}

// findPeers returns the tools that are installed: of each the first program in PATH that gives
// the right answer.
func findPeers(ctx context.Context) []tool {
	var out []tool
	for _, c := range candidates {
		var paths []string
		for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
			for _, file := range c.files {
				paths = append(paths, filepath.Join(dir, file))
			}
		}
		for _, path := range paths {
			answer, _ := exec.CommandContext(ctx, path, c.ask).CombinedOutput() // moreutils does not know the flag
			if filepath.IsAbs(path) && strings.Contains(string(answer), c.answer) {
				args := func(b batch) []string { return append([]string{path}, c.args(b)...) }
				out = append(out, tool{result.Peer.Model(c.name, c.doc), version(c.name, string(answer)), args})
				break
			}
		}
	}
	return out
}

// version returns the name and the line of an answer that has a number.
func version(name, answer string) string {
	for line := range strings.Lines(answer) {
		if strings.ContainsAny(line, "0123456789") {
			return name + ": " + strings.TrimSpace(line)
		}
	}
	return name
}
