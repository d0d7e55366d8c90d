package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A DeadLetter is a task that was removed from the queue because workers died while they ran
// it, or an invalid message on the subject of a task or a record.
type DeadLetter struct {
	ID     string    `json:"id"`     // as Info.ID; for an invalid message, its stream and sequence
	Task   string    `json:"task"`   // the name of the task; empty for an invalid message
	Reason string    `json:"reason"` // how often the task was lost, or what is wrong with the message
	Time   time.Time `json:"time"`   // by the clock of the worker
	Input  []byte    `json:"input"`  // the encoded item
}

// DeadLetters yields the dead letters that the server keeps, the oldest first. Status has the
// latest dead letters. If the server does not answer before ctx ends, DeadLetters yields an
// error last. It panics if ctx is nil.
func (c *Client) DeadLetters(ctx context.Context) iter.Seq2[DeadLetter, error] {
	if ctx == nil {
		panic("cluster: DeadLetters: nil Context")
	}
	return func(yield func(DeadLetter, error) bool) {
		for seq := uint64(1); ; {
			var m *jetstream.RawStreamMsg
			err := c.request(ctx, func(ctx context.Context) (err error) {
				m, err = c.stream["dead"].GetMsg(ctx, seq, jetstream.WithGetMsgSubject(c.names.subject("dead", ">")))
				return err
			})
			if errors.Is(err, jetstream.ErrMsgNotFound) {
				return
			}
			if err != nil {
				yield(DeadLetter{}, c.orCause(ctx, fmt.Errorf("cluster: dead letters: %w", err)))
				return
			}
			if !yield(c.parseDeadLetter(m), nil) {
				return
			}
			seq = m.Sequence + 1
		}
	}
}

// DropDeadLetter removes the dead letter with that ID. It returns an error if there is no such
// dead letter, or if ctx ends before the server answers. It panics if ctx is nil.
func (c *Client) DropDeadLetter(ctx context.Context, id string) error {
	if ctx == nil {
		panic("cluster: DropDeadLetter: nil Context")
	}
	p, err := c.findDeadLetter(ctx, id)
	if err == nil {
		err = c.purge(ctx, "dead", c.subjectOf(p, "dead"))
	}
	if err != nil {
		return c.orCause(ctx, fmt.Errorf("cluster: drop %q: %w", id, err))
	}
	return nil
}

// RetryDeadLetter puts the task with that ID back into the queue, as a part of its run: the
// result of a worker replaces the error of the task.
//
// This is possible only before the submitter has received the error: the run must have a Name,
// its submitter must have died a minute ago or earlier, and Resume must not have been called
// since. Otherwise RetryDeadLetter changes nothing and returns an error. If the run is over,
// the error wraps ErrRunLost; then submit the item again. RetryDeadLetter panics if ctx is nil.
func (c *Client) RetryDeadLetter(ctx context.Context, id string) error {
	if ctx == nil {
		panic("cluster: RetryDeadLetter: nil Context")
	}
	p, err := c.findDeadLetter(ctx, id)
	if err == nil {
		err = c.retry(ctx, p)
	}
	if err != nil {
		return c.orCause(ctx, fmt.Errorf("cluster: retry %q: %w", id, err))
	}
	return nil
}

// deadLetter returns the message that stores a dead letter.
func (c *Client) deadLetter(key, number string, d DeadLetter) *nats.Msg {
	d.ID, d.Time = key+"/"+number, time.Now().Round(0)
	m := nats.NewMsg(c.names.subject("dead", key, number))
	m.Data, _ = json.Marshal(d) // strings, bytes and a time
	if int64(len(m.Data)) > c.maxData("dead") {
		d.Reason, d.Input = d.Reason+"; its input is too large to be kept here", nil
		m.Data, _ = json.Marshal(d)
	}
	return m
}

// parseDeadLetter returns the dead letter in a message, whose subject has its ID too.
func (c *Client) parseDeadLetter(m *jetstream.RawStreamMsg) (d DeadLetter) {
	err := json.Unmarshal(m.Data, &d)
	id := strings.TrimPrefix(m.Subject, c.names.subject("dead", ""))
	if last := strings.LastIndexByte(id, '.'); last >= 0 {
		id = id[:last] + "/" + id[last+1:]
	}
	if err == nil && d.ID != id {
		err = errors.New("it has another ID")
	}
	if err != nil {
		return DeadLetter{ID: id, Reason: "it cannot be read: " + err.Error(), Time: m.Time, Input: m.Data}
	}
	return d
}

