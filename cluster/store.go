package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
)

// maxRemovals is how many messages are removed concurrently.
const maxRemovals = 32

// last returns the last message on a subject, or nil if there is none. It asks the leader of
// the stream, since replicas may be behind.
func (c *Client) last(ctx context.Context, stream, subject string) (*jetstream.RawStreamMsg, error) {
	var m *jetstream.RawStreamMsg
	err := c.request(ctx, func(ctx context.Context) (err error) {
		m, err = c.stream[stream].GetLastMsgForSubject(ctx, subject)
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && m.Subject != subject { // subject had a wildcard
		return nil, nil
	}
	return m, err
}

// purge removes the messages on a subject, which may have wildcards.
func (c *Client) purge(ctx context.Context, stream, subject string, opts ...jetstream.StreamPurgeOpt) error {
	return c.request(ctx, func(ctx context.Context) error {
		return c.stream[stream].Purge(ctx, append(opts, jetstream.WithPurgeSubject(subject))...)
	})
}

// deleteMsg removes one message.
func (c *Client) deleteMsg(ctx context.Context, stream string, sequence uint64) error {
	return c.request(ctx, func(ctx context.Context) error { return c.stream[stream].DeleteMsg(ctx, sequence) })
}

// deleteTasks removes the tasks on a subject with wildcards, one by one. A purge would be one
// request; but when it removes a part of what a consumer has delivered, the server moves the
// consumer's floor of acknowledged messages past others, and never delivers these again
// (nats-server 2.15.2, consumer.purge).
func (c *Client) deleteTasks(ctx context.Context, filter string) error {
	subjects, err := c.subjects(ctx, "tasks", filter)
	if err != nil {
		return err
	}
	return stint.Each(ctx, slices.Collect(maps.Keys(subjects)), func(ctx context.Context, subject string) error {
		m, err := c.last(ctx, "tasks", subject)
		if err == nil && m != nil {
			err = c.deleteMsg(ctx, "tasks", m.Sequence)
		}
		if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) { // acknowledged meanwhile, or still there
			if m, again := c.last(ctx, "tasks", subject); m == nil && again == nil {
				return nil
			}
		}
		return err
	}, stint.Limit(maxRemovals))
}

// replacing returns a message for the stream of runs that removes the message before it on
// its subject. A limit of one message a subject would do so too, but the server does not
// persist such a removal: after a kill it has the older message again if the newer was
// removed (nats-server 2.15.2, issue 8505).
func replacing(subject string) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	return m
}

// publish calls f, which publishes something for a run, unless the client is closed.
func (c *Client) publish(f func() error) error {
	c.gate.RLock()
	defer c.gate.RUnlock()
	if c.life.Err() != nil {
		return context.Cause(c.life)
	}
	return f()
}

// publishStored publishes a message for a run; it returns nil when the server has it.
func (c *Client) publishStored(m *nats.Msg) error {
	return c.publish(func() error { return c.store(m) })
}

// store publishes a message, and returns nil when the subject has it, or already had a
// message of a stint client. It removes a foreign message from the subject.
func (c *Client) store(m *nats.Msg) error {
	for {
		err := c.storeOnce(m)
		if refusalOf(err) != taken {
			return err
		}
		if there, err := c.removeForeign(m.Subject); there || err != nil {
			return err
		}
	}
}

func (c *Client) storeOnce(m *nats.Msg) error {
	answer, err := c.nc.RequestMsg(m, requestTimeout)
	if err != nil {
		if isStreamGone(err) {
			ctx, stop := context.WithTimeout(c.life, requestTimeout)
			defer stop()
			err = errors.Join(err, c.restore(ctx))
		}
		return err
	}
	if !bytes.Contains(answer.Data, []byte(`"error"`)) { // the usual case, without decoding
		return nil
	}
	var ack struct {
		Error *jetstream.APIError `json:"error"`
	}
	if err := json.Unmarshal(answer.Data, &ack); err != nil {
		return err
	}
	if ack.Error == nil {
		return nil
	}
	return ack.Error
}

