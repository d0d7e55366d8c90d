package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/stint-go/stint/lab/measure"
)

// processes are the server of a sample and the children connected to it.
type processes struct {
	ctx    context.Context // ending it kills them, at the end of the sample or after a failure
	kill   context.CancelCauseFunc
	server *process
	others []*process
}

// newProcesses starts a server.
func newProcesses(ctx context.Context) (*processes, error) {
	c := new(processes)
	c.ctx, c.kill = context.WithCancelCause(ctx)
	var err error
	c.server, err = c.start(child{Role: "server"})
	if err != nil {
		c.kill(err)
	}
	return c, err
}

// url returns the server's URL.
func (c *processes) url() string { return c.server.said }

// add starts a child that is connected to the server, and waits until it is
// ready.
func (c *processes) add(m child) (*process, error) {
	m.URL = c.url()
	p, err := c.start(m)
	if err == nil {
		c.others = append(c.others, p)
	}
	return p, err
}

// end ends all processes, the server last, and returns their samples in the
// order of add, then the server's. err is an earlier error.
func (c *processes) end(err error) ([]measure.Sample, error) {
	defer c.kill(nil)
	if err != nil {
		c.kill(err)
	}
	var out []measure.Sample
	for _, p := range append(c.others, c.server) {
		p.in.Close()
		<-p.ended
		out = append(out, p.sample)
	}
	if err == nil {
		err = context.Cause(c.ctx)
	}
	return out, err
}

// A process is a running child.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser // closing it ends the child
	out    *bufio.Reader
	stderr bytes.Buffer
	said   string // when it was ready

	ended  chan struct{}
	sample measure.Sample // when it has ended
}

// start starts a child and waits until it is ready. If it fails later, all
// processes are killed.
func (c *processes) start(m child) (*process, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	p, err := open(c.ctx, childVar+"="+string(text))
	if err != nil {
		return nil, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return nil, c.failed(m, p, p.cmd.Wait(), err)
	}
	p.said = strings.TrimSpace(line)
	go func() {
		defer close(p.ended)
		text, err := io.ReadAll(p.out)
		exit := p.cmd.Wait()
		if err == nil && exit == nil {
			err = json.Unmarshal(text, &p.sample)
		}
		if err != nil || exit != nil {
			c.kill(c.failed(m, p, exit, err))
		}
	}()
	return p, nil
}

// open starts this program with one more environment variable.
func open(ctx context.Context, childVar string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, self), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), childVar, "GOMAXPROCS="+strconv.Itoa(runtime.GOMAXPROCS(0)))
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = 5 * time.Second
	measure.KillGroup(p.cmd)
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, p.cmd.Start()
}

// failed returns why a child has no sample.
func (c *processes) failed(m child, p *process, errs ...error) error {
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w: %s", m.Role, errors.Join(errs...), strings.TrimSpace(p.stderr.String()))
}
