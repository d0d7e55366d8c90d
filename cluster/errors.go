package cluster

import "errors"

var (
	// ErrLeaseLost is the cause that ends the context of a task whose worker did not
	// reach the server for the length of the lease: another worker may have it now.
	ErrLeaseLost = errors.New("cluster: lease lost")

	// ErrCanceled is the cause that ends the context of a task whose run was cancelled.
	ErrCanceled = errors.New("cluster: run cancelled")

	// ErrPoison is found by errors.Is in the error of a task that was put aside:
	// its workers died while they ran it, at last one that ran nothing else.
	ErrPoison = errors.New("cluster: poison task")

	// ErrTooLarge is found by errors.Is in the error for an item or a result that
	// is larger, encoded, than the server takes.
	ErrTooLarge = errors.New("cluster: larger than the server takes")

	// ErrFull is found by errors.Is in the error of a call that the server has not had room
	// for, in its memory, on its disk or in the limits of the account, for half a
	// minute. The text is the server's.
	ErrFull = errors.New("cluster: the server is full")

	// ErrRunExists is found by errors.Is in the error of a call with a Name that a
	// run has already.
	ErrRunExists = errors.New("cluster: there is a run with that name")

	// ErrRunLost is found by errors.Is in the error of a call whose run the server
	// does not know, or no longer: it was cancelled or resumed elsewhere, or the server
	// has lost its streams.
	ErrRunLost = errors.New("cluster: the server does not know the run")

	// ErrIncomplete is found by errors.Is in the error that Resume yields last when
	// the submitter died before it had submitted all its items.
	ErrIncomplete = errors.New("cluster: not all items were submitted")
)