// removeForeign reports whether the subject of a task or a result has a message of a stint
// client. It removes another message.
func (c *Client) removeForeign(subject string) (there bool, err error) {
	ctx, stop := context.WithTimeout(c.life, requestTimeout)
	defer stop()
	stream := "results"
	if strings.HasPrefix(subject, c.names.subject("task", "")) {
		stream = "tasks"
	}
	m, err := c.last(ctx, stream, subject)
	if m == nil || err != nil || isOwn(m.Header) {
		return m != nil, err
	}
	c.conf.log.Warn("cluster: a message that is neither task nor result is removed", "subject", subject)
	if stream == "results" { // where the role Worker may only purge
		return false, c.purge(ctx, stream, subject, jetstream.WithPurgeSequence(m.Sequence+1))
	}
	err = c.deleteMsg(ctx, stream, m.Sequence) // see deleteTasks
	if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {
		err = nil // a worker has made it a dead letter
	}
	return false, err
}

// fence returns when the server has stored or refused all tasks that this submitter has
// sent for a run, answered or not: tasks that are stored later could not be removed. The
// server handles messages in order, so fence sends one more, on the subject of a task,
// which the server must refuse.
func (c *Client) fence(ctx context.Context, subject string) error {
	return c.request(ctx, func(ctx context.Context) error {
		_, err := c.js.Publish(ctx, subject, nil, jetstream.WithExpectLastSequence(math.MaxInt64))
		if _, answered := errors.AsType[*jetstream.APIError](err); answered && !isUnanswered(err) {
			return nil // also from a full server
		}
		return err
	})
}

// subjects returns the subjects of a stream that match a filter, with their numbers of messages.
func (c *Client) subjects(ctx context.Context, stream, filter string) (map[string]uint64, error) {
	return joinPages(func(offset int) (map[string]uint64, int, error) { return c.page(ctx, stream, filter, offset) })
}

// pageStepBack is how much earlier a page starts again if it did not overlap the page
// before.
const pageStepBack = 10_000

// joinPages returns the subjects on all pages. A page has subjects in order, from an offset
// on. Messages may be added and removed between two pages. Each page starts with the last
// subject of the page before, or earlier, so that no subject that stays is missed. The NATS
// client reads pages too, but does not end while earlier subjects are added.
func joinPages(page func(offset int) (part map[string]uint64, total int, err error)) (map[string]uint64, error) {
	all, last := map[string]uint64{}, ""
	for offset, end := 0, 1; offset < end; {
		part, total, err := page(offset)
		if err != nil {
			return nil, err
		}
		subjects := slices.Sorted(maps.Keys(part))
		if offset > 0 && (len(subjects) == 0 || subjects[0] > last) { // earlier subjects were removed
			offset = max(0, offset-pageStepBack)
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

// page returns the subjects of a stream from an offset on, and their total number.
func (c *Client) page(ctx context.Context, stream, filter string, offset int) (map[string]uint64, int, error) {
	request, _ := json.Marshal(map[string]any{"subjects_filter": filter, "offset": offset}) // a string and a number
	var got subjectsPage
	err := c.request(ctx, func(context.Context) error {
		slow, stop := context.WithTimeout(ctx, slowTimeout) // the server sorts the subjects
		defer stop()
		m, err := c.nc.RequestWithContext(slow, "$JS.API.STREAM.INFO."+c.names.stream(stream), request)
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

// A subjectsPage is the server's answer to page.
type subjectsPage struct {
	Error *jetstream.APIError `json:"error"`
	Total int                 `json:"total"`
	State struct {
		Subjects map[string]uint64 `json:"subjects"`
	} `json:"state"`
}

// requestBytes bounds the bytes of messages that one request asks the server for: 4 MiB, or
// one message if that may be larger. So the unread messages stay far below the 64 MB at
// which a server drops a client, and do not delay other answers.
func (c *Client) requestBytes() int {
	const overhead = 4096 // subjects, and what the server adds
	return max(4<<20, int(c.nc.MaxPayload())+overhead)
}

// post puts v into a channel of length one, in place of its value.
func post[T any](c chan T, v T) {
	for {
		select {
		case c <- v:
			return
		default:
		}
		select {
		case <-c:
		default:
		}
	}
}

// sleep waits for d. It returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
