package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// statusTimeout is how long Status waits for workers.
	statusTimeout = 500 * time.Millisecond

	// answerGap is the time between two answers of a worker. Answers to many who ask at the
	// same moment, each of whom receives all, would otherwise be too many to receive in time.
	answerGap = 50 * time.Millisecond

	// maxStatusLetters is how many dead letters a Status has.
	maxStatusLetters = 100
)

// Status is the state of the server and the workers of a cluster.
type Status struct {
	Runs        []RunStatus    `json:"runs"`        // by name
	Tasks       []TaskStatus   `json:"tasks"`       // by name
	Workers     []WorkerStatus `json:"workers"`     // workers that answered in time, by ID
	DeadLetters []DeadLetter   `json:"deadLetters"` // the latest first, at most a hundred; nil if this user may not read them
	AllDead     int            `json:"allDead"`     // number of all dead letters; see Client.DeadLetters
	Store       string         `json:"store"`       // why the server does not store messages, such as a full disk; empty if it does
}

// RunStatus is the status of a run: a call of Map or MapSeq that has not ended, or whose
// submitter has died.
type RunStatus struct {
	Run     string    `json:"run"`     // Name of the run, or a generated name
	Task    string    `json:"task"`    // name of the task
	Started time.Time `json:"started"` // by the clock of the submitter
	Limit   int       `json:"limit"`   // Limit of the run; 0: none
	Waiting int       `json:"waiting"` // tasks that are queued or running
}

// TaskStatus is the status of all tasks with one name.
type TaskStatus struct {
	Name        string `json:"name"`        // as given to NewTask
	Queued      int    `json:"queued"`      // tasks not yet given to a worker
	InFlight    int    `json:"inFlight"`    // tasks given to a worker, and not finished
	Redelivered int    `json:"redelivered"` // tasks in flight that were given to a worker before
	Limit       int    `json:"limit"`       // how many tasks may be in flight; 0: any number
}

// WorkerStatus is the status of a call of Serve.
type WorkerStatus struct {
	ID        string   `json:"id"`        // of the call of Serve
	Host      string   `json:"host"`      // name of the machine
	PID       int      `json:"pid"`       // of the process
	Tasks     []string `json:"tasks"`     // names of the tasks that it runs
	Limit     int      `json:"limit"`     // number of its slots now
	Running   int      `json:"running"`   // running tasks
	Done      int64    `json:"done"`      // finished tasks
	Abandoned int64    `json:"abandoned"` // calls that were abandoned, see Timeout, and have not returned
}

// Status asks the server and the workers for their state. It waits up to half a second for
// workers, so its parts are not of one moment. To check whether the server stores messages,
// Status stores a message for a second. Status returns an error if the server does not answer.
func (c *Client) Status(ctx context.Context) (*Status, error) {
	return c.status(ctx, c.addRuns, c.addTasks, c.addDeadLetters, c.addWorkers, c.addStore)
}

// Health is Status without Runs, Tasks and DeadLetters. It costs the server less, since it
// reads no record of a run. Submitters call Health while they wait.
func (c *Client) Health(ctx context.Context) (*Status, error) {
	return c.status(ctx, c.addWorkers, c.addStore)
}

func (c *Client) status(ctx context.Context, parts ...func(context.Context, *Status) error) (*Status, error) {
	s := &Status{Runs: []RunStatus{}, Tasks: []TaskStatus{}, Workers: []WorkerStatus{}, DeadLetters: []DeadLetter{}}
	for _, add := range parts {
		if err := add(ctx, s); err != nil {
			return nil, c.orCause(context.Background(), fmt.Errorf("cluster: status: %w", err))
		}
	}
	return s, nil
}

func (c *Client) addRuns(ctx context.Context, s *Status) error {
	all, err := c.records(ctx)
	if err != nil {
		return err
	}
	for _, r := range all {
		waiting, err := c.subjects(ctx, "tasks", c.names.subject("task", "*", r.Key, "*"))
		if err != nil {
			return err
		}
		s.Runs = append(s.Runs, RunStatus{Run: untoken(r.Run), Task: r.Task, Started: r.Started, Limit: r.Limit, Waiting: len(waiting)})
	}
	slices.SortFunc(s.Runs, func(a, b RunStatus) int { return strings.Compare(a.Run, b.Run) })
	return nil
}

