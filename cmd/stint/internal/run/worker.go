package run

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/process"
	"github.com/stint-go/stint/cmd/stint/internal/server"
)

// pieceSize is the size of a piece of output.
const pieceSize = 512 << 10

// A Worker runs jobs for "stint run --cluster". It must be made by NewWorker, and closed.
type Worker struct {
	programs []string // that it runs; empty: any
	engine   *process.Engine
	limit    *limit.Limit
	printer  *printer // keeps the output of jobs
	slots    slots
	host     string
	position atomic.Int64
	options  Options
	parcels  func() (*server.Parcels, error) // connected when they are needed first
}

// NewWorker returns a Worker for the server of c that runs the named programs, or any if there are none. It runs
// so many jobs concurrently; 0 is an adaptive limit. watcher is as in Runner.Run.
func NewWorker(c *server.Connection, programs []string, jobs int, con *console.Console, watcher []string) (*Worker, error) {
	w := &Worker{programs: programs, options: Options{JSON: true, Unordered: true}, parcels: sync.OnceValues(c.NewParcels)}
	var err error
	if w.engine, err = process.New(watcher); w.engine == nil {
		return nil, console.Failure(err.Error())
	} else if err != nil {
		con.Message("jobs may outlive this process if it is killed: " + console.Reason(err))
	}
	w.limit = limit.New(jobs, 0)
	w.printer = newPrinter(&w.options, console.Streams{Stdout: io.Discard, Stderr: io.Discard}, con, func(error) {})
	if w.host, err = os.Hostname(); err != nil {
		w.host = "unknown"
	}
	return w, nil
}

// Close ends the worker. No job may be running.
func (w *Worker) Close() {
	w.printer.spool.Close()
	w.limit.Close()
	w.engine.Close()
}

// Limiter returns the limiter that bounds the jobs.
func (w *Worker) Limiter() *stint.Limiter { return w.limit.Limiter() }

// Handlers returns the tasks of the worker.
func (w *Worker) Handlers() []cluster.Handler {
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
	r := w.runner(q)
	j := &job{position: w.position.Add(1), seq: q.Seq, items: stringsOf(q.Items), block: q.Block, whole: true}
	j.host = w.host
	a := response{Position: q.Position, Host: w.host}
	if err := w.permits(&r.command); err != nil {
		a.Exit, a.Error = 126, err.Error()
		return a, nil
	}
	if err := r.command.find(); err != nil {
		e, _ := errors.AsType[*ExitError](err)
		a.Exit, a.Error = e.Status, "on "+w.host+": "+e.Message
		return a, nil
	}
	r.ahead.jobs, r.ahead.bytes = 1, j.size()
	if _, err := r.run(ctx, j); err != nil || j.interrupted {
		w.printer.forget(j)
		return a, context.Cause(ctx)
	}
	a.Start, a.Elapsed, a.CPU, a.Exit, a.Signal = j.Start, j.Elapsed, j.CPU, j.Exit, j.Signal
	a.Attempts, a.TimedOut = j.attempts, j.timedOut
	if j.err != nil {
		a.Error = "on " + w.host + ": " + j.err.Error()
	}
	err := w.output(ctx, q, j, &a)
	w.printer.forget(j)
	w.printer.discard(&output{j.stdout, j.stderr})
	return a, err
}

// runner returns what runs one job.
func (w *Worker) runner(q *request) *Runner {
	o := Options{
		Command: stringsOf(q.Command), Replace: q.Replace, Shell: q.Shell != "" && len(q.Command) > 0, Pipe: q.Pipe, Dir: string(q.Dir),
		Timeout: Duration(q.Timeout), Retries: q.Retries, RetryDelay: Duration(q.RetryDelay), JSON: true, Unordered: true,
	}
	r := &Runner{Options: o, engine: w.engine, limit: w.limit, printer: w.printer, slots: &w.slots, kill: context.Background(), remote: true}
	r.command = newCommand(&o)
	if q.Shell != "" {
		r.command.name = q.Shell
	}
	r.command.env = append(r.command.env, stringsOf(q.Env)...)
	r.cancel = func(error) {}
	return r
}

// permits returns an error unless the worker runs the program of c. The name decides, which is
// looked up in the PATH of the worker.
func (w *Worker) permits(c *command) error {
	if len(w.programs) == 0 || slices.Contains(w.programs, c.program()) {
		return nil
	}
	return fmt.Errorf("the worker on %s runs only %s", w.host, strings.Join(w.programs, ", "))
}

// output puts the output of j into a, or sends it before a if it is too large.
func (w *Worker) output(ctx context.Context, q *request, j *job, a *response) error {
	if j.stdout == nil || j.stdout.buffer == nil {
		return nil
	}
	a.StdoutBytes, a.StderrBytes = j.stdout.bytes.Load(), j.stderr.bytes.Load()
	if a.StdoutBytes+a.StderrBytes <= inlineOutput {
		var err1, err2 error
		a.Stdout, err1 = io.ReadAll(j.stdout.buffer.Reader())
		a.Stderr, err2 = io.ReadAll(j.stderr.buffer.Reader())
		return errors.Join(err1, err2)
	}
	parcels, err := w.parcels()
	if err != nil {
		return err
	}
	a.Key = rand.Text()
	p := piece{Position: q.Position, Key: a.Key}
	err = send(ctx, parcels, q.Receiver, p, j.stdout.buffer.Reader())
	if err == nil {
		p.IsErr = true
		err = send(ctx, parcels, q.Receiver, p, j.stderr.buffer.Reader())
	}
	return err
}

// send sends what r has, one piece after the other.
func send(ctx context.Context, parcels *server.Parcels, receiver string, p piece, r io.Reader) error {
	for b := make([]byte, pieceSize); ; {
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
