// Package child runs this program, or another, as a process that does one part of an experiment: a server, a worker. A
// child ends when its standard input does, and therefore also when its parent is killed.
package child

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/stint-go/stint/lab/bench"
)

// A Process is a running child.
type Process struct {
	Said string // its first line, which says that it is ready

	cmd   *exec.Cmd
	in    io.Closer
	ended chan struct{} // closed when it has ended
	err   error         // why it failed, with the end of its standard error, when it has ended
}

// variable is the environment variable that holds the role of a child.
const variable = "STINT_LAB_CHILD"

// Again returns a command that runs this program with a role. Its main function calls Main.
func Again(role any) *exec.Cmd {
	cmd := exec.Command(bench.Must(os.Executable()))
	cmd.Env = append(os.Environ(), variable+"="+string(bench.Must(json.Marshal(role))))
	return cmd
}

// Start starts a command and waits for its first line.
func Start(cmd *exec.Cmd) (*Process, error) {
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, 5*time.Second
	in, out := bench.Must(cmd.StdinPipe()), bench.Must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, in: in, ended: make(chan struct{})}
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	p.Said = strings.TrimSpace(line)
	go func() {
		defer close(p.ended)
		_, _ = io.Copy(io.Discard, r) // until all that have the pipe have ended
		if err := cmd.Wait(); err != nil {
			const most = 500
			text := bytes.TrimSpace(stderr.Bytes())
			p.err = fmt.Errorf("%w: %s", err, text[max(0, len(text)-most):])
		}
	}()
	if err != nil {
		return nil, cmp.Or(p.End(), err)
	}
	return p, nil
}

// End ends the child and returns its error.
func (p *Process) End() error {
	p.in.Close()
	<-p.ended
	return p.err
}

// Kill kills the child, unless it has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Main ends this process with the role it has, if it is a child. play prints a line when it is ready, and returns when
// ctx ends or its work is done.
func Main[T any](play func(ctx context.Context, role T) error) {
	text, ok := os.LookupEnv(variable)
	if !ok {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // for any reason
		end()
	}()
	var role T
	err := errors.Join(os.Unsetenv(variable), json.Unmarshal([]byte(text), &role))
	if err == nil {
		err = play(ctx, role)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", text, err)
		os.Exit(1)
	}
	os.Exit(0)
}
