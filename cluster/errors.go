package cluster

import "errors"

// These are the errors that errors.Is finds in the errors of calls, and the causes of the
// contexts of tasks.
var (
	// ErrLeaseLost ends the context of a task whose worker did not reach the server for the
	// length of the lease. Another worker may have the task now.
	ErrLeaseLost = errors.New("cluster: lease lost")

	// ErrCanceled ends the context of a task whose run was cancelled.
	ErrCanceled = errors.New("cluster: run cancelled")

	// ErrPoison means that a task became a dead letter: workers died while they ran it, and the
	// last of these workers ran nothing else.
	ErrPoison = errors.New("cluster: poison task")

	// ErrTooLarge means that an encoded item or result is larger than the server accepts.
	ErrTooLarge = errors.New("cluster: larger than the server takes")

	// ErrFull means that the server had no room for the time of FullTimeout: in its memory, on
	// its disk or in the limits of the account. The error has the text of the server.
	ErrFull = errors.New("cluster: the server is full")

	// ErrRunExists means that there already is a run with that Name.
	ErrRunExists = errors.New("cluster: there is a run with that name")

	// ErrRunLost means that the server does not know the run. It never existed, was cancelled
	// or resumed elsewhere, or the server has lost its streams.
	ErrRunLost = errors.New("cluster: the server does not know the run")

	// ErrIncomplete is yielded last by Resume when the submitter died before it had submitted
	// all items.
	ErrIncomplete = errors.New("cluster: not all items were submitted")
)
