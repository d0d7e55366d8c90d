package run

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
	"github.com/stint-go/stint/cmd/stint/internal/limit"
	"github.com/stint-go/stint/cmd/stint/internal/process"
)

const (
	overloadStatus  = 75          // EX_TEMPFAIL
	overloadRetries = 10          // extra attempts after overloadStatus, unless --retries is given
	overloadDelay   = time.Second // before the first of them, unless --retry-delay is given
	maxRetryDelay   = time.Minute
	exhaustedTime   = 10 * time.Second // for which the system may refuse processes while no other job runs
)

// An executor runs jobs on this machine: those of a run, or one that a worker was given.
type executor struct {
	o       *Options
	command *command
	engine  *process.Engine
	limit   *limit.Limit
	printer *printer
	slots   *slots
	starts  starts

	kill    context.Context // its end kills the jobs that run; nil: they are killed Grace after they were terminated
	stopped func() bool     // no more attempts start
	fail    func(error)     // ends the run: no job can be started
	say     func(string)    // what the user may want to know
	warn    func(string)    // what the user must know
	told    sync.Once       // of exit status 75
}

// close ends what the executor has. No job may be running.
func (x *executor) close() {
	x.limit.Close()
	x.engine.Close()
}

// execute runs j, with as many attempts as it needs.
func (x *executor) execute(ctx context.Context, j *job) {
	slot := x.slots.take()
	defer x.slots.put(slot)
	for {
		x.permitted(ctx, j, slot)
		if !x.again(ctx, j) {
			return
		}
	}
}

// permitted runs an attempt of j with a permit of the limit, or without one if others that
// have them all wait until j has been printed.
func (x *executor) permitted(ctx context.Context, j *job, slot int) {
	started := false
	waiting, stop := x.printer.awaitStart(ctx, j)
	err := x.limit.Run(waiting, func(context.Context) error {
		started = true
		stop()
		x.attempt(ctx, j, slot)
		if j.overloaded() {
			return limit.ErrOverload
		}
		return nil
	})
	stop()
	switch {
	case started:
	case ctx.Err() == nil && errors.Is(err, errTurn):
		x.attempt(ctx, j, slot)
	default: // ctx has ended before the attempt
		j.interrupted = true
	}
}

// overloaded reports whether the job says that too many run.
func (r *result) overloaded() bool { return r.Exit == overloadStatus && r.err == nil && !r.timedOut }

// again waits before another attempt of j, and reports whether there is one.
func (x *executor) again(ctx context.Context, j *job) bool {
	if j.interrupted || !j.failed() || j.final || x.stopped() {
		return false
	}
	extra, delay := x.o.Retries, time.Duration(x.o.RetryDelay)
	if j.overloaded() {
		if !x.o.NoOverload {
			extra = overloadRetries
		}
		delay = cmp.Or(delay, overloadDelay)
	}
	if j.attempts > extra || !x.printer.drop(j) {
		return false
	}
	if j.overloaded() && !x.o.NoOverload {
		x.told.Do(func() { x.sayOverload(j) })
	}
	most := max(maxRetryDelay, delay)
	for n := 1; n < j.attempts && delay > 0 && delay < most; n++ {
		delay = min(2*delay, most)
	}
	if err := sleep(ctx, delay); err != nil {
		j.interrupted = true
		return false
	}
	return true
}

