package jobserver

import (
	"context"
	"slices"
	"sync"
)

// A Job has a token while it runs. Between two times that it runs it has none, except as the first
// of those that have begun and not ended. It must be made by NewJob.
type Job struct {
	running bool            // guarded by the mutex of the line
	first   context.Context // ends when the job is the first one
	lead    context.CancelFunc
}

// NewJob returns a job that has not begun.
func NewJob() *Job {
	j := new(Job)
	j.first, j.lead = context.WithCancel(context.Background())
	return j
}

// A line has the jobs that have begun and not ended, in the order in which they began. The first one
// has a token from its begin to its end, so that it never waits for one. Jobs with output in order
// begin in that order, and those that wait until the output of others is printed wait, in the end, for
// the first one: it comes to its end, whoever has the other tokens, and then another one is first.
type line struct {
	turn chan struct{} // has the caller that waits for a token

	mu   sync.Mutex
	jobs []*Job
}

// wait calls take, one caller at a time in the order of the calls, unless j need not wait. take waits
// until it has let j run, and reports false if its context ends first.
func (l *line) wait(ctx context.Context, j *Job, take func(context.Context) bool) error {
	either, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(j.first, cancel)()
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
		if take(either) {
			return nil
		}
	case <-either.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.jobs) == 0 || l.jobs[0] != j {
		return context.Cause(ctx)
	}
	j.running = true
	return nil
}

// Begun returns how many jobs have begun and not ended.
func (l *line) Begun() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.jobs)
}

// begin and end are called with mu held, as those that follow. begin lets j run.
func (l *line) begin(j *Job) {
	j.running = true
	if !slices.Contains(l.jobs, j) {
		l.jobs = append(l.jobs, j)
		l.jobs[0].lead()
	}
}

func (l *line) end(j *Job) {
	l.jobs = slices.DeleteFunc(l.jobs, func(other *Job) bool { return other == j })
	if len(l.jobs) > 0 {
		l.jobs[0].lead()
	}
}

// need returns how many tokens the jobs have, with that of the first one.
func (l *line) need() (n int) {
	for i, j := range l.jobs {
		if i == 0 || j.running {
			n++
		}
	}
	return n
}

// idle reports whether no job runs.
func (l *line) idle() bool {
	return !slices.ContainsFunc(l.jobs, func(j *Job) bool { return j.running })
}
