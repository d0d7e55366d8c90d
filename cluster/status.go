package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Status is what an engine does, as its server and its workers say.
type Status struct {
	Runs    []RunStatus    `json:"runs"`    // by name
	Tasks   []TaskStatus   `json:"tasks"`   // by name
	Workers []WorkerStatus `json:"workers"` // those that answered in time, by ID
	Aside   []Aside        `json:"aside"`   // what was put aside, the latest first, a hundred at most; nil: not for this user
	Store   string         `json:"store"`   // why the server stores nothing, as when its disk is full; "": it does
}

// RunStatus is one run: a call of Map or MapSeq that has not ended, or whose
// submitter died.
type RunStatus struct {
	Run     string    `json:"run"`     // its Name, or what was made up for one without
	Task    string    `json:"task"`    // the name
	Started time.Time `json:"started"` // by the clock of the submitter
	Limit   int       `json:"limit"`   // the Limit that was given; 0: none
	Waiting int       `json:"waiting"` // tasks that are queued or running
}

// TaskStatus is all the tasks with one name.
type TaskStatus struct {
	Name        string `json:"name"`        // that NewTask was given
	Queued      int    `json:"queued"`      // and not yet given to a worker
	InFlight    int    `json:"inFlight"`    // given to a worker, and not ended
	Redelivered int    `json:"redelivered"` // of those in flight, given not for the first time
	Limit       int    `json:"limit"`       // how many may be in flight; 0: any number
}

// WorkerStatus is one call of Serve.
type WorkerStatus struct {
	ID      string   `json:"id"`      // another one for each call
	Host    string   `json:"host"`    // as the machine calls itself
	PID     int      `json:"pid"`     // of its process
	Tasks   []string `json:"tasks"`   // the names that it runs
	Limit   int      `json:"limit"`   // its slots, at this moment
	Running int      `json:"running"` // tasks that it runs
	Done    int64    `json:"done"`    // tasks that have ended here

	Abandoned int64 `json:"abandoned"` // calls that were left behind, as Timeout says, and have not returned
}

// Aside is a task that was put aside, since workers died of it, or a message in its place, or
// in that of a record, which is none.
type Aside struct {
	ID     string    `json:"id"`     // as Info.ID; of what is no task, where it was and its number there
	Task   string    `json:"task"`   // the name; empty if it is no task
	Reason string    `json:"reason"` // how often it was lost, or what is wrong with it
	Time   time.Time `json:"time"`   // when it was put aside, by the clock of the worker
	Input  []byte    `json:"input"`  // as it was encoded
}

// Status asks the server and the workers what they do. It waits up to half a second
// for workers to answer, so what it says is not of one moment. It stores a message, to
// see whether the server does, which is removed after a second. It returns an error if
// the server does not answer.
func (e *Engine) Status(ctx context.Context) (*Status, error) {
	s := &Status{Runs: []RunStatus{}, Tasks: []TaskStatus{}, Workers: []WorkerStatus{}, Aside: []Aside{}}
	for _, ask := range []func(context.Context, *Status) error{e.askRuns, e.askTasks, e.mayAskAside, e.askWorkers, e.askStore} {
		if err := ask(ctx, s); err != nil {
			return nil, e.gone(fmt.Errorf("cluster: status: %w", err))
		}
	}
	return s, nil
}

func (e *Engine) askRuns(ctx context.Context, s *Status) error {
	all, err := e.records(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		waiting, err := e.subjects(ctx, "tasks", e.names.subject("task", "*", r.Key, "*"))
		if err != nil {
			return err
		}
		s.Runs = append(s.Runs, RunStatus{Run: untoken(r.Run), Task: r.Task, Started: r.Started, Limit: r.Limit, Waiting: len(waiting)})
	}
	slices.SortFunc(s.Runs, func(a, b RunStatus) int { return strings.Compare(a.Run, b.Run) })
	return nil
}

func (e *Engine) askTasks(ctx context.Context, s *Status) error {
	all := e.stream["tasks"].ListConsumers(ctx)
	for c := range all.Info() {
		s.Tasks = append(s.Tasks, TaskStatus{
			Name: untoken(c.Name), Queued: int(c.NumPending), InFlight: c.NumAckPending,
			Redelivered: c.NumRedelivered, Limit: max(c.Config.MaxAckPending, 0),
		})
	}
	slices.SortFunc(s.Tasks, func(a, b TaskStatus) int { return strings.Compare(a.Name, b.Name) })
	return all.Err()
}

// shownAside is how many of the tasks that were put aside a Status has.
const shownAside = 100

func (e *Engine) askAside(ctx context.Context, s *Status) error {
	var info *jetstream.StreamInfo
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		info, err = e.stream["aside"].Info(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for seq := info.State.LastSeq; seq >= info.State.FirstSeq && seq > 0 && len(s.Aside) < shownAside; seq-- {
		m, err := e.stream["aside"].GetMsg(ctx, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		s.Aside = append(s.Aside, e.asideOf(m))
	}
	return nil
}

// mayAskAside asks for what was put aside, unless the server does not let this user read
// that: it has items. Aside is nil then.
func (e *Engine) mayAskAside(ctx context.Context, s *Status) error {
	err := e.ask(ctx, func(ctx context.Context) error {
		s.Aside = []Aside{}
		return e.askAside(ctx, s)
	})
	if errors.Is(err, nats.ErrPermissionViolation) {
		s.Aside, err = nil, nil
	}
	return err
}

// askStore stores a message, which the server removes after a second. It is so large that
// it does not fit into what is left of a file's last page on a full disk.
func (e *Engine) askStore(ctx context.Context, s *Status) error {
	m := nats.NewMsg(e.names.subject("health"))
	m.Data = make([]byte, 16<<10)
	err := e.store(m)
	switch api, refused := errors.AsType[*jetstream.APIError](err); {
	case refused:
		s.Store = api.Description
	case err != nil:
		s.Store = "no answer to what it was sent: " + err.Error()
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// askWorkers asks all workers, and waits for those that answer.
func (e *Engine) askWorkers(ctx context.Context, s *Status) error {
	ctx, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	inbox := e.nc.NewInbox()
	answers, err := e.nc.SubscribeSync(inbox)
	if err != nil {
		return err
	}
	defer answers.Unsubscribe()
	if err := e.nc.PublishRequest(e.names.subject("workers"), inbox, nil); err != nil {
		return err
	}
	for {
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			break // that was all, or nobody listens
		}
		var w WorkerStatus
		if json.Unmarshal(m.Data, &w) == nil {
			s.Workers = append(s.Workers, w)
		}
	}
	slices.SortFunc(s.Workers, func(a, b WorkerStatus) int { return strings.Compare(a.ID, b.ID) })
	return nil
}

const answerTime = 500 * time.Millisecond

// answer tells what this worker does.
func (w *worker) answer(m *nats.Msg) {
	s := WorkerStatus{
		ID: w.id, Host: hostname(), PID: os.Getpid(), Limit: w.pool.Stats().Limit,
		Running: w.leases.count(), Done: w.done.Load(), Abandoned: w.abandoned.Load(),
	}
	for _, h := range w.kinds {
		s.Tasks = append(s.Tasks, h.Name())
	}
	slices.Sort(s.Tasks)
	data, _ := json.Marshal(s) // texts and numbers only
	_ = m.Respond(data)
}
