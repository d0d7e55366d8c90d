package run

import (
	"fmt"
	"math"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// showProgress shows progress until stop is called, if --progress wants it.
func (r *Runner) showProgress() (stop func()) {
	isShared := r.Ungroup || r.isTyped() || r.log.IsTerminal()
	isFed := r.Progress == "auto" && r.readsStdin() && console.IsPipe(r.std.Stdin)
	line := func() string {
		if isFed && r.count().total < 0 { // what writes to the pipe may write errors to the terminal
			return ""
		}
		return r.progressLine(time.Since(r.used.Began))
	}
	last := func() string {
		if r.Summary { // which says it, too
			return ""
		}
		return r.lastLine(time.Since(r.used.Began))
	}
	return r.console.Follow(r.std.Progress(r.Progress, isShared), line, last)
}

// progressLine returns what is done, what runs, and what is left if the total is known. It is
// ASCII, so that it can be cut anywhere.
func (r *Runner) progressLine(elapsed time.Duration) string {
	c := r.count()
	done := c.succeeded + c.failed
	line := fmt.Sprint(done)
	if c.total >= 0 {
		line = fmt.Sprintf("%d/%d", done, c.total-c.skipped)
	}
	rate := float64(done) / max(elapsed.Seconds(), 1e-3)
	line += fmt.Sprintf(" jobs, %d failed, %d running, %s", c.failed, c.running, console.Rate(rate))
	if left := c.total - c.skipped - done; c.total >= 0 && left > 0 && rate > 0 {
		line += fmt.Sprintf(", %v left", time.Duration(math.Ceil(min(float64(left)/rate, 1e9)))*time.Second)
	}
	if s := r.state(); s.Limit > 0 || r.executor != nil {
		line += fmt.Sprintf("; limit %d", s.Limit)
		if s.Reason != "" {
			line += ": " + s.Reason
		}
	}
	return line
}

// lastLine returns what was done.
func (r *Runner) lastLine(elapsed time.Duration) string {
	c := r.count()
	done := c.succeeded + c.failed
	line := fmt.Sprintf("%d jobs", done)
	if done == 1 {
		line = "1 job"
	}
	if c.failed > 0 {
		line += fmt.Sprintf(", %d failed,", c.failed)
	}
	line += fmt.Sprintf(" in %s, %s", console.Elapsed(elapsed), console.Rate(float64(done)/max(elapsed.Seconds(), 1e-3)))
	if s := r.state(); s.Limit > 0 {
		line += fmt.Sprintf(", limit %d", s.Limit)
	}
	return line
}
