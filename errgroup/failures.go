package errgroup

import (
	"fmt"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/task"
)

// failures holds the failures of a group: of a million failed tasks it keeps two.
type failures struct {
	err      error             // the first error
	panicked *stint.PanicError // the first panic
	more     int               // further panics
}

// add adds the outcome of a failed task. For the first one it returns the cause with which
// to cancel the context.
func (f *failures) add(o task.Outcome) (cause error) {
	if o.Panic == nil {
		err := o.Err
		if o.Goexit {
			err = stint.ErrGoexit
		}
		if f.err == nil {
			f.err = err
		}
		return err
	}
	p := o.Panic.Raised("errgroup: task")
	if f.panicked == nil {
		f.panicked = p
	} else {
		f.more++
	}
	return p
}

// outcome returns the panic and the error of Wait.
func (f *failures) outcome() (panicked *stint.PanicError, err error) {
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
