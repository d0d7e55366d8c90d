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
// other than 0 is an error that includes the first lines of p's standard error.
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
		return u, fmt.Errorf("%s: %w%s", strings.Join(p.Args, " "), err, firstLines(stderr.String()))
	}
	text, err := os.ReadFile(l.report)
	return u, errors.Join(err, json.Unmarshal(text, &u))
}

// firstLines returns the first lines of a failed process's output, to be
// appended to an error.
func firstLines(said string) string {
	said = strings.TrimSpace(said)
	if said == "" {
		return ""
	}
	if lines := strings.SplitAfterN(said, "\n", 6); len(lines) == 6 {
		said = strings.Join(lines[:5], "") + "..."
	}
	return ": " + said
}

// Launch is the helper program: it runs a process on its own standard streams,
// writes its Usage to the file report, and returns the exit status.
func Launch(report string, args []string) int {
	floor := ownPeak()
	began := time.Now()
	p, err := os.StartProcess(args[0], args, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return fail(err)
	}
	state, err := p.Wait()
	wall := time.Since(began)
	if err != nil {
		return fail(err)
	}
	if !state.Success() {
		return max(state.ExitCode(), 1) // -1: ended by a signal
	}
	text, err := json.Marshal(Usage{Wall: wall, CPU: state.UserTime() + state.SystemTime(), PeakRSS: peakRSS(state), Floor: floor})
	if err == nil {
		err = os.WriteFile(report, text, 0o666)
	}
	if err != nil {
		return fail(err)
	}
	return 0
}

func fail(err error) int {
	fmt.Fprintf(os.Stderr, "launch: %v\n", err)
	return 1
}