func (c *Client) addTasks(ctx context.Context, s *Status) error {
	err := c.request(ctx, func(ctx context.Context) error {
		s.Tasks = []TaskStatus{}
		all := c.stream["tasks"].ListConsumers(ctx)
		for info := range all.Info() {
			s.Tasks = append(s.Tasks, TaskStatus{
				Name: untoken(info.Name), Queued: int(info.NumPending), InFlight: info.NumAckPending,
				Redelivered: info.NumRedelivered, Limit: max(info.Config.MaxAckPending, 0),
			})
		}
		return all.Err()
	})
	slices.SortFunc(s.Tasks, func(a, b TaskStatus) int { return strings.Compare(a.Name, b.Name) })
	return err
}

// addDeadLetters adds the latest dead letters, unless the server does not permit this user
// to read them: they contain items.
func (c *Client) addDeadLetters(ctx context.Context, s *Status) error {
	s.DeadLetters = []DeadLetter{}
	var state jetstream.StreamState
	err := c.request(ctx, func(ctx context.Context) error {
		info, err := c.stream["dead"].Info(ctx)
		if err == nil {
			state = info.State
		}
		return err
	})
	s.AllDead = int(state.Msgs)
	for seq := state.LastSeq; err == nil && seq >= state.FirstSeq && seq > 0 && len(s.DeadLetters) < maxStatusLetters; seq-- {
		err = c.request(ctx, func(ctx context.Context) error { // each by itself: the server may be slow
			m, err := c.stream["dead"].GetMsg(ctx, seq)
			switch {
			case err == nil:
				s.DeadLetters = append(s.DeadLetters, c.parseDeadLetter(m))
			case errors.Is(err, jetstream.ErrMsgNotFound):
				return nil
			}
			return err
		})
	}
	if errors.Is(err, nats.ErrPermissionViolation) {
		s.DeadLetters, err = nil, nil
	}
	return err
}

// addStore stores a message, which the server removes after a second. The message is larger
// than the rest of a file's last page, which a full disk would still take.
func (c *Client) addStore(ctx context.Context, s *Status) error {
	m := nats.NewMsg(c.names.subject("health"))
	m.Data = make([]byte, min(16<<10, c.maxData("health")))
	err := c.connected(ctx, func() error { return c.store(m) })
	switch api, refused := errors.AsType[*jetstream.APIError](err); {
	case refused:
		s.Store = api.Description
	case err != nil:
		s.Store = "no answer to a message: " + err.Error()
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// addWorkers asks all workers, and waits for their answers. There is no reply subject: whoever
// may send to that may send to any. All clients that ask receive all answers.
func (c *Client) addWorkers(ctx context.Context, s *Status) error {
	err := c.connected(ctx, func() error { return c.askWorkers(ctx, s) })
	slices.SortFunc(s.Workers, func(a, b WorkerStatus) int { return strings.Compare(a.ID, b.ID) })
	return err
}

func (c *Client) askWorkers(ctx context.Context, s *Status) error {
	s.Workers = []WorkerStatus{}
	ctx, stop := context.WithTimeout(ctx, statusTimeout)
	defer stop()
	answers, err := c.nc.SubscribeSync(c.names.subject("status"))
	if err != nil {
		return err
	}
	defer answers.Unsubscribe()
	if err := c.nc.Publish(c.names.subject("workers"), nil); err != nil {
		return err
	}
	workers := map[string]WorkerStatus{} // the answers to others too
	for {
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			break // timeout, or there are no workers
		}
		var w WorkerStatus
		if json.Unmarshal(m.Data, &w) == nil {
			workers[w.ID] = w
		}
	}
	s.Workers = slices.AppendSeq(s.Workers, maps.Values(workers))
	return nil
}

// answerStatus sends the status of this worker, but not within answerGap of the answer before:
// then the next answer is for all who ask until it is sent.
func (w *worker) answerStatus(m *nats.Msg) {
	now := time.Now()
	if now.Before(w.answer) {
		return // it is sent later
	}
	w.answer = w.answer.Add(answerGap)
	if w.answer.Before(now) {
		w.answer = now
	}
	time.AfterFunc(w.answer.Sub(now), func() {
		if m.Sub.IsValid() {
			w.sendStatus()
		}
	})
}

func (w *worker) sendStatus() {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	s := WorkerStatus{
		ID: w.id, Host: visible(host), PID: os.Getpid(), Limit: w.pool.Stats().Limit,
		Running: w.leases.count(), Done: w.done.Load(), Abandoned: w.abandoned.Load(),
	}
	for _, h := range w.handlers {
		s.Tasks = append(s.Tasks, h.Name())
	}
	slices.Sort(s.Tasks)
	data, _ := json.Marshal(s) // strings and numbers only
	_ = w.client.nc.Publish(w.client.names.subject("status"), data)
}
