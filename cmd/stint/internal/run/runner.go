package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
	"github.com/stint-go/stint/cmd/stint/internal/items"
	"github.com/stint-go/stint/cmd/stint/internal/joblog"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

const (
	maxAhead      = 16 << 10 // jobs that are known, or have ended, before an earlier one is printed
	maxAheadBytes = 2 << 20  // of their items and blocks, before they have ended
	gcPercent     = 40       // the memory is for the jobs, and there is little to collect
	remoteAhead   = 64       // jobs that may have more bytes than that, with --cluster
)

// waitInterval is the time after a signal after which the command says that it waits for jobs.
const waitInterval = 3 * time.Second

// An ExitError ends a run with an exit status of its own, after Message unless that is empty.
type ExitError struct {
	Status  int
	Message string
}

// Error returns the message.
func (e *ExitError) Error() string { return e.Message }

// errHalted is why the running jobs are terminated.
var errHalted = errors.New("halted")

// A Runner is one run of "stint run".
type Runner struct {
	Options
	std     console.Streams
	console *console.Console
	input   items.Options
	command command

	maxBlock int // bytes of a block that a server takes; 0: there is none

	printer  *printer
	executor *executor               // nil: workers run the jobs
	log      *joblog.Log             // nil: there is none
	done     *joblog.Done            // nil: nothing is
	cancel   context.CancelCauseFunc // of the run
	reading  context.Context         // its end makes reads of the input fail
	endInput context.CancelFunc
	ahead    ahead

	mu     sync.Mutex
	counts counts
}

// counts are the jobs of a run.
type counts struct {
	total     int // -1: not known
	skipped   int // by --resume
	running   int
	succeeded int
	failed    int
	halting   bool // no more jobs start
	halted    *job // whose end has halted the run
	first     *job // the first one that failed, in order
}

// New returns a Runner, or an error of the command line.
func New(o *Options, std console.Streams) (*Runner, error) {
	r := &Runner{Options: *o, std: std, console: console.New(std.Stderr)}
	return r, r.prepare()
}

// Run runs the jobs. It returns when they have ended. watcher is the command that kills what runs
// when this process is killed.
func (r *Runner) Run(ctx context.Context, watcher []string) (err error) {
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	}
	r.warn()
	if r.Server.URL == "" && !r.DryRun {
		if err := r.command.find(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.cancel = cancel
	r.reading, r.endInput = context.WithCancel(ctx)
	defer r.endInput()
	source, err := r.open(r.reading)
	if err != nil {
		return err
	}
	if r.DryRun {
		return r.dryRun(ctx, source)
	}
	if _, err := interrupt.Call(ctx, func() (any, error) { return nil, r.openLog() }); err != nil { // perhaps a pipe
		return err
	}
	r.printer = newPrinter(&r.Options, r.std, r.console, func(err error) { cancel(err) })
	defer context.AfterFunc(ctx, r.printer.abort)()
	run := r.eachRemote
	if r.Server.URL == "" {
		if r.executor, err = r.newExecutor(interrupt.Second(ctx), watcher); err != nil {
			return err
		}
		defer r.executor.close()
		defer r.reportWaiting(ctx)()
		run = r.each
	}
	stopProgress := r.showProgress(ctx)
	err = run(ctx, source)
	stopProgress()
	r.printer.rest()
	r.printer.summary(r)
	if err == nil && ctx.Err() == nil {
		r.warnOfNothing()
	}
	return r.end(ctx, errors.Join(err, r.printer.close(), r.closeLog()))
}

// newExecutor returns what runs the jobs here.
func (r *Runner) newExecutor(kill context.Context, watcher []string) (*executor, error) {
	engine, err := newEngine(watcher, r.console)
	if err != nil {
		return nil, err
	}
	x := &executor{
		o: &r.Options, command: &r.command, engine: engine, limit: limit.New(r.Jobs, int64(r.MemFree)), printer: r.printer, slots: new(slots),
		kill: kill, stopped: r.stopped, fail: r.cancel, say: r.console.Message, warn: r.console.Message,
	}
	if r.Quiet {
		x.say = func(string) {}
	}
	return x, nil
}

// newEngine returns what starts processes.
func newEngine(watcher []string, c *console.Console) (*process.Engine, error) {
	engine, err := process.New(watcher)
	switch {
	case engine == nil:
		return nil, console.Failure(err.Error())
	case err != nil:
		c.Message("jobs may outlive this process if it is killed: " + console.Reason(err))
	}
	return engine, nil
}

// each runs the jobs of source and prints them.
func (r *Runner) each(ctx context.Context, source *items.Items) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	jobs := func(yield func(*job) bool) {
		for j, err := range r.jobs(ctx, source) {
			if err != nil {
				fail(err)
				return
			}
			if !yield(j) {
				return
			}
		}
	}
	opts := []stint.Option{r.executor.limit.Limiter(), stint.Queue(maxAhead), stint.Name("run")}
	if r.Unordered {
		opts = append(opts, stint.Unordered())
	}
	for j, err := range stint.MapSeq(ctx, jobs, r.run, opts...) {
		if err != nil {
			return err
		}
		if j.interrupted {
			r.printer.skip(j)
		} else {
			r.printer.finish(j)
		}
	}
	return nil
}

