package stint

// Stats is the state of a Pool at one instant. Every task that the pool has
// accepted, directly or for a group that runs on it, is in exactly one of Queued,
// Running, Completed and Dropped. A call of Each, Map or Range counts as the
// workers that it has at work, not as its items.
//
// As JSON it is an object with the names of the fields in lower case. The numbers
// are always there; name is left out if the pool has none.
type Stats struct {
	Name      string `json:"name,omitempty"` // as given by the option Name
	Limit     int    `json:"limit"`          // how many tasks may run at once
	Running   int    `json:"running"`        // tasks that have begun and not ended; one that waits for others lets one of them run in its place, which counts too
	Queued    int    `json:"queued"`         // accepted and not yet begun
	Waiting   int    `json:"waiting"`        // submitters that wait for room in a queue
	Workers   int    `json:"workers"`        // goroutines
	Idle      int    `json:"idle"`           // workers that have nothing to do
	Completed uint64 `json:"completed"`      // tasks that have ended, however they did
	Dropped   uint64 `json:"dropped"`        // accepted and never begun: cancelled, or abandoned by Shutdown
}
