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
)

// A Process is a running child.
type Process struct {
	Said  string        // its first line, which says that it is ready
	Ended chan struct{} // closed when it has ended
	Rest  []byte        // what it printed after the first line, when it has ended
	Err   error         // why it failed, with the end of its standard error, when it has ended

	in io.Closer
}

// Again returns a command that runs this program with a role. Its main function calls Main.
func Again(ctx context.Context, variable string, role any) (*exec.Cmd, error) {
	text, err := json.Marshal(role)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), variable+"="+string(text))
	return cmd, err
}

// Start starts a command and waits for its first line. When the context of the command ends, it and its descendants are
// killed. An interrupt from the terminal does not reach them.
func Start(cmd *exec.Cmd) (*Process, error) {
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, 5*time.Second
	ownGroup(cmd)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := cmp.Or(err1, err2); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{in: in, Ended: make(chan struct{})}
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	p.Said = strings.TrimSpace(line)
	go func() {
		defer close(p.Ended)
		p.Rest, _ = io.ReadAll(r) // until all that have the pipe have ended
		if err := cmd.Wait(); err != nil {
			const most = 500
			text := bytes.TrimSpace(stderr.Bytes())
			p.Err = fmt.Errorf("%w: %s", err, text[max(0, len(text)-most):])
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
	<-p.Ended
	return p.Err
}

// Main runs the role of this process if it is a child, and returns its exit status. run prints a line with say when it is
// ready, and returns when ctx ends or its work is done.
func Main[T any](variable string, run func(ctx context.Context, role T, say func(line string)) error) (status int, ok bool) {
	text, ok := os.LookupEnv(variable)
	if !ok {
		return 0, false
	}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // for any reason
		end()
	}()
	var role T
	err := errors.Join(os.Unsetenv(variable), json.Unmarshal([]byte(text), &role))
	if err == nil {
		err = run(ctx, role, func(line string) { fmt.Println(line) })
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", text, err)
		return 1, true
	}
	return 0, true
}
