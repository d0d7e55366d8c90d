package remote

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

// A crew is the processes of one sample: a server, and members that are connected to
// it.
type crew struct {
	ctx    context.Context // its end kills them: that of the sample, or the failure of one
	kill   context.CancelCauseFunc
	server *process
	others []*process
}

// newCrew starts a server.
func newCrew(ctx context.Context) (*crew, error) {
	c := new(crew)
	c.ctx, c.kill = context.WithCancelCause(ctx)
	var err error
	c.server, err = c.start(member{Role: "server"})
	if err != nil {
		c.kill(err)
	}
	return c, err
}

// url is that of the server.
func (c *crew) url() string { return c.server.said }

// add starts a member that is connected to the server, and returns it when it is ready.
func (c *crew) add(m member) (*process, error) {
	m.URL = c.url()
	p, err := c.start(m)
	if err == nil {
		c.others = append(c.others, p)
	}
	return p, err
}

// end ends all, the server last, and returns what each has measured: those that were
// added in their order, then the server. err is what has failed before.
func (c *crew) end(err error) ([]measure.Sample, error) {
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

// A process is a member from outside.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser // its end is the member's
	out    *bufio.Reader
	stderr bytes.Buffer
	said   string // when it was ready

	ended  chan struct{}
	sample measure.Sample // when it has ended
}

// start starts a member and waits until it is ready. If it fails later, so does the
// crew.
func (c *crew) start(m member) (*process, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	p, err := open(c.ctx, variable+"="+string(text))
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

// open starts this program with one more variable.
func open(ctx context.Context, variable string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.CommandContext(ctx, self), ended: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), variable, "GOMAXPROCS="+strconv.Itoa(runtime.GOMAXPROCS(0)))
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

// failed is why a member has no sample.
func (c *crew) failed(m member, p *process, errs ...error) error {
	if err := context.Cause(c.ctx); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w: %s", m.Role, errors.Join(errs...), strings.TrimSpace(p.stderr.String()))
}