// sayOverload says once that jobs are tried again for a reason that the user may not know.
func (x *executor) sayOverload(j *job) {
	x.say(fmt.Sprintf("job %d ended with status 75, too many jobs: such jobs are tried up to %d times more, after a while", j.seq, overloadRetries))
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
func (x *executor) attempt(ctx context.Context, j *job, slot int) {
	host, attempts := j.host, j.attempts+1
	j.result = result{host: host, attempts: attempts}
	if x.starts.wait(ctx, time.Duration(x.o.Delay)) != nil || x.limit.AwaitMemory(ctx, x.sayMemory) != nil {
		j.interrupted = true
		return
	}
	c, err := x.command.make(j, slot)
	if err != nil {
		x.refuse(j, err)
		return
	}
	c.Dir, c.Nice, c.Stdin = x.o.Dir, x.o.Nice, j.block
	j.last = attempts > x.o.Retries
	x.printer.begin(j)
	c.Stdout, c.Stderr = j.stdout.writer(), j.stderr.writer()
	if err := x.startSaved(ctx, j, c); err != nil && j.err == nil {
		j.err = err
	}
	if ctx.Err() != nil && j.failed() {
		j.interrupted = true
	}
}

// startSaved starts j, and writes the files of --results.
func (x *executor) startSaved(ctx context.Context, j *job, c *process.Command) error {
	var files *resultFiles
	err := x.retryExhausted(ctx, func() (err error) {
		files, err = x.save(j, c)
		return err
	})
	if err != nil {
		return resultError(err)
	}
	err = x.start(ctx, j, c)
	if files == nil {
		return err
	}
	saved := files.close()
	if saved == nil {
		saved = x.retryExhausted(ctx, func() error { return writeStatus(files.dir, j) })
	}
	return errors.Join(err, resultError(saved))
}

// sayMemory says that no job starts for want of memory.
func (x *executor) sayMemory(available int64) {
	x.say(fmt.Sprintf("waiting for memory: %s available, --memfree %s", console.Bytes(float64(available)), x.o.MemFree.String()))
}

// refuse fails a job whose command was not found.
func (x *executor) refuse(j *job, err error) {
	x.printer.begin(j)
	j.err, j.Exit, j.final = err, 127, true
	if e, ok := errors.AsType[*ExitError](err); ok {
		j.Exit = e.Status
	}
}

// start starts the process of j and waits for it.
func (x *executor) start(ctx context.Context, j *job, c *process.Command) error {
	var p *process.Process
	var stops []func() bool
	c.Stopped = func(it *process.Process) {
		x.warn(fmt.Sprintf("job %d is stopped (process %d): perhaps it wants the terminal, which jobs cannot use", j.seq, it.Pid()))
	}
	started := func(it *process.Process) {
		p = it
		x.limit.Started(p)
		j.started(p)
		stops = append(stops, context.AfterFunc(ctx, func() {
			p.Terminate()
			if x.kill == nil || !errors.Is(context.Cause(ctx), context.Canceled) { // nobody sends a second signal
				time.AfterFunc(process.Grace, p.Kill)
			}
		}))
		if x.kill != nil {
			stops = append(stops, context.AfterFunc(x.kill, p.Kill))
		}
		if x.o.Timeout > 0 {
			stops = append(stops, time.AfterFunc(time.Duration(x.o.Timeout), func() { j.timeOut(it) }).Stop)
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
	if p != nil && x.limit.Finished(p, got) {
		err = errors.Join(err, errKilled)
	}
	if got.Left {
		x.warn(fmt.Sprintf("job %d: processes of group %d cannot be ended, and run on", j.seq, p.Pid()))
	}
	j.ended(got)
	return err
}

// errKilled is the error of a job, perhaps one whose shell says that all is well.
var errKilled = errors.New("the kernel has killed a process of it: out of memory")

// retryExhausted calls f again while the system lacks processes or descriptors for it, as long as
// other jobs run, and for a while longer.
func (x *executor) retryExhausted(ctx context.Context, f func() error) error {
	since := time.Now()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		err := f()
		if err == nil || !isExhausted(err) {
			return err
		}
		if x.limit.Exhausted() > 0 {
			since = time.Now()
		}
		if time.Since(since) > exhaustedTime {
			x.fail(console.Failure("no job can be started: " + console.Reason(err)))
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
func startError(err error, j *job) error {
	j.Exit = 126
	reason := console.Reason(err)
	if errors.Is(err, os.ErrNotExist) {
		j.Exit = 127
		reason += " (the program has gone, or its loader is missing)"
	}
	return errors.New("cannot be started: " + reason)
}

// started tells j of its process.
func (j *job) started(p *process.Process) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.process = p
	if j.abandoned != nil {
		p.Kill()
	}
}

// timeOut ends a process of j.
func (j *job) timeOut(p *process.Process) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.process == p && !p.Ended() {
		j.late = true
		p.Terminate()
		time.AfterFunc(process.Grace, p.Kill)
	}
}

// ended takes the result of the process of j.
func (j *job) ended(got process.Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	exit := j.Exit
	j.Result = got
	if got.Start.IsZero() {
		j.Exit = exit // of a process that was not started
	}
	j.timedOut, j.late, j.process = j.late, false, nil
	if j.abandoned != nil {
		j.err = j.abandoned
	}
	j.final = j.abandoned != nil || got.Left
}