// A storedLetter is a dead letter with the parts of its subject.
type storedLetter struct {
	DeadLetter
	key, index string
}

// subjectOf returns the subject of something that belongs to p.
func (c *Client) subjectOf(p *storedLetter, what ...string) string {
	if p.key != "" { // or it is no task
		what = append(what, p.key)
	}
	return c.names.subject(append(what, p.index)...)
}

// findDeadLetter returns the dead letter with that ID.
func (c *Client) findDeadLetter(ctx context.Context, id string) (*storedLetter, error) {
	none := errors.New("there is no dead letter with that ID")
	slash := strings.LastIndexByte(id, '/')
	if slash == 0 || slash == len(id)-1 || strings.Contains(id, "..") || strings.ContainsAny(id, "*> \t\r\n") {
		return nil, none // not part of a subject, or a wildcard
	}
	p := &storedLetter{key: id[:max(slash, 0)], index: id[slash+1:]}
	m, err := c.last(ctx, "dead", c.subjectOf(p, "dead"))
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, none
	}
	p.DeadLetter = c.parseDeadLetter(m)
	return p, nil
}

// retry puts a task back into the queue. If it fails midway it can be repeated.
func (c *Client) retry(ctx context.Context, p *storedLetter) error {
	task := owned(c.subjectOf(p, "task", tokenOf(p.Task)), p.Input)
	for _, step := range []func() error{
		func() error { return c.checkRetryable(ctx, p) },
		func() error { return c.checkUndelivered(ctx, p) },
		func() error { return c.removePoisonResult(ctx, p, task.Subject) },
		func() error { return c.purge(ctx, "runs", c.subjectOf(p, "alone")+".>") },
		func() error {
			return c.request(ctx, func(context.Context) error { return c.publishStored(task) })
		},
		func() error { return c.checkRetryable(ctx, p) },
	} {
		err := step()
		if errors.Is(err, ErrRunLost) { // also meanwhile: the task was stored after the rest was removed
			return errors.Join(err, c.deleteTasks(ctx, task.Subject))
		}
		if err != nil {
			return err
		}
	}
	return c.purge(ctx, "dead", c.subjectOf(p, "dead"))
}

// checkRetryable returns an error if the run is over or cannot be resumed, or if the item
// is missing.
func (c *Client) checkRetryable(ctx context.Context, p *storedLetter) error {
	_, malformed := strconv.Atoi(p.index)
	if !isKey(p.key) {
		return errors.New("it is no task")
	}
	rec, err := c.read(ctx, nameOf(p.key))
	switch {
	case err != nil:
		return err
	case rec == nil || rec.Key != p.key:
		return fmt.Errorf("%w: it is over: submit the item again", ErrRunLost)
	case !rec.Named:
		return errors.New("its run has no Name, so that nobody can resume it: submit the item again")
	case p.Task == "" || p.Input == nil || malformed != nil:
		return errors.New("its item was not kept")
	}
	return nil
}

// checkUndelivered returns an error if a submitter may have received the result of a task.
func (c *Client) checkUndelivered(ctx context.Context, p *storedLetter) error {
	delivered := false
	err := c.request(ctx, func(ctx context.Context) error {
		all := c.stream["results"].ListConsumers(ctx)
		for consumer := range all.Info() {
			delivered = delivered || consumer.Config.FilterSubject == c.names.resultsOf(p.key)
		}
		return all.Err()
	})
	if delivered {
		return errors.New("its submitter has its error, or died within the last minute: submit the item again when the run is over")
	}
	return err
}

// removePoisonResult removes the result of a task, which has to be ErrPoison.
func (c *Client) removePoisonResult(ctx context.Context, p *storedLetter, task string) error {
	if m, err := c.last(ctx, "tasks", task); m != nil || err != nil {
		return errors.Join(err, errors.New("it is still in the queue"))
	}
	subject := c.subjectOf(p, "result")
	m, err := c.last(ctx, "results", subject)
	if m == nil || err != nil {
		return err
	}
	if o := new(kind).outcome(m.Header, m.Data); isOwn(m.Header) && !errors.Is(o.err, ErrPoison) {
		return errors.New("it has another result")
	}
	return c.purge(ctx, "results", subject)
}
