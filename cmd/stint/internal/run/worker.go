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

const (
	pieceSize = 512 << 10 // bytes of a piece of output, if a message may be so large
	maxSends  = 4         // outputs that are sent concurrently: each takes some pieces of memory
)

// A Worker runs jobs for "stint run --cluster". It must be made by NewWorker, and closed.
type Worker struct {
	programs []string // that it runs; empty: any
	engine   *process.Engine
	limit    *limit.Limit
	printer  *printer // keeps the output of jobs
	console  *console.Console
	slots    slots
	host     string
	position atomic.Int64
	options  Options
	server   *server.Connection
	message  int // bytes of the largest message
	sends    *stint.Limiter

	mu      sync.Mutex
	parcels *server.Parcels // connected when they are needed first
}

// NewWorker returns a Worker for the server of c that runs the named programs, or any if there
// are none. jobs is how many jobs it runs concurrently; 0 is an adaptive limit. watcher is as in
// Runner.Run.
func NewWorker(c *server.Connection, programs []string, jobs int, con *console.Console, watcher []string) (*Worker, error) {
	w := &Worker{programs: programs, console: con, options: Options{JSON: true, Unordered: true}, server: c, sends: stint.Limit(maxSends)}
	var err error
	if w.engine, err = newEngine(watcher, con); err != nil {
		return nil, err
	}
	w.limit = limit.New(jobs, 0)
	w.printer = newPrinter(&w.options, console.Streams{Stdout: io.Discard, Stderr: io.Discard}, con, func(error) {})
	w.host = "unknown"
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
	w.printer.spool.Close()
	w.limit.Close()
	w.engine.Close()
}

// Limiter returns the limiter that bounds the jobs.
func (w *Worker) Limiter() *stint.Limiter { return w.limit.Limiter() }

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
	x := w.executor(q)
	j := &job{position: w.position.Add(1), seq: q.Seq, items: stringsOf(q.Items), block: q.Block, whole: true}
	j.host = w.host
	a := response{Position: q.Position, Host: w.host}
	if err := w.permits(x.command, q); err != nil {
		a.Exit, a.Error = 126, cluster.Text(err.Error())
		return a, nil
	}
	if err := x.command.find(); err != nil {
		e, _ := errors.AsType[*ExitError](err)
		a.Exit, a.Error = e.Status, cluster.Text("on "+w.host+": "+e.Message)
		return a, nil
	}
	defer w.forget(j)
	if x.execute(ctx, j); j.interrupted {
		return a, context.Cause(ctx)
	}
	w.printer.ended(j)
	a.Start, a.Elapsed, a.CPU, a.Exit, a.Signal = j.Start, j.Elapsed, j.CPU, j.Exit, j.Signal
	a.Attempts, a.TimedOut = j.attempts, j.timedOut
	if j.err != nil {
		a.Error = cluster.Text("on " + w.host + ": " + j.err.Error())
	}
	return a, w.output(ctx, q, j, &a)
}

// forget drops the output of j, if it has begun.
func (w *Worker) forget(j *job) {
	if j.stdout != nil {
		w.printer.forget(j)
		w.printer.discard(&output{j.stdout, j.stderr})
		w.printer.help()
	}
}

// executor returns what runs the job of q.
func (w *Worker) executor(q *request) *executor {
	o := &Options{
		Command: stringsOf(q.Command), Replace: string(q.Replace), Shell: q.Shell != "" && len(q.Command) > 0, Pipe: q.Pipe, Dir: string(q.Dir),
		Timeout: Duration(q.Timeout), Retries: q.Retries, NoOverload: q.NoOverload, RetryDelay: Duration(q.RetryDelay), JSON: true, Unordered: true,
	}
	c := newCommand(o)
	if q.Shell != "" {
		c.name = string(q.Shell)
	}
	c.env = setVariables(c.env, stringsOf(q.Env))
	return &executor{
		o: o, command: &c, engine: w.engine, limit: w.limit, printer: w.printer, slots: &w.slots,
		stopped: func() bool { return false }, fail: func(error) {}, say: func(string) {}, warn: w.console.Message,
	}
}

// setVariables returns env with other values of some variables: programs may see the first or
// the last of two values.
func setVariables(env, some []string) []string {
	for _, variable := range some {
		name, _, _ := strings.Cut(variable, "=")
		env = slices.DeleteFunc(env, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	}
	return append(env, some...)
}

// permits returns an error unless the worker runs the program of c. The name decides, which is
// looked up in the PATH of the worker.
func (w *Worker) permits(c *command, q *request) error {
	switch {
	case len(w.programs) == 0:
		return nil
	case slices.Contains(w.programs, c.name):
		if len(q.Env) > 0 { // variables such as LD_PRELOAD and PATH would make it run others
			return fmt.Errorf("the worker on %s runs only some programs, and takes no --env", w.host)
		}
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
	if a.StdoutBytes+a.StderrBytes <= int64(min(inlineOutput, w.message/2)) { // and the rest is for base64, and an error
		var err1, err2 error
		a.Stdout, err1 = io.ReadAll(j.stdout.buffer.Reader())
		a.Stderr, err2 = io.ReadAll(j.stderr.buffer.Reader())
		return errors.Join(err1, err2)
	}
	parcels, err := w.connect()
	if err != nil {
		return err
	}
	a.Key = rand.Text()
	err = w.sends.Do(ctx, func(ctx context.Context) error {
		p := piece{Position: q.Position, Key: a.Key}
		if err := w.send(ctx, parcels, q.Receiver, p, j.stdout.buffer.Reader()); err != nil {
			return err
		}
		p.IsErr = true
		return w.send(ctx, parcels, q.Receiver, p, j.stderr.buffer.Reader())
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
