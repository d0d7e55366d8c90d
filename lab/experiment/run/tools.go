package run

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/stint-go/stint/lab/measure"
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
	listed  bool // the items are arguments; otherwise they are on standard input
}

// A batch is a command that runs for every item.
type batch struct {
	command []string // the item follows
	items   items
	jobs    int      // at once; 0: as many as the tool chooses
	flags   []string // of stint run
	ordered bool     // output is in the order of the items
	fit     bool     // a command gets as many items as it can
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
		return words(l.exe, "run", flag(b.jobs > 0, "-j", strconv.Itoa(b.jobs)), b.flags, b.command)
	}
	return t
}

// sweep are the fixed numbers of jobs.
func (l *lab) sweep(limits ...int) []tool {
	var out []tool
	for _, n := range limits {
		out = append(out, l.ours(n))
	}
	return out
}

// peer returns an installed tool.
func (l *lab) peer(name string) []tool {
	for _, t := range l.peers {
		if t.Name == name {
			return []tool{t}
		}
	}
	return nil
}

// A candidate may be a peer.
type candidate struct {
	name  string   // of the model
	files []string // of the program
	ask   string   // an argument: the answer contains
	says  string   //
	doc   string
	args  func(path string, b batch) []string
}

// candidates are the peers that we know. Two programs are named parallel, and two rush.
var candidates = []candidate{
	{nameXargs, []string{"xargs", "gxargs"}, "--version", "GNU findutils", "xargs -P N -n 1, but for items that fit", func(path string, b batch) []string {
		return words(path, flag(!b.fit, "-n", "1", "-P", strconv.Itoa(b.atOnce())), b.command)
	}},
	{nameGNU, []string{"parallel"}, "--version", "GNU parallel", "parallel, with -k where the output has an order, and -X for items that fit", func(path string, b batch) []string {
		return words(path, flag(b.jobs > 0, "-j", strconv.Itoa(b.jobs)), flag(b.ordered, "-k"), flag(b.fit, "-X"), b.command)
	}},
	{nameMoreutils, []string{"parallel", "parallel.moreutils", "parallel-moreutils"}, "--version", "for each argument, run command", "parallel of moreutils -j N, with the items as arguments", func(path string, b batch) []string {
		return words(path, "-j", strconv.Itoa(b.atOnce()), b.command, "--", b.items.all())
	}},
	{nameRush, []string{"rush"}, "--help", "executing jobs in parallel", "rush -j N, with a shell for each job", func(path string, b batch) []string {
		return words(path, "-j", strconv.Itoa(b.atOnce()), flag(b.ordered, "-k"), strings.Join(append(b.command, "{}"), " "))
	}},
	{nameRust, []string{"rust-parallel"}, "--version", "rust-parallel", "rust-parallel -j N", func(path string, b batch) []string {
		return words(path, "-j", strconv.Itoa(b.atOnce()), flag(b.ordered, "-k"), b.command)
	}},
}

// atOnce is the number of jobs for tools that want one.
func (b batch) atOnce() int {
	if b.jobs > 0 {
		return b.jobs
	}
	return runtime.GOMAXPROCS(0)
}

// flag returns the words of a flag that is given.
func flag(given bool, words ...string) []string {
	if given {
		return words
	}
	return nil
}

// words returns a command line of words and lists of words.
func words(parts ...any) []string {
	var out []string
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			out = append(out, p)
		case []string:
			out = append(out, p...)
		}
	}
	return out
}

// findPeers returns the tools that are installed.
func findPeers(ctx context.Context) []tool {
	var out []tool
	for _, c := range candidates {
		if path, version := c.find(ctx); path != "" {
			args := func(b batch) []string { return c.args(path, b) }
			out = append(out, tool{result.Peer.Model(c.name, c.doc), version, args, c.name == nameMoreutils})
		}
	}
	return out
}

// find returns the first program in PATH that gives the right answer, and its version.
func (c candidate) find(ctx context.Context) (path, version string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		for _, file := range c.files {
			path, err := exec.LookPath(filepath.Join(dir, file))
			if err != nil || !filepath.IsAbs(path) {
				continue
			}
			out, _ := exec.CommandContext(ctx, path, c.ask).CombinedOutput() // moreutils does not know the flag
			if strings.Contains(string(out), c.says) {
				return path, c.version(string(out))
			}
		}
	}
	return "", ""
}

// version returns the line of an answer that has a number, or the name.
func (c candidate) version(answer string) string {
	for line := range strings.Lines(answer) {
		if line = strings.TrimSpace(line); strings.ContainsAny(line, "0123456789") {
			if !strings.Contains(line, c.name) && c.name == nameRush {
				line = c.name + ": " + line
			}
			return line
		}
	}
	return c.name
}

// process is the process of a tool.
func (l *lab) process(t tool, b batch) measure.Process {
	p := measure.Process{Args: t.args(b), Dir: l.dir, Env: l.env()}
	if !t.listed {
		p.Input = b.items.file
	}
	return p
}
