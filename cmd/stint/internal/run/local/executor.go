// Package local runs jobs on this machine, with the attempts that they need.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/jobserver"
	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/process"
	"github.com/stint-go/stint/cmd/stint/internal/run/command"
	"github.com/stint-go/stint/cmd/stint/internal/run/output"
)

const (
	overloadStatus  = 75          // EX_TEMPFAIL
	overloadRetries = 10          // extra attempts after overloadStatus, unless --retries is given
	overloadDelay   = time.Second // before the first of them, unless --retry-delay is given
	maxRetryDelay   = time.Minute
	exhaustedTime   = 10 * time.Second // for which the system may refuse processes while no other job runs
)

// A Policy says when jobs start, and start again.
type Policy struct {
	Jobs       limit.Jobs
	Delay      time.Duration
	Timeout    time.Duration
	Retries    int
	NoOverload bool // exit status 75 is a failure like others, as --retries was given
	RetryDelay time.Duration
	Nice       int
	MemFree    machine.Size
}

// A Machine is what the jobs of this process share. It must be made by NewMachine, and closed.
type Machine struct {
	Limit     *limit.Limit
	Slots     Slots
	Variables []string // of jobs, besides others
	engine    *process.Engine
	share     share // nil: there is none
	printer   *output.Printer
	console   *console.Console
}

// NewMachine returns a Machine that runs so many jobs concurrently, a number that steps may change,
// and none while less memory is available. s says with whom it shares them. p prints their output,
// and may be nil for Start. watcher is the command that kills what runs when this process is killed.
func NewMachine(jobs limit.Jobs, steps <-chan int, memory machine.Size, s Share, watcher []string, p *output.Printer, c *console.Console) (*Machine, error) {
	m := &Machine{Limit: limit.New(jobs, int64(memory), steps, c.Message), printer: p, console: c}
	watcher, err := m.serve(s, watcher)
	if err == nil {
		m.engine, err = process.New(watcher)
	}
	switch {
	case m.engine == nil:
		m.Close()
		return nil, console.Failure(console.Reason(err))
	case err != nil:
		c.Message("jobs may outlive this process if it is killed: " + console.Reason(err))
	}
	if s.Client {
		client := jobserver.NewClient(os.Getenv(makeflags), m.engine.Tell, m.engine.Grants(), s.Say)
		m.Limit.Share(limit.Share{Running: client.Begun})
		m.share = client
	}
	return m, nil
}

// Close ends what the machine has. No job may be running.
func (m *Machine) Close() {
	if m.share != nil {
		m.share.Close()
	}
	m.Limit.Close()
	if m.engine != nil {
		m.engine.Close()
	}
}

// An Executor runs jobs on a Machine: those of a run, or one that a worker was given.
type Executor struct {
	*Machine
	Policy  Policy
	Command *command.Command

	Kill    context.Context // its end kills the jobs that run; nil: they are killed process.Grace after they were terminated
	Stopped func() bool     // no more attempts start
	Fail    func(error)     // ends the run: no job can be started
	Say     func(string)    // what the user may want to know

	Attempted func(j *output.Job, slot int) // an attempt has ended; nil: nobody wants to know

	starts starts
	told   sync.Once // of exit status 75
}

// Execute runs j, with as many attempts as it needs. The caller holds a permit of the limit. j has a
// token, if there are any, only while it runs.
func (x *Executor) Execute(ctx context.Context, j *output.Job) {
	token, slot := jobserver.NewJob(), 0
	defer x.end(token)
	for {
		if !x.ready(ctx, token) {
			j.Interrupted = true
			return
		}
		if slot == 0 {
			slot = x.Slots.Take()
			defer x.Slots.Put(slot)
		}
		x.attempt(ctx, j, slot)
		x.release(token)
		if overloaded(j) {
			x.Limit.Overloaded(j.Start)
		}
		if !x.again(ctx, j) {
			return
		}
	}
}

// ready waits until an attempt may start, and has a token then. It reports false if ctx ends first.
func (x *Executor) ready(ctx context.Context, token *jobserver.Job) bool {
	if x.starts.wait(ctx, x.Policy.Delay) != nil {
		return false
	}
	for {
		if x.Limit.Await(ctx, x.sayMemory) != nil || !x.acquire(ctx, token) {
			return false
		}
		if x.Limit.Ready() { // still
			return true
		}
		x.release(token)
	}
}

// overloaded reports whether the job says that too many run.
func overloaded(j *output.Job) bool { return j.Exit == overloadStatus && j.Err == nil && !j.TimedOut }

// again waits before another attempt of j, and reports whether there is one.
func (x *Executor) again(ctx context.Context, j *output.Job) bool {
	if j.Interrupted || !j.Failed() || j.Final || x.Stopped() {
		return false
	}
	extra, delay := x.Policy.Retries, x.Policy.RetryDelay
	if overloaded(j) {
		if !x.Policy.NoOverload {
			extra = overloadRetries
		}
		delay = cmp.Or(delay, overloadDelay)
	}
	if j.Attempts > extra || !x.printer.Drop(j) {
		return false
	}
	if overloaded(j) && !x.Policy.NoOverload {
		x.told.Do(func() { x.sayOverload(j) })
	}
	most := max(maxRetryDelay, delay)
	for n := 1; n < j.Attempts && delay > 0 && delay < most; n++ {
		delay = min(2*delay, most)
	}
	if err := sleep(ctx, delay); err != nil {
		j.Interrupted = true
		return false
	}
	return true
}

