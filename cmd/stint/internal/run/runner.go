package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/interrupt"
	"github.com/stint-go/stint/cmd/stint/internal/items"
	"github.com/stint-go/stint/cmd/stint/internal/joblog"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/run/command"
	"github.com/stint-go/stint/cmd/stint/internal/run/local"
	"github.com/stint-go/stint/cmd/stint/internal/run/output"
	"github.com/stint-go/stint/cmd/stint/internal/run/remote"
	"github.com/stint-go/stint/cmd/stint/internal/trace"
)

const (
	maxAhead      = 16 << 10 // jobs that are known, or have ended, before an earlier one is printed
	maxAheadBytes = 2 << 20  // of their items and blocks, before they have ended
	gcPercent     = 40       // the memory is for the jobs, and there is little to collect
	remoteAhead   = 64       // jobs that may have more bytes than that, with --cluster
)

// waitInterval is the time after a signal after which the command says that it waits for jobs.
const waitInterval = 3 * time.Second

// errHalted is why the running jobs are terminated.
var errHalted = errors.New("halted")

// A Runner is one run of "stint run".
type Runner struct {
	Options
	std     console.Streams
	console *console.Console
	input   items.Options
	command *command.Command

	maxBlock int // bytes of a block that a server takes; 0: there is none

	printer  *output.Printer
	executor *local.Executor // nil: workers run the jobs
	log      *joblog.Log     // nil: there is none
	done     joblog.Done
	cancel   context.CancelCauseFunc // of the run
	reading  context.Context         // its end makes reads of the input fail
	endInput context.CancelFunc
	ahead    ahead
	trace    *trace.Trace // nil: there is none
	used     trace.Summary

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
	halting   bool        // no more jobs start
	halted    *output.Job // whose end has halted the run
	first     *output.Job // the first one that failed, in order
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
	if !r.Remote && !r.DryRun {
		if err := r.command.Find(); err != nil {
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
	if _, err := interrupt.Call(ctx, func() (any, error) { return nil, r.openLogs() }); err != nil { // perhaps pipes
		return err
	}
	if r.DryRun {
		return r.dryRun(ctx, source)
	}
	r.printer = output.New(r.Format, r.std, r.console, func(err error) { cancel(err) })
	defer context.AfterFunc(ctx, r.printer.Abort)()
	run := r.eachRemote
	if !r.Remote {
		if r.executor, err = r.newExecutor(interrupt.Second(ctx), interrupt.Steps(ctx), watcher); err != nil {
			return err
		}
		defer r.executor.Close()
		defer r.reportWaiting(ctx)()
		run = r.each
	}
	r.used.Began = time.Now()
	stopProgress, stopSamples := r.showProgress(), r.sample()
	err = run(ctx, source)
	r.printer.Rest()
	r.printer.Summary(r.summary())
	stopSamples()
	err = errors.Join(err, r.printer.Close(), r.closeLogs())
	stopProgress()
	r.printSummary()
	return r.end(ctx, err)
}

// newExecutor returns what runs the jobs here.
func (r *Runner) newExecutor(kill context.Context, steps <-chan int, watcher []string) (*local.Executor, error) {
	say := r.console.Message
	if r.Quiet {
		say = func(string) {}
	}
	share := local.Share{Client: !r.JobsGiven && local.HasJobserver(say), Style: r.Jobserver, For: r.command.Program(), Say: say}
	m, err := local.NewMachine(r.Jobs, steps, r.MemFree, share, watcher, r.printer, r.console)
	if err != nil {
		return nil, err
	}
	r.command.Set(m.Variables...)
	return &local.Executor{Machine: m, Policy: r.Policy, Command: r.command, Kill: kill, Stopped: r.stopped, Attempted: r.attempted, Fail: r.cancel, Say: say}, nil
}

// each runs the jobs of source and prints them.
func (r *Runner) each(ctx context.Context, source *items.Items) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	jobs := func(yield func(*output.Job) bool) {
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
	opts := []stint.Option{r.executor.Limit.Limiter(), stint.Queue(maxAhead), stint.Name("run")}
	if r.Unordered {
		opts = append(opts, stint.Unordered())
	}
	for j, err := range stint.MapSeq(ctx, jobs, r.run, opts...) {
		if err != nil {
			return err
		}
		r.printer.Finish(j)
	}
	return nil
}

// run runs one job.
func (r *Runner) run(ctx context.Context, j *output.Job) (*output.Job, error) {
	if !r.begin(j) {
		j.Interrupted = true
		return j, nil
	}
	r.executor.Execute(ctx, j)
	j.Block = nil
	r.printer.Ended(j)
	r.settle(j)
	return j, nil
}

// eachRemote runs the jobs of source on the workers of the server.
func (r *Runner) eachRemote(ctx context.Context, source *items.Items) error {
	run := remote.Run{
		Server: &r.Server, Console: r.console, Printer: r.printer, Command: r.command, Spec: r.Spec, Policy: r.Policy,
		Jobs:  func(ctx context.Context) iter.Seq2[*output.Job, error] { return r.jobs(ctx, source) },
		Begin: r.begin, Settle: r.settle, Cancel: r.cancel,
	}
	if !r.Unordered {
		run.Ahead = maxAhead
	}
	if r.Halt.When == Soon { // jobs in the queue of the server still run then: they are few
		run.Unsettled = cmp.Or(r.Jobs.N(), remoteAhead)
	}
	m, err := remote.NewSubmitter(ctx, run)
	if err != nil {
		return err
	}
	defer m.Close()
	if !r.Pipe {
		source.Bound(m.Room(), remote.Cost)
		return m.Submit(ctx)
	}
	r.maxBlock = m.MaxBlock()
	most := machine.Size(r.maxBlock)
	if r.Block > most && r.Block != remoteBlock { // the default
		return console.Failure("--block " + r.Block.String() + " is too large for " + r.Server.Public() + ": a block has at most " + strconv.Itoa(r.maxBlock) + " bytes there")
	}
	r.Block = min(r.Block, most)
	return m.Submit(ctx)
}

// begin counts a job that runs now. It reports false if no more jobs are to run.
func (r *Runner) begin(j *output.Job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.counts.halting {
		r.ahead.remove(j.Ahead)
		return false
	}
	r.counts.running++
	return true
}

// jobs yields the jobs that are to run.
func (r *Runner) jobs(ctx context.Context, source *items.Items) iter.Seq2[*output.Job, error] {
	return func(yield func(*output.Job, error) bool) {
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
			if r.done.Take(j.Log) {
				r.mu.Lock()
				r.counts.skipped++
				r.mu.Unlock()
				continue
			}
			j.Position, j.Ahead = position, size(j)
			position++
			if r.stopped() || r.ahead.add(ctx, j.Ahead, r.current) != nil {
				return
			}
			if !yield(j, nil) {
				return
			}
		}
	}
}

// all yields all jobs of the input, with their numbers.
func (r *Runner) all(ctx context.Context, source *items.Items) iter.Seq2[*output.Job, error] {
	return func(yield func(*output.Job, error) bool) {
		var seq int64
		next := func(j *output.Job) bool {
			seq++
			j.Seq, j.Sent, j.Whole = seq, int64(len(j.Block)), r.JSON
			if r.Joblog != "" || r.JSON {
				j.Log = r.command.Text(j.Items, j.Seq)
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
				if !next(&output.Job{Block: block}) {
					return
				}
			}
			r.knowAll(seq)
			return
		}
		warned := r.Quiet
		for list, err := range source.Seq(ctx) {
			if err == nil {
				err = r.command.TooLong(list)
			}
			if err != nil {
				yield(nil, inputError(err))
				return
			}
			if p := r.command.Beyond(len(list)); p != "" && !warned {
				warned = true // "rm -r {1}/{3}" with two lists is perhaps not what the user wants
				r.console.Message(fmt.Sprintf("warning: %s is empty: job %d has no item for it; see --colsep and --max-args", p, seq+1))
			}
			if !next(&output.Job{Items: list}) {
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
	out := console.NewOutput(r.std.Stdout, r.console, func(err error) { r.cancel(err) })
	for j, err := range r.jobs(ctx, source) {
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		r.ahead.remove(j.Ahead)
		if err := out.Line(append([]byte(r.command.Shown(j.Items, j.Seq)), '\n')); err != nil {
			return err
		}
	}
	return cmp.Or(out.Flush(), context.Cause(ctx))
}

// openLogs reads which jobs are done, and opens the files that tell of jobs.
func (r *Runner) openLogs() (err error) {
	if r.Resume || r.ResumeFailed {
		r.done, err = joblog.Read(r.Joblog, r.ResumeFailed)
	}
	switch {
	case err != nil || r.Joblog == "" || r.DryRun:
	case r.Resume || r.ResumeFailed:
		r.log, err = joblog.Open(r.Joblog)
	default:
		r.log, err = joblog.Create(r.Joblog)
	}
	switch {
	case err != nil:
		return console.Failure("--joblog: " + err.Error())
	case r.DryRun:
		return nil
	}
	return r.openTrace()
}

// end returns how the run has ended: err is the first error of the run, not of a job.
func (r *Runner) end(ctx context.Context, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.counts
	if c.failed > 0 && !r.Quiet {
		r.console.Message(c.summary(r.command))
	}
	var write *console.WriteError
	switch cause := context.Cause(ctx); {
	case errors.As(errors.Join(err, cause), &write):
		return write
	case c.halted != nil && r.Halt.Success:
		return nil
	case c.halted != nil:
		return &console.ExitError{Status: c.halted.Status()}
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
func (c *counts) summary(command *command.Command) string {
	what := "1 job of 1"
	if n := c.failed + c.succeeded; n > 1 {
		what = fmt.Sprintf("%d of %d jobs", c.failed, n)
	}
	first := ":"
	if c.failed > 1 {
		first = "; the first is"
	}
	return fmt.Sprintf("%s failed%s job %d, %s: %s", what, first, c.first.Seq, c.first.Reason(), command.Told(c.first.Items, c.first.Seq))
}

// reportWaiting says some time after a signal has ended ctx that jobs still run, if any do: they may
// take their time.
func (r *Runner) reportWaiting(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), context.Canceled) { // no signal, but --halt or an error
			return
		}
		time.AfterFunc(waitInterval, func() {
			if n := r.count().running; n > 0 {
				r.console.Message(fmt.Sprintf("waiting for running jobs: %d; a second signal kills them", n))
			}
		})
	})
}

// count returns the jobs so far.
func (r *Runner) count() counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts
}

// stopped reports whether no more jobs are to start.
func (r *Runner) stopped() bool { return r.count().halting }

// size returns the bytes that a job has until it has ended.
func size(j *output.Job) int {
	n := len(j.Block) + len(j.Log)
	for _, item := range j.Items {
		n += len(item) + 16
	}
	return n
}

// settle counts a job that has ended, and writes it to the log.
func (r *Runner) settle(j *output.Job) {
	r.ahead.remove(j.Ahead)
	if r.executor == nil { // the last attempt, on a worker
		r.attempted(j, 0)
	}
	var err error
	if !j.Interrupted {
		err = r.append(j)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.counts
	c.running--
	switch {
	case j.Interrupted:
		return
	case j.Failed():
		c.failed++
		if c.first == nil || j.Seq < c.first.Seq {
			c.first = j
		}
	default:
		c.succeeded++
	}
	if err != nil {
		c.halting = true
		r.cancel(fileError("--joblog", r.Joblog, err))
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
func (r *Runner) append(j *output.Job) error {
	if r.log == nil {
		return nil
	}
	e := joblog.Entry{
		Seq: j.Seq, Host: j.Host, Start: j.Start, Runtime: j.Elapsed, Send: j.Sent, Receive: j.Stdout.Len(),
		Exit: j.Exit, Signal: j.Signal, Command: j.Log,
	}
	if e.Start.IsZero() {
		e.Start = time.Now()
	}
	if j.TimedOut || j.Err != nil && e.Exit == 0 && e.Signal == 0 {
		e.Exit = -1
	}
	return r.log.Append(e)
}

// state returns the limit of jobs. With --cluster it is that of the workers, and not known.
func (r *Runner) state() limit.State {
	if r.executor == nil {
		return limit.State{Limit: r.Jobs.N()}
	}
	return r.executor.Limit.State()
}

// summary returns how many jobs have run.
func (r *Runner) summary() output.Summary {
	c := r.count()
	return output.Summary{Jobs: c.succeeded + c.failed, Succeeded: c.succeeded, Failed: c.failed, Skipped: c.skipped, Time: time.Since(r.used.Began).Seconds(), CPU: r.used.CPU().Seconds(), Limit: r.state()}
}

// current returns how many jobs may run concurrently, as far as it is known.
func (r *Runner) current() int {
	if r.executor == nil {
		return max(r.Jobs.N(), remoteAhead)
	}
	return r.executor.Limit.Limiter().Current()
}
