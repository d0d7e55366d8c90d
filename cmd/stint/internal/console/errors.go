package console

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// An ExitError ends a run with an exit status, after Message unless that is empty.
type ExitError struct {
	Status  int
	Message string
}

// Error returns the message.
func (e *ExitError) Error() string { return e.Message }

// ErrReported ends a run that failed after the reason has been printed.
var ErrReported = Failure("")

// Failure returns an error that ends a run that failed. Its text is the whole message.
func Failure(text string) error { return &ExitError{1, text} }

// WriteError is an error of writing the results.
type WriteError struct{ Err error }

// Error returns the message.
func (e *WriteError) Error() string { return "write error: " + Reason(e.Err) }

// Unwrap returns Err.
func (e *WriteError) Unwrap() error { return e.Err }

// Reason returns the text of err without the operation and the path, which messages
// give themselves. System errors begin with a capital, as in the C library.
func Reason(err error) string {
	var errno syscall.Errno
	var path *fs.PathError
	switch {
	case errors.As(err, &errno):
		s := errno.Error()
		return strings.ToUpper(s[:1]) + s[1:]
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return err.Error()
}
