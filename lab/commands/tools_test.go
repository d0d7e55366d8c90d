package commands

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stint-go/stint/lab/bench"
)

// program returns the path of stint or of job, which are built into the directory bin beside the test binary.
func program(b *testing.B, name string) string {
	dir, err := programs()
	if errors.Is(err, exec.ErrNotFound) {
		b.Skip(err)
	}
	return filepath.Join(bench.Must(dir, err), name)
}

var programs = sync.OnceValues(func() (dir string, err error) {
	if os.Getenv("GOWORK") == "off" {
		return "", fmt.Errorf("stint cannot be built without the workspace: %w", exec.ErrNotFound)
	}
	dir = filepath.Join(filepath.Dir(bench.Must(os.Executable())), "bin")
	const module = "github.com/stint-go/stint/"
	text, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), module+"cmd/stint", module+"lab/commands/job").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("go build: %w\n%s", err, text)
	}
	return dir, err
})

// A tool runs a command for each item. An installed program answers what it is: two are named parallel.
type tool struct {
	name        string
	files       []string // of the program
	ask, answer string
	args        func(w work) []string // after the program
}

var tools = []tool{
	{"stint", nil, "", "", func(w work) []string {
		return slices.Concat([]string{"run"}, given(w.jobs > 0, "-j", strconv.Itoa(w.jobs)), given(w.fit, "-X"), w.command)
	}},
	{"xargs", []string{"xargs", "gxargs"}, "--version", "GNU findutils", func(w work) []string {
		return slices.Concat(given(!w.fit, "-n", "1", "-P", w.atOnce()), w.command)
	}},
	{"gnu-parallel", []string{"parallel"}, "--version", "GNU parallel", func(w work) []string {
		return slices.Concat(given(w.jobs+w.peers > 0, "-j", w.atOnce()), given(w.ordered, "-k"), given(w.fit, "-X"), w.command)
	}},
	{"moreutils-parallel", []string{"parallel", "parallel.moreutils"}, "--version", "for each argument, run command", func(w work) []string {
		args := slices.Concat([]string{"-j", w.atOnce()}, w.command, []string{"--"})
		for i := range w.n {
			args = append(args, w.text(i))
		}
		return args
	}},
}

// find returns the first program in PATH that gives the right answer.
func (t tool) find(b *testing.B) string {
	if t.name == "stint" {
		return program(b, t.name)
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		for _, file := range t.files {
			path := filepath.Join(dir, file)
			answer, _ := exec.Command(path, t.ask).CombinedOutput() // moreutils does not know the flag
			if filepath.IsAbs(path) && strings.Contains(string(answer), t.answer) {
				return path
			}
		}
	}
	b.Skip(t.name + " is not installed")
	return ""
}

// given returns the words of a flag that is given.
func given(is bool, words ...string) []string {
	if is {
		return words
	}
	return nil
}

// atOnce is the number of jobs for tools that want one.
func (w work) atOnce() string { return strconv.Itoa(cmp.Or(w.jobs, w.peers, runtime.GOMAXPROCS(0))) }
