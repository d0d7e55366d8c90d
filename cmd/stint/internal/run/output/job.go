// Package output prints what the jobs of a run write, and what became of them.
package output

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/process"
)

// A Job is one call of the command.
type Job struct {
	// The run that reads the input writes these fields.
	Position int64    // among the jobs of this run, from 0
	Seq      int64    // the number, from 1, which counts jobs that --resume skips, too
	Items    []string // none with --pipe
	Block    []byte   // of the input, with --pipe, until the job has ended or was sent
	Sent     int64    // bytes of Block
	Log      string   // the command, as the job log has it
	Ahead    int      // bytes, while the job is read ahead
	Whole    bool     // the output is printed when it is complete; a worker's submitter writes it, too

	// The goroutine that runs the job writes these fields, by Begin the streams.
	Streams      // of the present attempt
	Final   bool // there is nothing to try again
	Result

	last bool // no attempt follows this one

	// The mutex of the printer guards these fields.
	began    time.Time // the present attempt
	timer    *time.Timer
	streamed bool // its output was printed while it ran

	mu        sync.Mutex
	process   *process.Process // while it runs
	late      bool             // it was terminated, as its time was over
	abandoned error            // why it was killed
}

// A Result says how a job has ended.
type Result struct {
	process.Result
	Host        string // where it ran; "": here
	Attempts    int
	TimedOut    bool
	Interrupted bool  // by us, as the run ends: the job has no result
	Err         error // the job could not be started, or its output not be kept
}

// streams reports whether the output may be printed before the job has ended.
func (j *Job) streams() bool { return j.last && !j.Whole }

// abandon kills the job, which fails with err. It is called with the mutex of the printer held,
// so that no other attempt begins.
func (j *Job) abandon(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.abandoned == nil {
		j.abandoned = err
		if j.process != nil {
			j.process.Kill()
		}
		j.Streams.discard()
	}
}

// Started tells j of its process.
func (j *Job) Started(p *process.Process) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.process = p
	if j.abandoned != nil {
		p.Kill()
	}
}

// TimeOut ends a process of j.
func (j *Job) TimeOut(p *process.Process) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.process == p && !p.Ended() {
		j.late = true
		p.Terminate()
		time.AfterFunc(process.Grace, p.Kill)
	}
}

// Ended takes the result of the process of j.
func (j *Job) Ended(got process.Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	exit := j.Exit
	j.Result.Result = got
	if got.Start.IsZero() {
		j.Exit = exit // of a process that was not started
	}
	j.TimedOut, j.late, j.process = j.late, false, nil
	if j.abandoned != nil {
		j.Err = j.abandoned
	}
	j.Final = j.abandoned != nil || got.Left
}

// EndedElsewhere takes the result of j from a worker. Another attempt may still have output.
func (j *Job) EndedElsewhere(got Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Result = got
	j.Err = cmp.Or(j.abandoned, got.Err)
}

// Failed reports whether the job has failed.
func (r *Result) Failed() bool { return r.Err != nil || r.TimedOut || r.Exit != 0 || r.Signal != 0 }

// Status returns the exit status that a shell would report.
func (r *Result) Status() int {
	switch {
	case r.Signal != 0:
		return 128 + r.Signal
	case r.Exit <= 0 && r.Failed():
		return 1
	}
	return r.Exit
}

// Reason says how the job has failed.
func (r *Result) Reason() string {
	switch {
	case r.Err != nil:
		return r.Err.Error()
	case r.TimedOut:
		return fmt.Sprintf("timed out after %v", r.Elapsed.Round(time.Millisecond))
	case r.Signal != 0:
		return fmt.Sprintf("killed by signal %d", r.Signal)
	}
	return fmt.Sprintf("exit status %d", r.Exit)
}
