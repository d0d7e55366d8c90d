package stint

import (
	"errors"
	"fmt"

	"github.com/stint-go/stint/internal/task"
)

// ErrClosed is the error of a task that a closed Pool or a finished Group does not
// accept, and of calls and groups whose pool was shut down before they were done.
var ErrClosed = errors.New("stint: closed")

// ErrBusy is the error of Limiter.TryDo when it would have to wait.
var ErrBusy = errors.New("stint: busy")

// ErrGoexit is the error of a task that called runtime.Goexit, as testing.T.FailNow
// and SkipNow do.
var ErrGoexit = task.ErrGoexit

// ItemError is the error of one task under KeepGoing, and of one item of First. Each, Map,
// Range, First, EachSeq and the groups return all of them, joined with errors.Join in the
// order of Index. MapSeq yields each in its position.
type ItemError struct {
	Index int   // of the item, or of the task in the order of starting; what else names it belongs in Err
	Err   error // what the task returned, or ErrGoexit
}

// Error returns the index and the text of Err.
func (e *ItemError) Error() string { return fmt.Sprintf("item %d: %v", e.Index, e.Err) }

// Unwrap returns Err.
func (e *ItemError) Unwrap() error { return e.Err }
