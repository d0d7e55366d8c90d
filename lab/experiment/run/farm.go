package run

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"

	"github.com/stint-go/stint/lab/measure"
)

// A farm is a server with its workers.
type farm struct {
	*lab
	ctx          context.Context // ending it kills all
	dir, address string          // of the server
	url, token   string
	server       *guarded
	workers      []*guarded
}

// newFarm starts a server and workers. The farm is to be closed also after an error.
func (l *lab) newFarm(ctx context.Context) (*farm, error) {
	f := &farm{lab: l, ctx: ctx, token: "STINT_TOKEN=" + rand.Text()}
	var err error
	if f.dir, err = os.MkdirTemp(l.dir, "server-"); err != nil {
		return f, err
	}
	if f.address, err = freeAddress(); err != nil {
		return f, err
	}
	f.url = "nats://" + f.address
	if err := f.serve(); err != nil {
		return f, err
	}
	for range workers {
		w, err := f.start("work", "--cluster", f.url, "--run", "-j", fmt.Sprint(workerJobs))
		if err != nil {
			return f, err
		}
		f.workers = append(f.workers, w)
	}
	return f, nil
}

// freeAddress returns an address of the loopback interface with a free port.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// serve starts the server.
func (f *farm) serve() (err error) {
	f.server, err = f.start("serve", "--dir", f.dir, "--listen", f.address)
	return err
}

// close kills all, and removes what the server has stored.
func (f *farm) close() {
	for _, g := range append(f.workers, f.server) {
		if g != nil {
			g.kill()
		}
	}
	_ = os.RemoveAll(f.dir) // or it goes with the folder of the experiment
}

// A guarded process is killed when this one ends.
type guarded struct {
	in    io.Closer
	ended chan struct{}
}

// start starts stint and waits for its first line, which says that it is ready.
func (f *farm) start(args ...string) (*guarded, error) {
	cmd := exec.CommandContext(f.ctx, f.job, append([]string{"-guard", f.exe}, args...)...)
	cmd.Env = append(append(os.Environ(), f.env()...), f.token)
	measure.KillGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &guarded{in, make(chan struct{})}
	r := bufio.NewReader(out)
	line, err := r.ReadString('\n')
	go func() {
		defer close(g.ended)
		_, _ = io.Copy(io.Discard, r) // until all have closed it
		_ = cmd.Wait()                // it is killed
	}()
	if err != nil || !strings.Contains(line, f.url) {
		g.kill()
		return nil, fmt.Errorf("stint %s has not started: %s", args[0], strings.TrimSpace(line))
	}
	return g, nil
}

// kill kills the process as kill -9 does, and waits until it has ended.
func (g *guarded) kill() {
	g.in.Close()
	<-g.ended
}
