package work

import (
	"time"

	"github.com/stint-go/stint/internal/limit"
)

const (
	maxUncounted = 15               // tasks
	maxLate      = time.Millisecond // that short tasks may be uncounted
)

// A tally holds finished tasks of a worker that the limiter's counters lack: an addition a
// task, by all workers, would be slow. Only short tasks are held, so that counts are not late
// by many long ones.
type tally struct {
	tasks, maxTasks int32         // maxTasks may be held
	counted         time.Duration // by limit.Clock, when there was one too many
}

// add adds a finished task.
func (y *tally) add(l *limit.Limiter) {
	y.tasks++
	if y.tasks > y.maxTasks {
		y.full(l)
	}
}

// full counts the tasks, and sets how many are held next by the time these took.
func (y *tally) full(l *limit.Limiter) {
	y.flush(l)
	if l.Counters() == nil {
		y.maxTasks = maxUncounted
		return
	}
	now := limit.Clock()
	if y.counted != 0 && now-y.counted < maxLate {
		y.maxTasks = min(2*y.maxTasks+1, maxUncounted)
	} else {
		y.maxTasks = 0
	}
	y.counted = now
}

// flush counts the tasks.
func (y *tally) flush(l *limit.Limiter) {
	if y.tasks > 0 {
		l.Completed(int(y.tasks))
		y.tasks = 0
	}
}
