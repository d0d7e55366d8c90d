package run

import (
	"context"
	"sync"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/machine"
	"github.com/stint-go/stint/cmd/stint/internal/run/output"
	"github.com/stint-go/stint/cmd/stint/internal/trace"
)

const (
	firstSample = 10 * time.Millisecond  // between two samples of the limit, at first
	lastSample  = 100 * time.Millisecond // the same, later
)

// openTrace creates the file of --trace.
func (r *Runner) openTrace() (err error) {
	if r.Trace == "" {
		return nil
	}
	r.trace, err = trace.Create(r.Trace, r.console, func(err error) { // while no mutex of the Runner is held
		r.mu.Lock()
		r.counts.halting = true
		r.mu.Unlock()
		r.cancel(r.traceError(err))
	})
	if err != nil {
		return console.Failure("--trace: " + err.Error())
	}
	return nil
}

func (r *Runner) closeTrace() error {
	if r.trace == nil {
		return nil
	}
	if err := r.trace.Close(); err != nil {
		return r.traceError(err)
	}
	return nil
}

func (r *Runner) traceError(err error) error {
	return console.Failure("--trace " + console.Quote(r.Trace) + ": " + console.Reason(err))
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

// sample records the limit again and again, less often in a long run, until stop is called.
func (r *Runner) sample() (stop func()) {
	if r.trace == nil && !r.Summary {
		return func() {}
	}
	look := func() {
		r.mu.Lock()
		running := r.counts.running
		r.mu.Unlock()
		now, state := time.Now(), r.state()
		r.used.Sample(now, state)
		if r.trace != nil {
			r.trace.Sample(now, state, running)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		timer := time.NewTimer(0)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
				look()
				timer.Reset(min(lastSample, max(firstSample, time.Since(r.used.Began)/10)))
			}
		}
	})
	return func() {
		cancel()
		wg.Wait()
		look()
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
