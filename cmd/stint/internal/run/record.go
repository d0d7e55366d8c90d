package run

import (
	"errors"
	"sync"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/run/output"
	"github.com/stint-go/stint/cmd/stint/internal/trace"
)

// sampleInterval is the time between two samples of the limit.
const sampleInterval = 50 * time.Millisecond

// openTrace creates the file of --trace.
func (r *Runner) openTrace() (err error) {
	if r.Trace == "" {
		return nil
	}
	r.trace, err = trace.Create(r.Trace, r.console, func(err error) { // while no mutex of the Runner is held
		r.mu.Lock()
		r.counts.halting = true
		r.mu.Unlock()
		r.cancel(fileError("--trace", r.Trace, err))
	})
	if err != nil {
		return console.Failure("--trace: " + err.Error())
	}
	return nil
}

// closeLogs closes the files that tell of jobs.
func (r *Runner) closeLogs() error {
	var errs [2]error
	if r.log != nil {
		errs[0] = fileError("--joblog", r.Joblog, r.log.Close())
	}
	if r.trace != nil {
		errs[1] = fileError("--trace", r.Trace, r.trace.Close())
	}
	return errors.Join(errs[:]...)
}

// fileError returns an error of a file as a message.
func fileError(flag, name string, err error) error {
	if err == nil {
		return nil
	}
	return console.Failure(flag + " " + console.Quote(name) + ": " + console.Reason(err))
}

// attempted records an attempt of j that has ended, on a slot of this process or, with 0, elsewhere.
func (r *Runner) attempted(j *output.Job, slot int) {
	a := &trace.Attempt{
		Result: j.Result.Result, Seq: j.Seq, Attempts: j.Attempts, Host: j.Host, Slot: slot, Items: j.Items,
		Command: func() string { return console.Short(r.command.Told(j.Items, j.Seq)) },
	}
	if j.Failed() {
		a.Failure = console.Short(j.Reason())
	}
	r.used.Attempt(a)
	if r.trace != nil {
		r.trace.Attempt(a)
	}
}

// sample records the limit, again and again until stop is called.
func (r *Runner) sample() (stop func()) {
	if r.trace == nil && !r.Summary {
		return func() {}
	}
	look := func() {
		r.mu.Lock()
		running := r.counts.running
		r.mu.Unlock()
		state := r.state()
		r.used.Sample(state)
		if r.trace != nil {
			r.trace.Sample(time.Now(), state, running)
		}
	}
	look()
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(sampleInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				look()
			case <-over:
				look()
				return
			}
		}
	})
	return func() {
		close(over)
		wg.Wait()
	}
}

// printSummary prints what the run took, if that is wanted.
func (r *Runner) printSummary() {
	if !r.Summary {
		return
	}
	wall, cpus := time.Since(r.used.Began), 0
	if !r.Remote {
		cpus = machine.CPUs()
	}
	r.console.Plain("stint: " + r.lastLine(wall) + "\n" + r.used.Lines(wall, cpus))
}
