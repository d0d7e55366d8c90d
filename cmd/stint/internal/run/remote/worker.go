package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/run/command"
	"github.com/stint-go/stint/cmd/stint/internal/run/local"
	"github.com/stint-go/stint/cmd/stint/internal/run/output"
)

const (
	partSize = 256 << 10 // bytes of a part of output, if a message may be twice as large
	maxSends = 4         // outputs that are sent concurrently: each takes some parts of memory
)

// A Worker runs jobs for "stint run --cluster". It must be made by NewWorker, and closed.
type Worker struct {
	programs []string // that it runs; empty: any
	machine  *local.Machine
	printer  *output.Printer // keeps the output of jobs
	console  *console.Console
	host     string
	position atomic.Int64
	message  int // bytes of the largest message
	sends    *stint.Limiter
}

// NewWorker returns a Worker that runs the named programs, or any if there are none. jobs, steps and
// watcher are as in local.NewMachine.
func NewWorker(programs []string, jobs limit.Jobs, steps <-chan int, con *console.Console, watcher []string) (*Worker, error) {
	w := &Worker{programs: programs, console: con, sends: stint.Limit(maxSends), host: "unknown"}
	w.printer = output.New(output.Format{JSON: true, Unordered: true}, console.Streams{Stdout: io.Discard, Stderr: io.Discard}, con, func(error) {})
	var err error
	if w.machine, err = local.NewMachine(jobs, steps, 0, local.Share{}, watcher, w.printer, con); err != nil {
		return nil, err
	}
	if name, err := os.Hostname(); err == nil {
		w.host = console.Visible(name)
	}
	return w, nil
}

// Close ends the worker. No job may be running.
func (w *Worker) Close() {
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
	a := response{Position: q.Position}
	a.Host = w.host
	if err := w.permits(c, q); err != nil {
		a.Exit, a.Err = 126, cluster.Text(err.Error())
		return a, nil
	}
	if err := c.Find(); err != nil {
		e, _ := errors.AsType[*console.ExitError](err)
		a.Exit, a.Err = e.Status, cluster.Text("on "+w.host+": "+e.Message)
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
	a.Result, a.Host = j.Result, w.host
	if j.Err != nil {
		a.Err = cluster.Text("on " + w.host + ": " + j.Err.Error())
	}
	return a, w.output(ctx, j, &a)
}

func (q *request) command() *command.Command {
	args := stringsOf(q.Command)
	spec := command.Spec{Command: args, Shell: q.Shell != "" && len(args) > 0, Pipe: q.Pipe, Replace: string(q.Replace), Dir: string(q.Dir)}
	return command.Received(spec, string(q.Shell), stringsOf(q.Env))
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
func (w *Worker) output(ctx context.Context, j *output.Job, a *response) error {
	if j.Stdout == nil {
		return nil
	}
	if j.Stdout.Len()+j.Stderr.Len() <= int64(min(inlineOutput, w.message/2)) { // and the rest is for base64, and an error
		var err1, err2 error
		a.Stdout, err1 = io.ReadAll(j.Stdout.Reader())
		a.Stderr, err2 = io.ReadAll(j.Stderr.Reader())
		return errors.Join(err1, err2)
	}
	a.Call = cluster.TaskInfo(ctx).Call
	return w.sends.Do(ctx, func(ctx context.Context) error {
		if err := w.send(ctx, isStdout, j.Stdout.Reader()); err != nil {
			return err
		}
		return w.send(ctx, isStderr, j.Stderr.Reader())
	})
}

// send sends what r has, one part after the other.
func (w *Worker) send(ctx context.Context, kind byte, r io.Reader) error {
	b := make([]byte, max(2, min(partSize, w.message/2))) // a stream of bounded size keeps few messages
	b[0] = kind
	for {
		n, err := io.ReadFull(r, b[1:])
		if n > 0 {
			if err := cluster.SendPart(ctx, b[:1+n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}
