package measure

import (
	"bytes"
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

// A Launcher starts the processes that are measured. It does so through a
// small program, because Linux counts the memory of a parent at the moment of
// the start as the child's own: started from here, everything smaller than the
// laboratory would look as large as it.
type Launcher struct {
	program string
	report  string
}

// NewLauncher builds the small program into dir, which is for the launcher's
// files as long as it is used.
func NewLauncher(ctx context.Context, dir string) (*Launcher, error) {
	l := &Launcher{filepath.Join(dir, "launch.exe"), filepath.Join(dir, "usage")}
	return l, Build(ctx, l.program, "github.com/stint-go/stint/lab/measure/launch")
}

// Build compiles a command of the workspace into a file.
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

// Run runs p to its end, with its standard output into a new file named output
// and no standard input. When ctx ends it kills p and its descendants and
// returns the error of ctx. A status other than 0 is an error, with the
// beginning of what p wrote to standard error.
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
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, l.program, append([]string{l.report, name}, p.Args[1:]...)...)
	cmd.Dir, cmd.Env = p.Dir, append(os.Environ(), p.Env...)
	cmd.Stdout, cmd.Stderr = out, &stderr
	cmd.WaitDelay = 5 * time.Second
	KillGroup(cmd)
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return u, ctx.Err()
	case err != nil:
		return u, fmt.Errorf("%s: %w%s", strings.Join(p.Args, " "), err, beginning(stderr.String()))
	}
	text, err := os.ReadFile(l.report)
	return u, errors.Join(err, json.Unmarshal(text, &u))
}

// beginning is the first lines of what a failed process said, to be appended
// to an error.
func beginning(said string) string {
	said = strings.TrimSpace(said)
	if said == "" {
		return ""
	}
	if lines := strings.SplitAfterN(said, "\n", 6); len(lines) == 6 {
		said = strings.Join(lines[:5], "") + "..."
	}
	return ": " + said
}

// Launch is the small program: it runs a process on its own standard streams,
// writes its Usage to the file named report, and returns the exit status.
func Launch(report string, args []string) int {
	floor := ownPeak()
	began := time.Now()
	p, err := os.StartProcess(args[0], args, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return cannot(err)
	}
	state, err := p.Wait()
	wall := time.Since(began)
	if err != nil {
		return cannot(err)
	}
	if !state.Success() {
		return max(state.ExitCode(), 1) // -1: ended by a signal
	}
	text, err := json.Marshal(Usage{Wall: wall, CPU: state.UserTime() + state.SystemTime(), PeakRSS: peakRSS(state), Floor: floor})
	if err == nil {
		err = os.WriteFile(report, text, 0o666)
	}
	if err != nil {
		return cannot(err)
	}
	return 0
}

func cannot(err error) int {
	fmt.Fprintf(os.Stderr, "launch: %v\n", err)
	return 1
}
