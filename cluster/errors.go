package cluster

import "errors"

// Errors that errors.Is finds in what calls return, and the causes of task contexts.
var (
	// ErrLeaseLost ends the context of a task whose worker did not reach the server for the
	// length of the lease. Another worker may have the task now.
	ErrLeaseLost = errors.New("cluster: lease lost")

	// ErrCanceled ends the context of a task whose run was cancelled.
	ErrCanceled = errors.New("cluster: run cancelled")

	// ErrPoison means that a task became a dead letter: workers died while they ran it, and
	// the last of them ran nothing else.
	ErrPoison = errors.New("cluster: poison task")

	// ErrTooLarge means that an encoded item or result is larger than the server accepts.
	ErrTooLarge = errors.New("cluster: larger than the server takes")

	// ErrFull means that the server had no room for FullTimeout: in its memory, on its disk
	// or in the limits of the account. The text is the server's.
	ErrFull = errors.New("cluster: the server is full")

	// ErrRunExists means that there is a run with that Name.
	ErrRunExists = errors.New("cluster: there is a run with that name")

	// ErrRunLost means that the server has no such run, or no longer: it was cancelled or
	// resumed elsewhere, or the server has lost its streams.
	ErrRunLost = errors.New("cluster: the server does not know the run")

	// ErrIncomplete is yielded last by Resume when the submitter died before it had submitted
	// all items.
	ErrIncomplete = errors.New("cluster: not all items were submitted")
)
