package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// A record describes a run on the server, from before its first task until its end. Only
// the owner writes it.
type record struct {
	Run       string    `json:"run"` // its name, as a token
	Key       string    `json:"key"` // unique, as names are not
	Task      string    `json:"task"`
	Owner     string    `json:"owner"` // the submitter
	Started   time.Time `json:"started"`
	Limit     int       `json:"limit,omitempty"` // 0: none
	Window    int       `json:"window"`
	KeepGoing bool      `json:"keepGoing,omitempty"`
	Unordered bool      `json:"unordered,omitempty"`
	Named     bool      `json:"named,omitempty"` // it can be resumed, and its results are kept
	Submitted int       `json:"submitted"`       // the number of its items, or -1 until all are submitted

	windowBytes int64
	parts       func(Part)
	seq         uint64      // of the message that the record was read from or written to
	unanswered  atomic.Bool // the last write was not answered: the server may still store it
}

var (
	// errMoved says that another submitter has written the record.
	errMoved = errors.New("cluster: the record of the run is another one")

	// errOlder says that the record is an earlier one of the same submitter.
	errOlder = errors.New("cluster: the record of the run is an older one")

	// errGone says that the record was removed.
	errGone = errors.New("cluster: the record of the run is gone")
)

// newKey returns the key of a run with that name, or without one. It contains the name, so
// that the key leads to the record.
func newKey(name string) string {
	if name == "" {
		return nuid.Next()
	}
	return name + ":" + nuid.Next()
}

// isKey reports whether key has the form of newKey's results. Other clients may publish on
// subjects with other keys.
func isKey(key string) bool {
	for _, part := range strings.Split(key, ":") {
		if part == "" || strings.ContainsFunc(part, func(c rune) bool { return c <= ' ' || strings.ContainsRune(".*>", c) }) {
			return false
		}
	}
	return true
}

// nameOf returns the name of the run with that key, as a token.
func nameOf(key string) string {
	name, _, _ := strings.Cut(key, ":")
	return name
}

// runOf returns the name of the run with that key, as its caller gave it.
func runOf(key string) string { return untoken(nameOf(key)) }

// write stores the record in place of the record that r was read from, or as a new one. It
// returns errMoved or errGone if the server has another record or none.
func (c *Client) write(ctx context.Context, r *record, fullTimeout time.Duration) error {
	return c.requestFor(ctx, fullTimeout, func(ctx context.Context) error {
		return c.publish(func() error { return c.writeOnce(ctx, r) })
	})
}

func (c *Client) writeOnce(ctx context.Context, r *record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	m := replacing(c.names.subject("run", r.Run))
	m.Data = data
	opts := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(r.seq)}
	if !r.Named { // nobody can resume it
		opts = append(opts, jetstream.WithMsgTTL(c.conf.recordExpiry()))
	}
	r.unanswered.Store(true)
	ack, err := c.js.PublishMsg(ctx, m, opts...)
	api, answered := errors.AsType[*jetstream.APIError](err)
	r.unanswered.Store(err != nil && !answered)
	switch {
	case answered && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant):
		if err = c.moved(ctx, r); err == errOlder {
			return c.writeOnce(ctx, r)
		}
		return err
	case err == nil:
		r.seq = ack.Sequence
	}
	return err
}

// recordExpiry is how long the record of a run without a Name outlives its last heartbeat.
func (c *config) recordExpiry() time.Duration { return 4 * c.heartbeat }

// moved returns why the server has another record than the one that r was read from or written
// to: errMoved, errGone, or errOlder, which can be replaced. It returns nil if this submitter
// has written r without getting an answer.
func (c *Client) moved(ctx context.Context, r *record) error {
	now, err := c.read(ctx, r.Run)
	if err != nil {
		return err
	}
	switch {
	case now == nil:
		return errGone
	case now.Owner != r.Owner:
		return errMoved
	}
	r.seq = now.seq
	if now.Submitted != r.Submitted {
		return errOlder
	}
	return nil
}

// An end says in which state a submitter found the record after its run had ended.
type end int

const (
	endUnknown end = iota // the server was not asked, or has not answered
	endTaken              // it is another submitter's
	endAbsent             // it was removed before
	endRemoved            // this submitter has removed it
)

// dropRecord removes the record of a run, if it is still this submitter's. Of several
// submitters one gets endRemoved.
func (c *Client) dropRecord(ctx context.Context, r *record) (end, error) {
	found, tried := endRemoved, false
	for {
		now, err := c.read(ctx, r.Run)
		switch {
		case err != nil:
			return endUnknown, err
		case r.unanswered.Load() && (now == nil || now.Owner != r.Owner):
			found = endAbsent // the record before that write was removed
			if err = c.supersede(ctx, r); err != nil {
				return endUnknown, err
			}
			continue
		case now == nil && !tried:
			return endAbsent, nil
		case now == nil:
			return found, nil
		case now.Key != r.Key: // another run of that name
			return endAbsent, nil
		case now.Owner != r.Owner:
			return endTaken, nil
		}
		unanswered, err := c.deleteRecord(ctx, now)
		tried = tried || unanswered
		switch {
		case err == nil:
			return found, nil
		case !errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful): // not written meanwhile, nor deleted without an answer
			return endUnknown, err
		}
	}
}

