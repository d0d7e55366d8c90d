package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// A record is what the engine knows of a run. It is there before the first task of the
// run is, and as long as the run. Only the owner writes it.
type record struct {
	Run       string    `json:"run"` // its name, as a token
	Key       string    `json:"key"` // never used again, as a name may be
	Task      string    `json:"task"`
	Owner     string    `json:"owner"` // the submitter
	Started   time.Time `json:"started"`
	Limit     int       `json:"limit,omitempty"` // 0: none
	Window    int       `json:"window"`
	KeepGoing bool      `json:"keepGoing,omitempty"`
	Unordered bool      `json:"unordered,omitempty"`
	Named     bool      `json:"named,omitempty"` // by its caller: it can be resumed, its results are kept
	Submitted int       `json:"submitted"`       // all its items, or -1 while there may be more

	seq    uint64      // of the message that the record was read from or written to
	unsure atomic.Bool // what was written last was not answered: it may still come
}

// newKey returns the key of a run that has that name, or none if it is empty. A key
// has the name in it, so that who knows the key finds the record.
func newKey(name string) string {
	if name == "" {
		return nuid.Next()
	}
	return name + ":" + nuid.Next()
}

// nameOf returns the name of the run with that key.
func nameOf(key string) string {
	name, _, _ := strings.Cut(key, ":")
	return name
}

// runOf returns the name of the run with that key as its caller gave it.
func runOf(key string) string { return untoken(nameOf(key)) }

// write stores the record if the engine has the one that r was read from, or none if
// it is new. Otherwise the error is errMoved.
func (e *Engine) write(ctx context.Context, r *record) error {
	return e.writeFor(ctx, r, e.fullFor())
}

// writeFor is write with how long a server that is full is waited for.
func (e *Engine) writeFor(ctx context.Context, r *record, most time.Duration) error {
	return e.askFor(ctx, most, func(ctx context.Context) error {
		return e.send(func() error { return e.writeOnce(ctx, r) })
	})
}

func (e *Engine) writeOnce(ctx context.Context, r *record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	opts := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(r.seq)}
	if !r.Named { // nobody can resume it
		opts = append(opts, jetstream.WithMsgTTL(expiry))
	}
	r.unsure.Store(true)
	ack, err := e.js.Publish(ctx, e.names.subject("run", r.Run), data, opts...)
	api, answered := errors.AsType[*jetstream.APIError](err)
	r.unsure.Store(err != nil && !answered)
	switch {
	case answered && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant):
		return e.moved(ctx, r)
	case err == nil:
		r.seq = ack.Sequence
	}
	return err
}

// expiry is how long the record of a run without a Name outlives its submitter, who
// writes it again sooner. Its Limit is forgotten with it.
const expiry = time.Minute

// moved returns errMoved, unless the record that is there is what this submitter has
// written, and it was only not told so.
func (e *Engine) moved(ctx context.Context, r *record) error {
	now, err := e.read(ctx, r.Run)
	if err != nil {
		return err
	}
	switch {
	case now == nil:
		return errGone
	case now.Owner != r.Owner || now.Submitted != r.Submitted:
		return errMoved
	}
	r.seq = now.seq
	return nil
}

// An end is what a submitter has found of its record when its run had ended.
type end int

const (
	endUnknown end = iota // the server was not asked, or has not answered
	endTaken              // it is another submitter's
	endAbsent             // it was removed before
	endRemoved            // it was there, and this submitter has removed it
)

