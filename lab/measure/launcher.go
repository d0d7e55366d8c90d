package measure

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Launcher starts the processes to measure, through a small helper program. On Linux, the
// peak memory of a child includes the memory of its parent at the start, so processes
// smaller than the laboratory would seem as large as it.
type Launcher struct {
	program string
	report  string
}

// NewLauncher builds the helper program into dir, which the launcher also uses
// for its files.
func NewLauncher(ctx context.Context, dir string) (*Launcher, error) {
	l := &Launcher{filepath.Join(dir, "launch.exe"), filepath.Join(dir, "usage")}
	return l, Build(ctx, l.program, "github.com/stint-go/stint/lab/measure/launch")
}

// Build compiles a command of the workspace into file.
func Build(ctx context.Context, file, pkg string) error {
	out, err := exec.CommandContext(ctx, "go", "build", "-o", file, pkg).CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("cannot build %s; run the laboratory inside its repository, with its go.work: %w\n%s", pkg, err, out)
	}
	return nil
}

// Run runs p, with its standard output in a new file named output. When ctx
// ends, it kills p and its descendants and returns the error of ctx. A status
// other than 0 is an error that includes the start of p's standard error.
func (l *Launcher) Run(ctx context.Context, p Process, output string) (u Usage, err error) {
	out, err := os.Create(output)
	if err != nil {
		return u, err
	}
	defer out.Close()
	name, err := exec.LookPath(p.Args[0])
	if err != nil {
		return u, err
	}
	in, err := os.Open(cmp.Or(p.Input, os.DevNull))
	if err != nil {
		return u, err
	}
	defer in.Close()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, l.program, append([]string{l.report, name}, p.Args[1:]...)...)
	cmd.Dir, cmd.Env = p.Dir, append(os.Environ(), p.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, &stderr
	cmd.WaitDelay = 5 * time.Second
	KillGroup(cmd)
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return u, ctx.Err()
	case err != nil:
		return u, fmt.Errorf("%s: %w: %.500s", strings.Join(p.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	text, err := os.ReadFile(l.report)
	return u, errors.Join(err, json.Unmarshal(text, &u))
}

// Launch is the helper program: it runs a process on its own standard streams,
// writes its Usage to the file report, and returns the exit status.
func Launch(report string, args []string) int {
	status, err := launch(report, args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "launch: %v\n", err)
		return 1
	}
	return status
}

func launch(report string, args []string) (status int, err error) {
	floor := ownPeak()
	began := time.Now()
	p, err := os.StartProcess(args[0], args, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return 1, err
	}
	state, err := p.Wait()
	wall := time.Since(began)
	if err != nil {
		return 1, err
	}
	if !state.Success() {
		return max(state.ExitCode(), 1), nil // -1: ended by a signal
	}
	text, err := json.Marshal(Usage{Wall: wall, CPU: state.UserTime() + state.SystemTime(), PeakRSS: peakRSS(state), Floor: floor})
	return 0, errors.Join(err, os.WriteFile(report, text, 0o666))
}

// ownPeak returns the largest resident set of this program so far, or 0 where a child's
// peak does not include its parent's. Unlike getrusage, it does not include the parent's.
func ownPeak() int64 {
	status, _ := os.ReadFile("/proc/self/status") // Linux alone has it
	_, rest, _ := strings.Cut(string(status), "\nVmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(line, "kB")), 10, 64)
	return kb << 10
}
