package stint

// Stats is the state of a Pool at one instant. Every task that the pool has
// accepted, directly or for a group that runs on it, is in exactly one of Queued,
// Running, Completed and Dropped. A call of Each, Map or Range counts as the
// workers that it has at work, not as its items.
type Stats struct {
	Name      string // as given by the option Name
	Limit     int    // how many tasks may run at once
	Running   int    // tasks that have begun and not ended; one that waits for others lets one of them run in its place, which counts too
	Queued    int    // accepted and not yet begun
	Waiting   int    // submitters that wait for room in a queue
	Workers   int    // goroutines
	Idle      int    // workers that have nothing to do
	Completed uint64 // tasks that have ended, however they did
	Dropped   uint64 // accepted and never begun: cancelled, or abandoned by Shutdown
}
