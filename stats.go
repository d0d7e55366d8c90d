package stint

// PoolStats is the state of a Pool at one instant. Every task that the pool has accepted,
// directly or for a group on it, is in exactly one of Queued, Running, Completed and
// Dropped. A call of Each, Map, Range or First on the pool has no such tasks: its running
// workers count in Running, and its items nowhere. Limiter.Stats counts items too: for them,
// give NewPool a Limiter, and call its Stats. Completed, Failed, Dropped and Refused only grow.
// Name is left out of JSON if it is empty.
type PoolStats struct {
	Name      string `json:"name,omitempty"` // as given by the option Name
	Limit     int    `json:"limit"`          // how many tasks may run at once
	Running   int    `json:"running"`        // tasks that have started and not finished; a task that waits and the task on its permit both count
	Queued    int    `json:"queued"`         // accepted and not started
	Waiting   int    `json:"waiting"`        // submitters that wait for room in a queue
	Workers   int    `json:"workers"`        // goroutines
	Idle      int    `json:"idle"`           // workers without a task, or that wait for a permit
	Completed uint64 `json:"completed"`      // tasks that have finished, in any way
	Failed    uint64 `json:"failed"`         // of them: ended in an error, a panic or a Goexit
	Dropped   uint64 `json:"dropped"`        // accepted and never started: cancelled, or abandoned by Shutdown
	Refused   uint64 `json:"refused"`        // not accepted by TryGo, of the pool or a group on it, for want of room
}
