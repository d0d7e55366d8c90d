package errgroup

import (
	"fmt"
	"sync"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/task"
)

// failures holds the failures of a group: of a million failed tasks it keeps two.
type failures struct {
	mu     sync.Mutex
	err    error        // the first error
	panics *task.Panics // the first panic
	more   int          // further panics
}

// fail records the outcome of a task that did not return nil, and cancels the context if it
// is the first.
func (g *Group) fail(o task.Outcome) {
	if g.failures.Load() == nil {
		g.failures.CompareAndSwap(nil, new(failures))
	}
	f := g.failures.Load()
	if g.cancel != nil && f.isConsequence(o) {
		return
	}
	cause, first := f.add(o, g)
	if first && g.cancel != nil {
		g.cancel(cause) // which may call code of the caller
	}
}

// isConsequence reports whether the error of a task only reports the cancellation after a
// panic, which Wait reports.
func (f *failures) isConsequence(o task.Outcome) bool {
	if o.Err == nil {
		return false
	}
	f.mu.Lock()
	panicked := f.panics.First()
	f.mu.Unlock()
	return panicked != nil && len(task.Besides([]error{o.Err}, "errgroup: error", panicked)) == 0
}

// add adds the outcome of a failed task of g, returns it as an error, and reports whether it is
// the first.
func (f *failures) add(o task.Outcome, g *Group) (cause error, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first = f.err == nil && f.panics == nil
	if o.Panic != nil {
		p := o.Panic.Raised("errgroup: task")
		if f.panics == nil {
			f.panics = f.panics.Add(p, g.waits)
			task.CrashUnraised(g, "errgroup: a Group", f.panics)
		} else {
			f.more++
		}
		return p, first
	}
	err := o.Err
	if o.Goexit {
		err = stint.ErrGoexit
	}
	if f.err == nil {
		f.err = err
	}
	return err, first
}

// first returns the error of Wait. A nil f has none.
func (f *failures) first() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// raise raises the panic, if there is one. No task is active.
func (f *failures) raise() {
	if f == nil || f.panics == nil {
		return
	}
	var others []error
	if f.err != nil {
		others = append(others, f.err)
	}
	if f.more > 0 {
		others = append(others, fmt.Errorf("errgroup: tasks that panicked besides: %d", f.more))
	}
	f.panics.Raise(others...)
}

// waits returns what a panic waits for.
func (g *Group) waits() string {
	return fmt.Sprintf("errgroup.Group.Wait; other tasks that run: %d", slots(g.slots.Load()).active())
}