// deleteRecord removes a record, and the record that it has replaced, which remains if the
// server was killed between the two. It reports whether a request was unanswered, so that
// the record may be gone despite an error.
func (c *Client) deleteRecord(ctx context.Context, r *record) (unanswered bool, err error) {
	if r.Named { // other records expire
		if err = c.purge(ctx, "runs", c.names.subject("run", r.Run), jetstream.WithPurgeSequence(r.seq)); err != nil {
			return false, err
		}
	}
	err = c.request(ctx, func(ctx context.Context) error {
		err := c.stream["runs"].DeleteMsg(ctx, r.seq)
		unanswered = unanswered || err != nil && isUnanswered(err)
		return err
	})
	return unanswered, err
}

// supersede makes sure that the server no longer stores an unanswered write of the record.
// The server stores messages in the order in which they were sent, but may answer a reader
// earlier. So supersede writes another record: the unanswered write is stored before it, or
// refused after it. The caller then removes the stored record.
func (c *Client) supersede(ctx context.Context, r *record) error {
	other := &record{Run: r.Run, Key: r.Key, Task: r.Task, Owner: r.Owner}
	err := c.request(ctx, func(ctx context.Context) error { return c.writeOnce(ctx, other) })
	switch err {
	case nil, errMoved:
		r.unanswered.Store(false)
		return nil
	case errGone: // not replicated yet, or just removed: the caller reads again
		return nil
	}
	return err
}

// read returns the record of a run, or nil if there is none. A message in its place that is
// not a record becomes a dead letter. It may hide the record: the stream keeps what a message
// does not replace. So read looks again, until it has a record, or cannot remove the message.
func (c *Client) read(ctx context.Context, run string) (*record, error) {
	for removed := uint64(0); ; {
		m, err := c.last(ctx, "runs", c.names.subject("run", run))
		if m == nil || err != nil {
			return nil, err
		}
		r, err := parseRecord(m, run)
		if err == nil {
			return r, nil
		}
		if m.Sequence == removed {
			return nil, nil
		}
		c.rejectRecord(ctx, m, err)
		removed = m.Sequence
	}
}

// parseRecord returns the record of a run that a message has.
func parseRecord(m *jetstream.RawStreamMsg, run string) (*record, error) {
	r := &record{seq: m.Sequence}
	if err := json.Unmarshal(m.Data, r); err != nil {
		return nil, err
	}
	if !r.isValid(run) {
		return nil, errors.New("it is not the record of that run")
	}
	return r, nil
}

// isValid reports whether the record can be that of a run. Every client may write records.
func (r *record) isValid(run string) bool {
	return r.Run == run && isKey(r.Key) && nameOf(r.Key) == run && r.Task != "" && r.Owner != "" &&
		r.Limit >= 0 && r.Window >= 0 && r.Submitted >= -1
}

// rejectRecord makes a message in the place of a record a dead letter.
func (c *Client) rejectRecord(ctx context.Context, m *jetstream.RawStreamMsg, why error) {
	c.conf.log.Warn("cluster: a message is not the record of a run: it becomes a dead letter", "subject", m.Subject, "error", why)
	reason := fmt.Sprintf("the message on %q is not the record of a run: %v", m.Subject, why)
	err := c.store(c.deadLetter("runs", strconv.FormatUint(m.Sequence, 10), DeadLetter{Reason: reason, Input: m.Data}))
	if err == nil || refusalOf(err) == tooLarge {
		ctx, stop := context.WithTimeout(ctx, requestTimeout)
		defer stop()
		err = errors.Join(err, c.stream["runs"].DeleteMsg(ctx, m.Sequence))
	}
	if err != nil {
		c.conf.log.Warn("cluster: the dead letter was not stored, or the message not removed", "subject", m.Subject, "error", err)
	}
}

// records returns the records of all runs.
func (c *Client) records(ctx context.Context) ([]*record, error) {
	subjects, err := c.subjects(ctx, "runs", c.names.subject("run", "*"))
	if err != nil {
		return nil, err
	}
	var all []*record
	for subject := range subjects {
		r, err := c.read(ctx, subject[len(c.names.subject("run", "")):])
		if err != nil {
			return nil, err
		}
		if r != nil {
			all = append(all, r)
		}
	}
	return all, nil
}
