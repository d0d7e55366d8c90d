package servers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// A process is a running server.
type process struct {
	cmd    *exec.Cmd // its guard
	in     io.Closer
	output *bytes.Buffer
	ended  chan struct{}
}

// launch starts a command as a user, unless who is nil, and waits until it is ready.
// After an error the process has ended. A guard, a process of ours, ends the server also
// if this process is killed.
func launch(ctx context.Context, who *account, cmd *exec.Cmd, ready func(context.Context) error) (*process, error) {
	guard, in, err := child{Run: cmd.Args, Dir: cmd.Dir, As: who}.command()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: guard, in: in, output: new(bytes.Buffer), ended: make(chan struct{})}
	guard.Stdout, guard.Stderr = p.output, p.output
	if err := guard.Start(); err != nil {
		return nil, err
	}
	go func() {
		guard.Wait()
		close(p.ended)
	}()
	if err := p.await(ctx, ready); err != nil {
		p.stop()
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), err, tail(p.output.Bytes()))
	}
	return p, nil
}

// await waits until the process is ready, for 20 seconds.
func (p *process) await(ctx context.Context, ready func(context.Context) error) error {
	for tries := 1; ; tries++ {
		err := ready(ctx)
		if err == nil || tries == 400 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.ended:
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop ends the process and returns when it has ended.
func (p *process) stop() {
	p.in.Close()
	<-p.ended
}

// guard runs a command until it ends or in does, as it does when the parent process is
// gone.
func guard(cmd *exec.Cmd, in io.Reader) error {
	os.Unsetenv(childVar)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in) // for any reason
		close(over)
	}()
	select {
	case err := <-ended:
		return err
	case <-over:
	}
	cmd.Process.Signal(os.Interrupt)
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		cmd.Process.Kill()
		<-ended
	}
	return nil
}

// tail returns the last lines of an output.
func tail(b []byte) string {
	const most = 500
	return string(bytes.TrimSpace(b[max(0, len(b)-most):]))
}

// accepts returns a function that reports whether a TCP address accepts connections.
func accepts(address string) func(context.Context) error {
	return func(ctx context.Context) error {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			c.Close()
		}
		return err
	}
}

// freeAddress returns an address of the loopback interface with a free port.
func freeAddress() (address, port string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	defer l.Close()
	address = l.Addr().String()
	_, port, err = net.SplitHostPort(address)
	return address, port, err
}

// find returns the path of a program, which may be in one of some folders that are
// not in PATH.
func find(name string, folders ...string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return filepath.Abs(path)
	}
	var found []string
	for _, pattern := range folders {
		all, _ := filepath.Glob(filepath.Join(pattern, name))
		found = append(found, all...)
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s is not installed", name)
	}
	slices.Sort(found)
	return found[len(found)-1], nil // the newest version
}