// run runs one job.
func (r *Runner) run(ctx context.Context, j *job) (*job, error) {
	defer r.ahead.remove(j.size())
	if r.stopped() {
		j.interrupted = true
		return j, nil
	}
	r.running(1)
	defer r.running(-1)
	r.executor.execute(ctx, j)
	j.sent, j.block = int64(len(j.block)), nil
	r.printer.ended(j)
	r.settled(j)
	return j, nil
}

func (r *Runner) running(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.running += n
}

// jobs yields the jobs that are to run.
func (r *Runner) jobs(ctx context.Context, source *items.Items) iter.Seq2[*job, error] {
	return func(yield func(*job, error) bool) {
		defer context.AfterFunc(ctx, r.endInput)() // which may wait for more
		var position int64
		for j, err := range r.all(ctx, source) {
			if err != nil && r.stopped() { // perhaps as no more input is wanted
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if r.done != nil && r.done.Take(j.log) {
				r.mu.Lock()
				r.counts.skipped++
				r.mu.Unlock()
				continue
			}
			j.position = position
			position++
			if r.stopped() || r.ahead.add(ctx, j.size(), r.current) != nil {
				return
			}
			if !yield(j, nil) {
				return
			}
		}
	}
}

// all yields all jobs of the input, with their numbers.
func (r *Runner) all(ctx context.Context, source *items.Items) iter.Seq2[*job, error] {
	return func(yield func(*job, error) bool) {
		var seq int64
		next := func(j *job) bool {
			seq++
			j.seq, j.whole = seq, r.JSON
			if r.Joblog != "" || r.JSON {
				j.log = r.command.text(j)
			}
			return yield(j, nil)
		}
		if r.Pipe {
			most := cmp.Or(r.maxBlock, max(int(r.Block), maxText))
			for block, err := range blocks(interrupt.NewReader(r.reading, r.std.Stdin), int(r.Block), most) {
				if err != nil {
					yield(nil, inputError(err))
					return
				}
				if !next(&job{block: block}) {
					return
				}
			}
			r.knowAll(seq)
			return
		}
		warned := r.Quiet
		for list, err := range source.Seq(ctx) {
			if err == nil {
				err = r.command.tooLong(list)
			}
			if err != nil {
				yield(nil, inputError(err))
				return
			}
			if p := r.command.beyond(len(list)); p != "" && !warned {
				warned = true
				r.warnOfPlaceholder(p, seq+1, len(list))
			}
			if !next(&job{items: list}) {
				return
			}
		}
		r.knowAll(seq)
	}
}

// knowAll notes that the input has ended, after n jobs.
func (r *Runner) knowAll(n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts.total = int(n)
}

// inputError returns an error of reading the input as a message, unless it ends the run.
func inputError(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return console.Failure(err.Error())
}

// dryRun prints the commands.
func (r *Runner) dryRun(ctx context.Context, source *items.Items) error {
	if r.Resume || r.ResumeFailed {
		done, err := joblog.Read(r.Joblog, r.ResumeFailed)
		if err != nil {
			return console.Failure(err.Error())
		}
		r.done = done
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := console.NewOutput(r.std.Stdout, r.console, func(err error) { cancel(err) })
	for j, err := range r.all(ctx, source) {
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		if r.done != nil && r.done.Take(j.log) {
			continue
		}
		if err := out.Line(append([]byte(r.command.shown(j)), '\n')); err != nil {
			return err
		}
	}
	return out.Flush()
}

// openLog opens the job log, and reads which jobs are done.
func (r *Runner) openLog() (err error) {
	if r.Joblog == "" {
		return nil
	}
	if r.Resume || r.ResumeFailed {
		if r.done, err = joblog.Read(r.Joblog, r.ResumeFailed); err == nil {
			r.log, err = joblog.Open(r.Joblog)
		}
	} else {
		r.log, err = joblog.Create(r.Joblog)
	}
	if err != nil {
		return console.Failure("--joblog: " + err.Error())
	}
	return nil
}

func (r *Runner) closeLog() error {
	if r.log == nil {
		return nil
	}
	if err := r.log.Close(); err != nil {
		return console.Failure("--joblog " + console.Quote(r.Joblog) + ": " + console.Reason(err))
	}
	return nil
}

// end returns how the run has ended: err is the first error of the run, not of a job.
func (r *Runner) end(ctx context.Context, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.counts
	if c.failed > 0 && !r.Quiet {
		r.console.Message(c.summary(&r.command))
	}
	var write *console.WriteError
	switch cause := context.Cause(ctx); {
	case errors.As(err, &write):
		return write
	case cause != nil && errors.As(cause, &write):
		return write
	case c.halted != nil && r.Halt.Success:
		return nil
	case c.halted != nil:
		return &ExitError{Status: c.halted.status()}
	case cause != nil && !errors.Is(cause, context.Canceled):
		return cause
	case err != nil:
		return err
	case c.failed > 0:
		return console.ErrReported
	}
	return nil
}

// summary says how many jobs have failed.
func (c *counts) summary(command *command) string {
	what := "1 job of 1"
	if n := c.failed + c.succeeded; n > 1 {
		what = fmt.Sprintf("%d of %d jobs", c.failed, n)
	}
	if c.failed == 1 {
		return fmt.Sprintf("%s failed: job %d, %s: %s", what, c.first.seq, c.first.reason(), command.told(c.first))
	}
	return fmt.Sprintf("%s failed; the first is job %d, %s: %s", what, c.first.seq, c.first.reason(), command.told(c.first))
}

// reportWaiting says some time after a signal has ended ctx, until stop is called, that jobs still
// run: they may take their time.
func (r *Runner) reportWaiting(ctx context.Context) (stop func()) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-over:
			return
		case <-ctx.Done():
		}
		if !errors.Is(context.Cause(ctx), context.Canceled) { // no signal, but --halt or an error
			return
		}
		wait := time.NewTimer(waitInterval)
		defer wait.Stop()
		select {
		case <-over:
			return
		case <-wait.C:
		}
		r.mu.Lock()
		n := r.counts.running
		r.mu.Unlock()
		if n > 0 {
			r.console.Message(fmt.Sprintf("waiting for running jobs: %d; a second signal kills them", n))
		}
	})
	return func() {
		close(over)
		wg.Wait()
	}
}

