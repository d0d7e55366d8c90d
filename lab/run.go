package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A runner runs commands in rounds: each benchmark once a round, in another order each time. Benchmarks that are
// compared belong in one command, so that they are measured soon after one another. The k-th result of a benchmark is of
// round k, because a round that fails ends its directory: so the report can pair benchmarks.
type runner struct {
	quick bool
	cores bool   // only the lines that matter on many CPUs
	top   string // directory of the laboratory
	built bool   // it has test binaries, and no sources
	bin   string // where binaries are built
	log   *log.Logger

	config map[string]string // the last lines in the file of results, by their first words
}

func run(ctx context.Context, args []string, _, stderr io.Writer) error {
	r := runner{log: log.New(stderr, "", log.Ltime)}
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.BoolVar(&r.quick, "quick", false, "one round of one op with small lists: to see that all of it works")
	flags.BoolVar(&r.cores, "cores", false, "only the lines with the word cores, in six rounds: what matters on machines with many CPUs")
	out := flags.String("o", "results", "`directory` of the results")
	if err := parse(flags, args, stderr); err != nil {
		return err
	}
	if err := r.find(); err != nil {
		return err
	}
	dirs, err := r.directories(flags.Args())
	if err != nil {
		return err
	}
	if r.bin, err = os.MkdirTemp("", "lab"); err != nil {
		return err
	}
	defer os.RemoveAll(r.bin)
	// A database server runs as another user, who has to reach its files below.
	if err := errors.Join(os.Chmod(r.bin, 0o711), os.MkdirAll(*out, 0o777)); err != nil {
		return err
	}
	for _, dir := range dirs {
		name := filepath.Join(*out, strings.ReplaceAll(dir, "/", "-")+".txt")
		if failed := r.directory(ctx, dir, name); failed != nil { // the others may not fail
			err = errors.Join(err, fmt.Errorf("%s: %w", dir, failed))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return err
}

// find finds the laboratory: the directory of this program's sources or, where they are not, of this program.
func (r *runner) find() error {
	if out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/stint-go/stint/lab").Output(); err == nil {
		r.top = strings.TrimSpace(string(out))
		return nil
	}
	self, err := os.Executable()
	r.top, r.built = filepath.Dir(self), true
	return err
}

// directories returns the directories with a file of commands: all, or those that are named and those below them.
func (r *runner) directories(names []string) (dirs []string, err error) {
	if len(names) == 0 {
		names = []string{"."}
	}
	for _, name := range names {
		before, below := len(dirs), strings.TrimPrefix(filepath.ToSlash(filepath.Clean(name)), "lab/")
		err := fs.WalkDir(os.DirFS(r.top), below, func(file string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == "commands" && !d.IsDir() {
				dirs = append(dirs, path.Dir(file))
			}
			return err
		})
		if err != nil || len(dirs) == before {
			return nil, &usageError{fmt.Errorf("no directory %s with a file commands in %s", name, r.top)}
		}
	}
	return dirs, nil
}

// directory runs the commands of a directory in rounds, and writes a file of results.
func (r *runner) directory(ctx context.Context, dir, name string) error {
	home := filepath.Join(r.top, filepath.FromSlash(dir))
	text, err := os.ReadFile(filepath.Join(home, "commands"))
	var commands [][]string
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 0 && words[0][0] != '#' && (!r.cores || words[0] == "cores") {
			commands = append(commands, words)
		}
	}
	if err != nil || len(commands) == 0 {
		return err
	}
	bin := filepath.Join(home, filepath.Base(home)+".test")
	if !r.built {
		bin = filepath.Join(r.bin, filepath.Base(home)+".test")
		c := exec.CommandContext(ctx, "go", "test", "-c", "-o", bin, ".")
		c.Dir, c.Stderr = home, r.log.Writer()
		if err := c.Run(); err != nil {
			return fmt.Errorf("building its benchmarks: %w", err)
		}
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	r.config = map[string]string{}
	for _, words := range commands {
		if err := r.command(ctx, dir, bin, words, file); err != nil {
			return err
		}
	}
	return file.Close()
}

// command runs a line of a file of commands: variables, then flags, with N for the number of CPUs. The variable rounds and
// the word cores are ours.
func (r *runner) command(ctx context.Context, dir, bin string, words []string, results io.Writer) error {
	rounds, env := 9, append(os.Environ(), "TMPDIR="+r.bin) // which goes at the end, whatever happens
	args := []string{"-test.run=none"}
	for _, w := range words {
		switch n, isRounds := strings.CutPrefix(w, "rounds="); {
		case w == "cores":
		case isRounds:
			var err error
			if rounds, err = strconv.Atoi(n); err != nil {
				return err
			}
		case strings.HasPrefix(w, "-"):
			args = append(args, cpus(w, runtime.GOMAXPROCS(0)))
		default:
			env = append(env, w)
		}
	}
	if r.cores {
		rounds = 6
	}
	if r.quick {
		rounds, args = 1, append(args, "-test.short", "-test.benchtime=1x")
	}
	for k := range rounds {
		c := exec.CommandContext(ctx, bin, append(args, fmt.Sprintf("-test.shuffle=%d", k+1))...)
		c.Dir, c.Env, c.Stderr = filepath.Join(r.top, filepath.FromSlash(dir)), env, r.log.Writer()
		c.WaitDelay = 5 * time.Second // for what a benchmark has started
		round, err := c.Output()
		lines, messages := r.trimmed(string(round))
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("interrupted in round %d of %d", k+1, rounds)
		case err != nil:
			return fmt.Errorf("round %d: %q: %w\n%s", k+1, c.Args, err, messages)
		case !strings.Contains(lines, "\nBenchmark"):
			r.log.Printf("%s: nothing is measured here by %s\n%s", dir, strings.Join(words, " "), messages)
		}
		if _, err := io.WriteString(results, lines); err != nil {
			return err
		}
		r.log.Printf("round %d of %d of %s: %s", k+1, rounds, dir, strings.Join(words, " "))
	}
	return nil
}

// cpus replaces the number N of CPUs in a flag. With one CPU there is no second number.
func cpus(word string, n int) string {
	all, both := fmt.Sprintf("cpu=%d", n), fmt.Sprintf("cpu=1,%d", n)
	if n == 1 {
		both = "cpu=1"
	}
	return strings.NewReplacer("cpu=1,N", both, "cpu=N", all).Replace(word)
}

// trimmed returns the results of a round, without the spaces that align them, and the configuration that has changed since
// the last one, and the other lines: what a benchmark logs is indented, and those of package testing begin with a hyphen or
// are a word.
func (r *runner) trimmed(round string) (lines, messages string) {
	for line := range strings.Lines(round) {
		words := strings.Fields(line)
		if len(words) < 2 || strings.ContainsAny(line[:1], " \t-") {
			messages += line
			continue
		}
		if key := words[0]; strings.HasSuffix(key, ":") {
			if r.config[key] == line {
				continue
			}
			r.config[key] = line
		}
		lines += strings.Join(words, " ") + "\n"
	}
	return lines, strings.TrimSpace(messages)
}
