package auto

import "time"

// A worker reports short tasks in batches, at most once in shortTask. If its tasks
// become long, the first report of a long task is late by up to maxBatch tasks.
const (
	shortTask = 20 * time.Microsecond
	maxBatch  = 128
)

// A Sampler counts the finished tasks of a worker for a Controller. The zero value is
// ready to use. A Sampler is not safe for concurrent use.
type Sampler struct {
	controller *Controller // of the last report
	tasks      int         // not yet reported
	failed     int         // of them
	batch      int         // tasks to report at once
	period     uint32      // of the controller at the last report or Rest; 0: unknown
	last       time.Time   // when that was
}

// Done counts n finished tasks, some of which have failed. It is called while c is Active.
// Failed tasks are reported at once, so that no overloaded task is known before the tasks of
// its worker that were not.
func (s *Sampler) Done(c *Controller, n, failed int) {
	s.failed += failed
	if s.tasks += n; s.tasks >= s.batch || failed > 0 {
		s.report(c)
	}
}

// Rest marks the end of a pause: the worker had nothing to do, or waited for its
// permit. The time of the next task starts now.
func (s *Sampler) Rest() {
	s.period, s.batch = 0, 1
	if s.controller != nil && s.tasks == 0 { // otherwise the time includes tasks from before the pause
		s.period, s.last = s.controller.active.Load(), time.Now()
	}
}

// Start marks the start of a worker's first task, while c is Active.
func (s *Sampler) Start(c *Controller) {
	s.controller, s.period, s.last = c, c.active.Load(), time.Now()
}

// report moves the tasks to the window of c. If they are short and another worker holds
// the lock, they stay for the next report.
func (s *Sampler) report(c *Controller) {
	now, period := time.Now(), c.active.Load()
	timed, took := period != 0 && s.period == period, time.Duration(0)
	if timed {
		took = now.Sub(s.last)
	}
	if timed && took < shortTask {
		s.batch = min(2*s.batch, maxBatch)
		if !c.mu.TryLock() {
			return
		}
	} else {
		s.batch = max(s.batch/2, 1)
		c.mu.Lock()
	}
	c.finishedLocked(s.tasks, s.failed, took)
	c.mu.Unlock()
	s.controller, s.tasks, s.failed, s.last, s.period = c, 0, 0, now, period
}
