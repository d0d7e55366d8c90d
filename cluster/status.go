package cluster

import (
	"context"
	"time"
)

// Status is what an engine does, as its server and its workers say.
type Status struct {
	Runs    []RunStatus    `json:"runs"`    // by name
	Tasks   []TaskStatus   `json:"tasks"`   // by name
	Workers []WorkerStatus `json:"workers"` // those that answered in time, by ID
	Aside   []Aside        `json:"aside"`   // what was put aside, the latest first, a hundred at most
}

// RunStatus is one run: a call of Map or MapSeq that has not ended, or whose
// submitter died.
type RunStatus struct {
	Run     string    `json:"run"`
	Task    string    `json:"task"`
	Started time.Time `json:"started"`
	Limit   int       `json:"limit"`   // the Limit that was given; 0: none
	Waiting int       `json:"waiting"` // tasks that are queued or running
}

// TaskStatus is all the tasks with one name.
type TaskStatus struct {
	Name        string `json:"name"`
	Queued      int    `json:"queued"`      // and not yet given to a worker
	InFlight    int    `json:"inFlight"`    // given to a worker, and not ended
	Redelivered int    `json:"redelivered"` // of those in flight, given not for the first time
	Limit       int    `json:"limit"`       // how many may be in flight; 0: any number
}

// WorkerStatus is one call of Serve.
type WorkerStatus struct {
	ID      string   `json:"id"`
	Host    string   `json:"host"`
	PID     int      `json:"pid"`
	Tasks   []string `json:"tasks"`   // the names that it runs
	Limit   int      `json:"limit"`   // its slots, at this moment
	Running int      `json:"running"` // tasks that it runs
	Done    int64    `json:"done"`    // tasks that have ended here
}

// Aside is a task that was put aside, since workers died of it.
type Aside struct {
	ID     string    `json:"id"` // as Info.ID
	Task   string    `json:"task"`
	Reason string    `json:"reason"`
	Time   time.Time `json:"time"`
	Input  []byte    `json:"input"` // as it was encoded
}

// Status asks the server and the workers what they do. It waits up to half a second
// for workers to answer.
func (e *Engine) Status(ctx context.Context) (*Status, error) { panic("todo") }
