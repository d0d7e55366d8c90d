package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/run/command"
	"github.com/stint-go/stint/cmd/stint/internal/run/local"
	"github.com/stint-go/stint/cmd/stint/internal/run/output"
	"github.com/stint-go/stint/cmd/stint/internal/server"
)

const (
	pieceSize = 512 << 10 // bytes of a piece of output, if a message may be so large
	maxSends  = 4         // outputs that are sent concurrently: each takes some pieces of memory
)

// A Worker runs jobs for "stint run --cluster". It must be made by NewWorker, and closed.
type Worker struct {
	programs []string // that it runs; empty: any
	machine  *local.Machine
	printer  *output.Printer // keeps the output of jobs
	console  *console.Console
	host     string
	position atomic.Int64
	server   *server.Connection
	message  int // bytes of the largest message
	sends    *stint.Limiter

	mu      sync.Mutex
	parcels *server.Parcels // connected when they are needed first
}

// NewWorker returns a Worker for the server of c that runs the named programs, or any if there
// are none. jobs and watcher are as in local.NewMachine.
func NewWorker(c *server.Connection, programs []string, jobs int, con *console.Console, watcher []string) (*Worker, error) {
	w := &Worker{programs: programs, console: con, server: c, sends: stint.Limit(maxSends), host: "unknown"}
	w.printer = output.New(output.Format{JSON: true, Unordered: true}, console.Streams{Stdout: io.Discard, Stderr: io.Discard}, con, func(error) {})
	var err error
	if w.machine, err = local.NewMachine(jobs, 0, watcher, w.printer, con); err != nil {
		return nil, err
	}
	if name, err := os.Hostname(); err == nil {
		w.host = console.Visible(name)
	}
	return w, nil
}

// Close ends the worker. No job may be running.
func (w *Worker) Close() {
	if w.parcels != nil {
		w.parcels.Close()
	}
	_ = w.printer.Close() // it prints nothing
	w.machine.Close()
}

// Limiter returns the limiter that bounds the jobs.
func (w *Worker) Limiter() *stint.Limiter { return w.machine.Limit.Limiter() }

// Handlers returns the tasks of the worker, whose client is c.
func (w *Worker) Handlers(c *cluster.Client) []cluster.Handler {
	w.message = c.MaxMessage()
	run := func(ctx context.Context, q request) (response, error) { return w.run(ctx, &q) }
	if len(w.programs) == 0 {
		return []cluster.Handler{newTask(taskName(""), run)}
	}
	var all []cluster.Handler
	for _, name := range w.programs {
		all = append(all, newTask(taskName(name), run))
	}
	return all
}

// run runs a job. It returns an error if ctx has ended.
func (w *Worker) run(ctx context.Context, q *request) (response, error) {
	if err := q.check(); err != nil {
		return response{}, err
	}
	c := q.command()
	a := response{Position: q.Position, Host: w.host}
	if err := w.permits(c, q); err != nil {
		a.Exit, a.Error = 126, cluster.Text(err.Error())
		return a, nil
	}
	if err := c.Find(); err != nil {
		e, _ := errors.AsType[*console.ExitError](err)
		a.Exit, a.Error = e.Status, cluster.Text("on "+w.host+": "+e.Message)
		return a, nil
	}
	j := &output.Job{Position: w.position.Add(1), Seq: q.Seq, Items: stringsOf(q.Items), Block: q.Block, Whole: true}
	defer w.printer.Skip(j) // what it has kept was sent
	x := &local.Executor{
		Machine: w.machine, Command: c,
		Policy:  local.Policy{Timeout: q.Timeout, Retries: q.Retries, NoOverload: q.NoOverload, RetryDelay: q.RetryDelay},
		Stopped: func() bool { return false }, Fail: func(error) {}, Say: func(string) {},
	}
	if x.Execute(ctx, j); j.Interrupted {
		return a, context.Cause(ctx)
	}
	w.printer.Ended(j)
	a.Start, a.Elapsed, a.CPU, a.MaxRSS, a.Exit, a.Signal = j.Start, j.Elapsed, j.CPU, j.MaxRSS, j.Exit, j.Signal
	a.Attempts, a.TimedOut = j.Attempts, j.TimedOut
	if j.Err != nil {
		a.Error = cluster.Text("on " + w.host + ": " + j.Err.Error())
	}
	return a, w.output(ctx, q, j, &a)
}

// spec returns what q asks for.
func (q *request) spec() command.Spec {
	args := stringsOf(q.Command)
	return command.Spec{Command: args, Shell: q.Shell != "" && len(args) > 0, Pipe: q.Pipe, Replace: string(q.Replace), Dir: string(q.Dir)}
}

func (q *request) command() *command.Command {
	return command.Received(q.spec(), string(q.Shell), stringsOf(q.Env))
}

// permits returns an error unless the worker runs the program of c. The name decides, which is
// looked up in the PATH of the worker.
func (w *Worker) permits(c *command.Command, q *request) error {
	switch {
	case len(w.programs) == 0:
		return nil
	case !c.IsOneOf(w.programs):
		return fmt.Errorf("the worker on %s runs only %s", w.host, strings.Join(w.programs, ", "))
	case len(q.Env) > 0: // variables such as LD_PRELOAD and PATH would make it run others
		return fmt.Errorf("the worker on %s runs only some programs, and takes no --env", w.host)
	}
	return nil
}

// output puts the output of j into a, or sends it before a if it is too large.
func (w *Worker) output(ctx context.Context, q *request, j *output.Job, a *response) error {
	if j.Stdout == nil {
		return nil
	}
	a.StdoutBytes, a.StderrBytes = j.Stdout.Len(), j.Stderr.Len()
	if a.StdoutBytes+a.StderrBytes <= int64(min(inlineOutput, w.message/2)) { // and the rest is for base64, and an error
		var err1, err2 error
		a.Stdout, err1 = io.ReadAll(j.Stdout.Reader())
		a.Stderr, err2 = io.ReadAll(j.Stderr.Reader())
		return errors.Join(err1, err2)
	}
	parcels, err := w.connect()
	if err != nil {
		return err
	}
	a.Key = rand.Text()
	err = w.sends.Do(ctx, func(ctx context.Context) error {
		p := piece{Position: q.Position, Key: a.Key}
		if err := w.send(ctx, parcels, q.Receiver, p, j.Stdout.Reader()); err != nil {
			return err
		}
		p.IsErr = true
		return w.send(ctx, parcels, q.Receiver, p, j.Stderr.Reader())
	})
	if errors.Is(context.Cause(ctx), cluster.ErrCanceled) { // perhaps the receiver has left before the last piece
		parcels.Drop(context.WithoutCancel(ctx), q.Receiver)
	}
	return err
}

// connect returns the connection for pieces of output.
func (w *Worker) connect() (*server.Parcels, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.parcels == nil {
		parcels, err := w.server.NewParcels(w.console)
		if err != nil {
			return nil, w.server.Failed(err)
		}
		w.parcels = parcels
	}
	return w.parcels, nil
}

// send sends what r has, one piece after the other.
func (w *Worker) send(ctx context.Context, parcels *server.Parcels, receiver string, p piece, r io.Reader) error {
	room := w.message - len(encode(p)) - numbersReserve
	for b := make([]byte, max(1, min(pieceSize, room/4*3))); ; {
		n, err := io.ReadFull(r, b)
		if n > 0 {
			p.Data = b[:n]
			if err := parcels.Send(ctx, receiver, encode(p)); err != nil {
				return err
			}
			p.Offset += int64(n)
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}
