package servers

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// A process is a running server.
type process struct {
	cmd    *exec.Cmd
	output *bytes.Buffer
	ended  chan struct{}
}

// launch starts a command and waits until it is ready. After an error the process has
// ended.
func launch(ctx context.Context, cmd *exec.Cmd, ready func(context.Context) error) (*process, error) {
	p := &process{cmd: cmd, output: new(bytes.Buffer), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.output, p.output
	if err := cmd.Start(); err != nil {
		return p, err
	}
	go func() {
		cmd.Wait()
		close(p.ended)
	}()
	var err error
	for range 400 { // 20 seconds
		if err = ready(ctx); err == nil {
			return p, nil
		}
		select {
		case <-ctx.Done():
		case <-p.ended:
		case <-time.After(50 * time.Millisecond):
			continue
		}
		break
	}
	p.stop()
	return p, fmt.Errorf("%s: %w: %s", filepath.Base(cmd.Path), cmp.Or(ctx.Err(), err), tail(p.output.Bytes()))
}

// stop ends the process and returns when it has ended.
func (p *process) stop() {
	p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		p.cmd.Process.Kill()
		<-p.ended
	}
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
		return filepath.EvalSymlinks(path)
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
