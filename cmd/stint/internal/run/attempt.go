package run

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// run runs one job, with as many attempts as it needs.
func (r *Runner) run(ctx context.Context, j *job) (*job, error) {
	defer r.ahead.remove(j.size())
	if r.stopped() {
		j.interrupted = true
		return j, nil
	}
	slot := r.slots.take()
	defer r.slots.put(slot)
	r.running(1)
	defer r.running(-1)
	for {
		err := r.limit.Run(ctx, func(ctx context.Context) error {
			r.attempt(ctx, j, slot)
			if j.overloaded() {
				return limit.ErrOverload
			}
			return nil
		})
		if err != nil && !errors.Is(err, limit.ErrOverload) { // ctx has ended before the attempt
			j.interrupted = true
		}
		if !r.again(ctx, j) {
			break
		}
	}
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

// overloaded reports whether the job says that too many run.
func (r *result) overloaded() bool { return r.Exit == overloadStatus && r.err == nil && !r.timedOut }

// again waits before another attempt of j, and reports whether there is one.
func (r *Runner) again(ctx context.Context, j *job) bool {
	if j.interrupted || !j.failed() || j.final || r.stopped() {
		return false
	}
	extra, delay := r.Retries, time.Duration(r.RetryDelay)
	if j.overloaded() && !r.NoOverload {
		extra = overloadRetries
		if delay == 0 {
			delay = overloadDelay
		}
		r.told.Do(func() { r.sayOverload(j) })
	}
	if j.attempts > extra || !r.printer.drop(j) {
		return false
	}
	delay = min(delay<<min(j.attempts-1, 10), maxRetryDelay)
	if err := sleep(ctx, delay); err != nil {
		j.interrupted = true
		return false
	}
	return true
}

// sayOverload says once that jobs are tried again for a reason that the user may not know.
func (r *Runner) sayOverload(j *job) {
	if !r.Quiet && !r.remote {
		r.console.Message(fmt.Sprintf("job %d ended with status 75, too many jobs: such jobs are tried up to %d times more, after a while", j.seq, overloadRetries))
	}
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
func (r *Runner) attempt(ctx context.Context, j *job, slot int) {
	host, attempts := j.host, j.attempts+1
	j.result = result{host: host, attempts: attempts}
	if r.starts.wait(ctx, time.Duration(r.Delay)) != nil || r.limit.AwaitMemory(ctx, r.sayMemory) != nil {
		j.interrupted = true
		return
	}
	c, err := r.command.make(j, slot)
	if err != nil {
		r.refuse(j, err)
		return
	}
	c.Dir, c.Nice, c.Stdin = r.Dir, r.Nice, j.block
	j.last = attempts > r.Retries
	r.printer.begin(j)
	c.Stdout, c.Stderr = j.stdout.writer(), j.stderr.writer()
	files, err := r.save(j, c)
	if err == nil {
		err = r.start(ctx, j, c)
		err = errors.Join(err, files.close(j))
	}
	if err != nil && j.err == nil {
		j.err = err
	}
	if ctx.Err() != nil && j.failed() {
		j.interrupted = true
	}
}

// sayMemory says that no job starts for want of memory.
func (r *Runner) sayMemory(available int64) {
	if !r.Quiet {
		r.console.Message(fmt.Sprintf("waiting for memory: %s available, --memfree %s", console.Bytes(float64(available)), r.MemFree.String()))
	}
}

// refuse fails a job whose command was not found.
func (r *Runner) refuse(j *job, err error) {
	r.printer.begin(j)
	j.err, j.Exit, j.final = err, 127, true
	if e, ok := errors.AsType[*ExitError](err); ok {
		j.Exit = e.Status
	}
}

// start starts the process of j and waits for it.
func (r *Runner) start(ctx context.Context, j *job, c *process.Command) error {
	var p *process.Process
	var stops []func() bool
	started := func(it *process.Process) {
		p = it
		r.limit.Started(p)
		j.started(p)
		stops = append(stops, context.AfterFunc(ctx, func() {
			p.Terminate()
			if r.remote || isOurs(context.Cause(ctx)) {
				time.AfterFunc(process.Grace, p.Kill)
			}
		}), context.AfterFunc(r.kill, p.Kill))
		if r.Timeout > 0 {
			stops = append(stops, time.AfterFunc(time.Duration(r.Timeout), j.timeOut).Stop)
		}
	}
	got, err := r.startable(ctx, j, func() (process.Result, error) { return r.engine.Run(c, started) })
	for _, stop := range stops {
		stop()
	}
	if p != nil {
		r.limit.Finished(p, got)
	}
	j.ended(got)
	return err
}

// isOurs reports whether a run ends for a reason of its own, and not by a signal: then there is
// nobody to send a second one.
func isOurs(cause error) bool {
	_, write := errors.AsType[*console.WriteError](cause)
	_, failure := errors.AsType[console.Failure](cause)
	return write || failure || errors.Is(cause, errHalted)
}

// startable calls start again while the system refuses to start a process, for lack of
// processes or descriptors, as long as other jobs run, and for a while longer.
func (r *Runner) startable(ctx context.Context, j *job, start func() (process.Result, error)) (process.Result, error) {
	since := time.Now()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		got, err := start()
		switch {
		case err == nil:
			return got, nil
		case !isExhausted(err):
			return got, startError(err, j)
		}
		if r.limit.Exhausted() > 0 {
			since = time.Now()
		}
		if time.Since(since) > exhaustedTime {
			r.cancel(console.Failure("no job can be started: " + console.Reason(err)))
			return got, startError(err, j)
		}
		if sleep(ctx, pause) != nil {
			return got, startError(err, j)
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
	if errors.Is(err, os.ErrNotExist) {
		j.Exit = 127
	}
	return errors.New("cannot be started: " + console.Reason(err))
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

// timeOut ends the process of j.
func (j *job) timeOut() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if p := j.process; p != nil && !p.Reaped() {
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
		j.err, j.final = j.abandoned, true
	}
}