// stopped reports whether no more jobs are to start.
func (r *Runner) stopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts.halting
}

// size returns the bytes that a job has until it has ended.
func (j *job) size() int {
	n := len(j.block) + len(j.log)
	for _, item := range j.items {
		n += len(item) + 16
	}
	return n
}

// settled counts a job that has ended, and writes it to the log.
func (r *Runner) settled(j *job) {
	if j.interrupted {
		return
	}
	err := r.append(j)
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.counts
	if j.failed() {
		c.failed++
		if c.first == nil || j.seq < c.first.seq {
			c.first = j
		}
	} else {
		c.succeeded++
	}
	if err != nil {
		c.halting = true
		r.cancel(console.Failure("--joblog " + console.Quote(r.Joblog) + ": " + console.Reason(err)))
	}
	n := c.failed
	if r.Halt.Success {
		n = c.succeeded
	}
	if r.Halt.When == Never || n < r.Halt.Count || c.halted != nil {
		return
	}
	c.halting, c.halted = true, j
	r.endInput()
	if r.Halt.When == Now {
		r.cancel(errHalted)
	}
}

// append writes j to the log.
func (r *Runner) append(j *job) error {
	if r.log == nil {
		return nil
	}
	e := joblog.Entry{
		Seq: j.seq, Host: j.host, Start: j.Start, Runtime: j.Elapsed, Send: j.sent, Receive: j.received(),
		Exit: j.Exit, Signal: j.Signal, Command: j.log,
	}
	if e.Start.IsZero() {
		e.Start = time.Now()
	}
	if j.timedOut || j.err != nil && e.Exit == 0 && e.Signal == 0 {
		e.Exit = -1
	}
	return r.log.Append(e)
}

// state returns the limit of jobs. With --cluster it is that of the workers, and not known.
func (r *Runner) state() limit.State {
	if r.executor == nil {
		return limit.State{Limit: r.Jobs}
	}
	return r.executor.limit.State()
}

// current returns how many jobs may run concurrently, as far as it is known.
func (r *Runner) current() int {
	if r.executor == nil {
		return max(r.Jobs, remoteAhead)
	}
	return r.executor.limit.Limiter().Current()
}
