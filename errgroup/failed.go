package errgroup

import (
	"fmt"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/task"
)

// failed is what went wrong in a group. Of a million tasks that fail it keeps two.
type failed struct {
	err      error             // the first error
	panicked *stint.PanicError // the first panic
	more     int               // further panics
}

// add takes in how a task ended, and returns the cause of the end of the context, if
// this is the first that fails.
func (f *failed) add(o task.Outcome) (cause error) {
	if o.Panic == nil {
		return f.fails(o)
	}
	p := o.Panic.Raised("errgroup: task")
	if f.panicked == nil {
		f.panicked = p
	} else {
		f.more++
	}
	return p
}

// fails is add for a task that did not panic.
func (f *failed) fails(o task.Outcome) error {
	err := o.Err
	if o.Goexit {
		err = stint.ErrGoexit
	}
	if f.err == nil {
		f.err = err
	}
	return err
}

// verdict returns what Wait panics with, unless that is nil, and what it returns.
func (f *failed) verdict() (panicked *stint.PanicError, err error) {
	if f.panicked == nil {
		return nil, f.err
	}
	var others []error
	if f.err != nil {
		others = append(others, f.err)
	}
	if f.more > 0 {
		others = append(others, fmt.Errorf("errgroup: tasks that panicked besides: %d", f.more))
	}
	return task.With(f.panicked, others), f.err
}