// drop removes the record of a run, if it is still that of this submitter. Of several
// submitters one has removed it.
func (e *Engine) drop(ctx context.Context, r *record) (end, error) {
	found, tried := endRemoved, false
	for {
		now, err := e.read(ctx, r.Run)
		switch {
		case err != nil:
			return endUnknown, err
		case r.unsure.Load() && (now == nil || now.Owner != r.Owner):
			found = endAbsent // what was written before it was
			if err = e.overtake(ctx, r); err != nil {
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
		err = e.ask(ctx, func(ctx context.Context) error {
			err := e.stream["runs"].DeleteMsg(ctx, now.seq)
			tried = tried || err != nil && unanswered(err) // perhaps it did
			return err
		})
		switch {
		case err == nil:
			return found, nil
		case !errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful): // otherwise it was written meanwhile, or the answer was lost
			return endUnknown, err
		}
	}
}

// overtake makes sure that what was written of the record and not answered does not come
// any more. The server stores in the order in which it was sent to, but may answer who reads
// before that. So another record is written: the first one is there before it, or is
// refused after it. The caller removes the one that is there.
func (e *Engine) overtake(ctx context.Context, r *record) error {
	other := &record{Run: r.Run, Key: r.Key, Task: r.Task, Owner: r.Owner}
	err := e.ask(ctx, func(ctx context.Context) error { return e.writeOnce(ctx, other) })
	switch err {
	case nil, errMoved:
		r.unsure.Store(false)
		return nil
	case errGone: // on its way between servers, or removed just now: the caller looks again
		return nil
	}
	return err
}

// errMoved says that somebody else has written the record of a run.
var errMoved = errors.New("cluster: the record of the run is another one")

// errGone says that it is not there any more.
var errGone = errors.New("cluster: the record of the run is gone")

// read returns the record of a run, or nil if there is none.
func (e *Engine) read(ctx context.Context, run string) (*record, error) {
	m, err := e.last(ctx, "runs", e.names.subject("run", run))
	if m == nil || err != nil {
		return nil, err
	}
	r := &record{seq: m.Sequence}
	if err := json.Unmarshal(m.Data, r); err != nil {
		return nil, fmt.Errorf("cluster: the record of run %s: %w", run, err)
	}
	return r, nil
}

// records returns those of all runs.
func (e *Engine) records(ctx context.Context) ([]*record, error) {
	subjects, err := e.subjects(ctx, "runs", e.names.subject("run", "*"))
	if err != nil {
		return nil, err
	}
	var all []*record
	for subject := range subjects {
		r, err := e.read(ctx, subject[len(e.names.subject("run", "")):])
		if err != nil {
			return nil, err
		}
		if r != nil {
			all = append(all, r)
		}
	}
	return all, nil
}

// subjects returns the subjects that a stream has messages on, among those that match
// a filter.
func (e *Engine) subjects(ctx context.Context, stream, filter string) (map[string]uint64, error) {
	var info *jetstream.StreamInfo
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		info, err = e.stream[stream].Info(ctx, jetstream.WithSubjectFilter(filter))
		return err
	})
	if err != nil {
		return nil, err
	}
	return info.State.Subjects, nil
}

// balance gives the consumer of a task the smallest limit of the runs under way.
//
// Several submitters may do this at once, each after it has changed a record. Whoever
// writes the limit looks at the records again, until what it wrote is what they say:
// so the last one to write has seen the last change.
func (e *Engine) balance(ctx context.Context, k *kind) error {
	for {
		want, err := e.smallestLimit(ctx, k.name)
		if err != nil {
			return err
		}
		changed := false
		err = e.ask(ctx, func(ctx context.Context) error {
			c, err := e.stream["tasks"].Consumer(ctx, k.token)
			if err != nil || c.CachedInfo().Config.MaxAckPending == want {
				return err
			}
			changed = true
			config := c.CachedInfo().Config
			config.MaxAckPending = want
			return through(ctx, func(ctx context.Context) error {
				_, err := e.stream["tasks"].UpdateConsumer(ctx, config)
				return err
			})
		})
		if err != nil || !changed {
			return err
		}
	}
}

// smallestLimit returns that of the runs of a task; -1 if none has one.
func (e *Engine) smallestLimit(ctx context.Context, task string) (int, error) {
	all, err := e.records(ctx)
	if err != nil {
		return 0, err
	}
	limit := -1
	for _, r := range all {
		if r.Task == task && r.Limit > 0 && (limit < 0 || r.Limit < limit) {
			limit = r.Limit
		}
	}
	return limit, nil
}
