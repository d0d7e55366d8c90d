package stint

import (
	"errors"
	"fmt"
)

// ErrClosed is returned for a task that a closed Pool or an ended Group does not
// take, and by calls and groups whose pool was shut down before their work was
// done.
var ErrClosed = errors.New("stint: closed")

// ErrGoexit is the error of a task that ended by calling runtime.Goexit, as
// testing.T.FailNow and SkipNow do.
var ErrGoexit = errors.New("stint: task called runtime.Goexit")

// ItemError is the error of one task under KeepGoing. Each, Map, Range, EachSeq
// and the groups return all of them, joined in the order of Index: the error then
// has a method Unwrap() []error that gives them one by one. MapSeq yields each at
// its place.
type ItemError struct {
	Index int   // of the item, or of the task in the order of starting; what else names it belongs in Err
	Err   error // what the task returned, or ErrGoexit
}

// Error returns the index and the text of Err.
func (e *ItemError) Error() string { return fmt.Sprintf("item %d: %v", e.Index, e.Err) }

// Unwrap returns Err.
func (e *ItemError) Unwrap() error { return e.Err }
