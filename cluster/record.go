package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
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

// isKey reports whether a key has the form of those that newKey makes. What is in a subject in
// the place of one may be anything.
func isKey(key string) bool {
	for _, part := range strings.Split(key, ":") {
		if part == "" || strings.ContainsFunc(part, func(c rune) bool { return c <= ' ' || strings.ContainsRune(".*>", c) }) {
			return false
		}
	}
	return true
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
	m := replacing(e.names.subject("run", r.Run))
	m.Data = data
	opts := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(r.seq)}
	if !r.Named { // nobody can resume it
		opts = append(opts, jetstream.WithMsgTTL(expiry))
	}
	r.unsure.Store(true)
	ack, err := e.js.PublishMsg(ctx, m, opts...)
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
		lost, err := e.forget(ctx, now)
		tried = tried || lost
		switch {
		case err == nil:
			return found, nil
		case !errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful): // otherwise it was written meanwhile, or the answer was lost
			return endUnknown, err
		}
	}
}

// forget removes a record, and reports whether an answer was lost, so that it may be removed
// also if there is an error. The record that it has replaced is there too if the server was
// killed between the two. One without a Name expires.
func (e *Engine) forget(ctx context.Context, r *record) (lost bool, err error) {
	if r.Named {
		if err = e.purge(ctx, "runs", e.names.subject("run", r.Run), jetstream.WithPurgeSequence(r.seq)); err != nil {
			return false, err
		}
	}
	err = e.ask(ctx, func(ctx context.Context) error {
		err := e.stream["runs"].DeleteMsg(ctx, r.seq)
		lost = lost || err != nil && unanswered(err)
		return err
	})
	return lost, err
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

// read returns the record of a run, or nil if there is none. What is in its place and is no
// record is put aside.
func (e *Engine) read(ctx context.Context, run string) (*record, error) {
	m, err := e.last(ctx, "runs", e.names.subject("run", run))
	if m == nil || err != nil {
		return nil, err
	}
	r := &record{seq: m.Sequence}
	err = json.Unmarshal(m.Data, r)
	if err == nil && !r.sound(run) {
		err = errors.New("it is not the record of that run")
	}
	if err != nil {
		e.putAside(ctx, m, err)
		return nil, nil
	}
	return r, nil
}

// sound reports whether the record can be that of a run: anybody may have written it who is
// connected.
func (r *record) sound(run string) bool {
	return r.Run == run && isKey(r.Key) && nameOf(r.Key) == run && r.Task != "" && r.Owner != "" &&
		r.Limit >= 0 && r.Window >= 0 && r.Submitted >= -1
}

// putAside takes a message out of the way that is no record of a run.
func (e *Engine) putAside(ctx context.Context, m *jetstream.RawStreamMsg, why error) {
	seq := strconv.FormatUint(m.Sequence, 10)
	e.conf.Log.Warn("cluster: a message that is no record of a run is put aside", "subject", m.Subject, "error", why)
	reason := fmt.Sprintf("the message on %s is no record of a run: %v", m.Subject, why)
	err := e.store(e.aside("runs", seq, Aside{Reason: reason, Input: m.Data}))
	if err == nil || refused(err) == never {
		ctx, stop := context.WithTimeout(ctx, answerIn)
		defer stop()
		err = errors.Join(err, e.stream["runs"].DeleteMsg(ctx, m.Sequence))
	}
	if err != nil {
		e.conf.Log.Warn("cluster: it could not be kept, or not be removed", "subject", m.Subject, "error", err)
	}
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
	return joined(func(offset int) (map[string]uint64, int, error) { return e.page(ctx, stream, filter, offset) })
}

// joined returns what pages hold together. A page has subjects in their order, from an
// offset on. Messages may come and go between two pages. So that no subject is missed that
// stays, each page begins with the last one of the page before, or before that.
func joined(page func(offset int) (part map[string]uint64, total int, err error)) (map[string]uint64, error) {
	all, last := map[string]uint64{}, ""
	for offset, end := 0, 1; offset < end; {
		part, total, err := page(offset)
		if err != nil {
			return nil, err
		}
		subjects := slices.Sorted(maps.Keys(part))
		if offset > 0 && (len(subjects) == 0 || subjects[0] > last) { // some before were removed
			offset = max(0, offset-stepBack)
			continue
		}
		if len(subjects) == 0 {
			break
		}
		maps.Copy(all, part)
		last = subjects[len(subjects)-1]
		offset, end = offset+max(1, len(subjects)-1), total-1
	}
	return all, nil
}

// stepBack is how much earlier a page begins that did not follow the one before.
const stepBack = 10_000

// page returns subjects of a stream from an offset on, and how many there are in all. The
// client of NATS reads pages too, but does not end when messages come on subjects before
// those that it has seen.
func (e *Engine) page(ctx context.Context, stream, filter string, offset int) (map[string]uint64, int, error) {
	request, _ := json.Marshal(map[string]any{"subjects_filter": filter, "offset": offset}) // a text and a number
	var got subjectsPage
	err := e.ask(ctx, func(context.Context) error {
		long, stop := context.WithTimeout(ctx, atLast) // the server sorts them
		defer stop()
		m, err := e.nc.RequestWithContext(long, "$JS.API.STREAM.INFO."+e.names.stream(stream), request)
		if err != nil {
			return err
		}
		got = subjectsPage{}
		err = json.Unmarshal(m.Data, &got)
		switch {
		case err != nil || got.Error == nil:
			return err
		case got.Error.ErrorCode == jetstream.JSErrCodeStreamNotFound:
			return jetstream.ErrStreamNotFound
		}
		return got.Error
	})
	return got.State.Subjects, got.Total, err
}

// A subjectsPage is what the server answers to page.
type subjectsPage struct {
	Error *jetstream.APIError `json:"error"`
	Total int                 `json:"total"`
	State struct {
		Subjects map[string]uint64 `json:"subjects"`
	} `json:"state"`
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
