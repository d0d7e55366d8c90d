package run

import (
	"fmt"
	"sync"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/process"
)

// A job is one call of the command.
type job struct {
	position int64    // among the jobs of this run, from 0
	seq      int64    // the number, from 1, which counts jobs that --resume skips, too
	items    []string // none with --pipe
	block    []byte   // of the input, with --pipe
	log      string   // the command, as the job log has it

	// The goroutine that runs the job writes these fields, and then the result.
	stdout, stderr *stream // of the present attempt
	whole          bool    // the output is printed when it is complete
	last           bool    // no attempt follows this one
	final          bool    // there is nothing to try again
	sent           int64   // bytes of input
	bytes          int     // as size, while the job is read ahead
	result

	// The mutex of the printer guards these fields.
	began    time.Time // the present attempt
	timer    *time.Timer
	streamed bool // its output was printed while it ran

	mu        sync.Mutex
	process   *process.Process // while it runs
	late      bool             // it was terminated, as its time was over
	abandoned error            // why it was killed
}

// A result says how a job has ended.
type result struct {
	process.Result
	host        string // where it ran; "": here
	attempts    int
	timedOut    bool
	interrupted bool  // by us, as the run ends: the job has no result
	err         error // the job could not be started, or its output not be kept
}

// streams reports whether the output may be printed before the job has ended.
func (j *job) streams() bool { return j.last && !j.whole }

// blocked reports whether the present attempt waits for room for its output. It is called with
// the mutex of the printer held.
func (j *job) blocked() bool {
	return j.stdout.buffer.Blocked() || j.stderr.buffer.Blocked()
}

// abandon kills the job, which fails with err. It is called with the mutex of the printer held,
// so that no other attempt begins.
func (j *job) abandon(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.abandoned == nil {
		j.abandoned = err
		if j.process != nil {
			j.process.Kill()
		}
		for _, s := range []*stream{j.stdout, j.stderr} {
			if s != nil {
				s.discard()
			}
		}
	}
}

// failed reports whether the job has failed.
func (r *result) failed() bool { return r.err != nil || r.timedOut || r.Exit != 0 || r.Signal != 0 }

// status returns the exit status that a shell would report.
func (r *result) status() int {
	switch {
	case r.Signal != 0:
		return 128 + r.Signal
	case r.Exit <= 0 && r.failed():
		return 1
	}
	return r.Exit
}

// reason says how the job has failed.
func (r *result) reason() string {
	switch {
	case r.err != nil:
		return r.err.Error()
	case r.timedOut:
		return fmt.Sprintf("timed out after %v", r.Elapsed.Round(time.Millisecond))
	case r.Signal != 0:
		return fmt.Sprintf("killed by signal %d", r.Signal)
	}
	return fmt.Sprintf("exit status %d", r.Exit)
}

// received returns the bytes that the job has written to its standard output.
func (j *job) received() int64 {
	if j.stdout == nil {
		return 0
	}
	return j.stdout.bytes.Load()
}