// sayOverload says once that jobs are tried again for a reason that the user may not know.
func (x *Executor) sayOverload(j *output.Job) {
	x.Say(fmt.Sprintf("job %d ended with status 75, too many jobs: such jobs are tried up to %d times more, after a while", j.Seq, overloadRetries))
}

// sleep waits for d, or returns the cause of ctx if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// attempt runs the command of j once.
func (x *Executor) attempt(ctx context.Context, j *output.Job, slot int) {
	host, attempts := j.Host, j.Attempts+1
	j.Result = output.Result{Host: host, Attempts: attempts}
	if x.Attempted != nil {
		defer func() { x.Attempted(j, slot) }()
	}
	c, err := x.Command.Make(j.Items, j.Seq, slot)
	if err != nil {
		x.refuse(j, err)
		return
	}
	c.Nice, c.Stdin = x.Policy.Nice, j.Block
	x.printer.Begin(j, attempts > x.Policy.Retries)
	c.Stdout, c.Stderr = j.Stdout.Writer(), j.Stderr.Writer()
	x.startSaved(ctx, j, c)
	if ctx.Err() != nil && j.Failed() {
		j.Interrupted = true
	}
}

// startSaved starts j, and writes the files of --results.
func (x *Executor) startSaved(ctx context.Context, j *output.Job, c *process.Command) {
	var files *output.ResultFiles
	err := x.retryExhausted(ctx, func() (err error) {
		files, err = x.printer.Save(j, c)
		return err
	})
	if err == nil {
		started := x.Start(ctx, j, c)
		j.Err = cmp.Or(j.Err, started)
	}
	if files != nil {
		if err = files.Close(); err == nil {
			err = x.retryExhausted(ctx, func() error { return files.WriteStatus(j) })
		}
	}
	j.Err = cmp.Or(j.Err, output.ResultError(err))
}

// sayMemory says that no job starts for want of memory.
func (x *Executor) sayMemory(available int64) {
	x.Say(fmt.Sprintf("waiting for memory: %s available, --memfree %s", console.Bytes(float64(available)), x.Policy.MemFree.String()))
}

// refuse fails a job whose command was not found.
func (x *Executor) refuse(j *output.Job, err error) {
	x.printer.Begin(j, true)
	j.Err, j.Exit, j.Final = err, 127, true
	if e, ok := errors.AsType[*console.ExitError](err); ok {
		j.Exit = e.Status
	}
}

// Start starts the process of j and waits for it.
func (x *Executor) Start(ctx context.Context, j *output.Job, c *process.Command) error {
	var p *process.Process
	var stops []func() bool
	c.Stopped = func(it *process.Process) {
		x.console.Message(fmt.Sprintf("job %d is stopped (process %d): perhaps it wants the terminal, which jobs cannot use", j.Seq, it.Pid()))
	}
	started := func(it *process.Process) {
		p = it
		x.Limit.Started(p)
		j.Started(p)
		stops = append(stops, context.AfterFunc(ctx, func() {
			p.Terminate()
			if x.Kill == nil || !errors.Is(context.Cause(ctx), context.Canceled) { // nobody sends a second signal
				time.AfterFunc(process.Grace, p.Kill)
			}
		}))
		if x.Kill != nil {
			stops = append(stops, context.AfterFunc(x.Kill, p.Kill))
		}
		if x.Policy.Timeout > 0 {
			stops = append(stops, time.AfterFunc(x.Policy.Timeout, func() { j.TimeOut(it) }).Stop)
		}
	}
	var got process.Result
	err := x.retryExhausted(ctx, func() (err error) {
		got, err = x.engine.Run(c, started)
		return err
	})
	if err != nil {
		err = startError(err, j)
	}
	for _, stop := range stops {
		stop()
	}
	if p != nil && x.Limit.Finished(p, got) {
		err = errors.Join(err, errKilled)
	}
	if got.Left {
		x.console.Message(fmt.Sprintf("job %d: processes of group %d cannot be ended, and run on", j.Seq, p.Pid()))
	}
	j.Ended(got)
	return err
}

// errKilled is the error of a job, perhaps one whose shell says that all is well.
var errKilled = errors.New("the kernel has killed a process of it: out of memory")

// retryExhausted calls f again while the system lacks processes or descriptors for it, as long as
// other jobs run, and for a while longer.
func (x *Executor) retryExhausted(ctx context.Context, f func() error) error {
	since := time.Now()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := f()
		if err == nil || !isExhausted(err) {
			return err
		}
		if x.Limit.Exhausted() > 0 {
			since = time.Now()
		}
		if time.Since(since) > exhaustedTime {
			x.Fail(console.Failure("no job can be started: " + console.Reason(err)))
			return err
		}
		if sleep(ctx, pause) != nil {
			return err
		}
	}
}

// isExhausted reports whether a process may start later.
func isExhausted(err error) bool {
	for _, e := range []error{syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// startError returns the error of a job that was not started, and sets the exit status that a
// shell would report.
func startError(err error, j *output.Job) error {
	j.Exit = 126
	reason := console.Reason(err)
	if errors.Is(err, os.ErrNotExist) {
		j.Exit = 127
		reason += " (the program has gone, or its loader is missing)"
	}
	return errors.New("cannot be started: " + reason)
}
