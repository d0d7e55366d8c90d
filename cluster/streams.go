package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
)

// names are those of the streams and subjects of an engine:
//
//	<prefix>-tasks    <prefix>.task.<task>.<run>.<index>   what is queued or running
//	<prefix>-results  <prefix>.result.<run>.<index>        the first result of each
//	<prefix>-runs     <prefix>.run.<run>                   the record of each run
//	                  <prefix>.alone.<run>.<index>         suspects that were begun alone
//	<prefix>-aside    <prefix>.aside.<run>.<index>         poison tasks
//	                  <prefix>.aside.<stream>.<sequence>   what was in a stream and is not what its subject says
//	<prefix>-health   <prefix>.health                      what Status stores, for a second
//
// Each subject has one message at most. Besides, messages that no stream keeps:
//
//	<prefix>.over.<run>  the run has ended
//	<prefix>.full.<run>  the server has no room for a result of the run
//	<prefix>.workers     asks the workers what they do
type names struct{ prefix string }

func (n names) stream(what string) string { return n.prefix + "-" + what }

func (n names) subject(tokens ...string) string { return n.prefix + "." + strings.Join(tokens, ".") }

// of returns the subject of one task of a run, or what belongs to it.
func (n names) of(what, run string, index int) string {
	return n.prefix + "." + what + "." + run + "." + strconv.Itoa(index)
}

// Defaults of what belongs to the streams.
const (
	defaultQueue = 65_536
	defaultKeep  = 24 * time.Hour
	maxAside     = 10_000
)

// streams returns what the streams are made with.
func (e *Engine) streams() []jetstream.StreamConfig {
	keep := e.keep()
	all := []jetstream.StreamConfig{{
		Name: e.names.stream("tasks"), Subjects: []string{e.names.subject("task", ">")},
		Retention: jetstream.WorkQueuePolicy, MaxMsgs: int64(or(e.conf.Queue, defaultQueue)),
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxAge: keep,
	}, {
		Name: e.names.stream("results"), Subjects: []string{e.names.subject("result", ">")},
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxAge: keep,
	}, {
		Name: e.names.stream("runs"), Subjects: []string{e.names.subject("run", "*"), e.names.subject("alone", ">")},
		MaxAge: keep, AllowMsgTTL: true, AllowRollup: true, // see replacing
	}, {
		Name: e.names.stream("aside"), Subjects: []string{e.names.subject("aside", ">")},
		MaxMsgs: maxAside, MaxAge: keep,
	}, { // who may only look stores here: no other stream lets them touch what it has
		Name: e.names.stream("health"), Subjects: []string{e.names.subject("health")}, MaxAge: time.Second,
	}}
	for i := range all {
		c := &all[i]
		if !c.AllowRollup {
			c.MaxMsgsPerSubject = 1
		}
		c.Replicas = or(e.conf.Replicas, 1)
		c.Duplicates = time.Second // of messages with an ID: there are none
		c.Description = "of github.com/stint-go/stint/cluster"
		if e.conf.Synced {
			c.Metadata = map[string]string{synced: "yes"}
		}
		if e.conf.Memory {
			c.Storage = jetstream.MemoryStorage
		}
	}
	return all
}

// synced is in the metadata of a stream whose server syncs what it confirms, so that
// others know that too.
const synced = "stint-synced"

// or returns v, or byDefault if v is zero.
func or[T comparable](v, byDefault T) T {
	var zero T
	if v == zero {
		return byDefault
	}
	return v
}

// createStreams creates the streams that are not there. It is called with change when
// the engine is opened: streams that are there get what the options ask for.
func (e *Engine) createStreams(ctx context.Context, change bool) error {
	for _, want := range e.streams() {
		err := e.ask(ctx, func(ctx context.Context) error {
			s, err := e.js.Stream(ctx, want.Name)
			if errors.Is(err, jetstream.ErrStreamNotFound) {
				s, err = e.js.CreateStream(ctx, want)
			}
			if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another one was faster
				s, err = e.js.Stream(ctx, want.Name)
			}
			if err != nil || !change {
				return err
			}
			e.stream[want.Name[len(e.conf.Prefix)+1:]] = s
			return e.changeStream(ctx, s.CachedInfo().Config, want)
		})
		if err != nil {
			return fmt.Errorf("stream %s: %w", want.Name, err)
		}
	}
	return nil
}

// changeStream gives a stream what the options say, where they say something.
func (e *Engine) changeStream(ctx context.Context, have, want jetstream.StreamConfig) error {
	if len(have.Subjects) == 0 || have.Subjects[0] != want.Subjects[0] || have.Retention != want.Retention {
		return errors.New("belongs to something else: choose another Prefix")
	}
	if have.Retention == jetstream.WorkQueuePolicy && have.Storage == jetstream.FileStorage && have.Replicas == 1 && e.conf.Replicas == 0 && have.Metadata[synced] == "" {
		e.conf.Log.Warn("cluster: the queue is kept by one server, in files that it may write late: see sync_interval of the server", "stream", have.Name)
	}
	now := have
	if e.conf.Queue != 0 && have.Retention == jetstream.WorkQueuePolicy {
		now.MaxMsgs = want.MaxMsgs
	}
	if e.conf.Keep != 0 {
		now.MaxAge = want.MaxAge
	}
	if e.conf.Replicas != 0 {
		now.Replicas = want.Replicas
	}
	if now.MaxMsgs == have.MaxMsgs && now.MaxAge == have.MaxAge && now.Replicas == have.Replicas {
		return nil
	}
	_, err := e.js.UpdateStream(ctx, now)
	return err
}

// createConsumer creates the consumer through which workers get the tasks with one
// name, or gives it the lease of k. A lease is never made shorter: a worker may be there
// that counts on it, and nothing tells whether there is one. The workers of this engine
// go by the one that it has then.
func (e *Engine) createConsumer(ctx context.Context, k *kind) error {
	return e.ask(ctx, func(ctx context.Context) error { return e.createConsumerOnce(ctx, k) })
}

func (e *Engine) createConsumerOnce(ctx context.Context, k *kind) error {
	stream := e.names.stream("tasks")
	c, err := e.js.Consumer(ctx, stream, k.token)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		_, err = e.js.CreateConsumer(ctx, stream, jetstream.ConsumerConfig{
			Durable:       k.token,
			FilterSubject: e.names.subject("task", k.token, ">"),
			AckPolicy:     jetstream.AckExplicitPolicy,
			AckWait:       k.lease,
			MaxDeliver:    -1, // a server that gives up leaves the task in the queue, for nobody
			MaxAckPending: -1,
			MaxWaiting:    maxPulls,
			Description:   k.name,
		})
		if !errors.Is(err, jetstream.ErrConsumerExists) { // another one was faster
			return e.agree(k, k.lease, err)
		}
		c, err = e.js.Consumer(ctx, stream, k.token)
	}
	if errors.Is(err, jetstream.ErrNotPullConsumer) || err == nil && !e.serves(c.CachedInfo().Config, k) {
		return fmt.Errorf("the consumer %s of the stream %s is of somebody else: remove it", k.token, stream)
	}
	if err != nil {
		return err
	}
	have := c.CachedInfo().Config
	if have.AckWait < k.lease {
		have.AckWait = k.lease
		err = through(ctx, func(ctx context.Context) error {
			_, err := e.js.UpdateConsumer(ctx, stream, have)
			return err
		})
	}
	return e.agree(k, have.AckWait, err)
}

// serves reports whether a pull consumer is one that gives the tasks of k to workers.
func (e *Engine) serves(have jetstream.ConsumerConfig, k *kind) bool {
	return have.AckPolicy == jetstream.AckExplicitPolicy && have.FilterSubject == e.names.subject("task", k.token, ">")
}

// agree notes the lease of the tasks with one name, as the server has it, unless that
// failed.
func (e *Engine) agree(k *kind, lease time.Duration, err error) error {
	if err == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.agreed[k.token] = lease
	}
	return err
}

// lease returns what was noted last.
func (e *Engine) lease(k *kind) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	return or(e.agreed[k.token], k.lease)
}

// maxPulls is how many requests for tasks with one name may wait at the server: some
// for each worker.
const maxPulls = 1 << 16

// last returns the last message on a subject, or nil if there is none. The leader of
// the stream is asked: replicas may not know it yet.
func (e *Engine) last(ctx context.Context, stream, subject string) (*jetstream.RawStreamMsg, error) {
	var m *jetstream.RawStreamMsg
	err := e.ask(ctx, func(ctx context.Context) (err error) {
		m, err = e.stream[stream].GetLastMsgForSubject(ctx, subject)
		return err
	})
	if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && m.Subject != subject { // it had a wildcard
		return nil, nil
	}
	return m, err
}

// purge removes what a stream has on a subject, which may have wildcards.
func (e *Engine) purge(ctx context.Context, stream, subject string, opts ...jetstream.StreamPurgeOpt) error {
	return e.ask(ctx, func(ctx context.Context) error {
		return e.stream[stream].Purge(ctx, append(opts, jetstream.WithPurgeSubject(subject))...)
	})
}

// replacing returns a message for the stream of runs, which asks the server to remove the one
// that was there before. With a limit of one message a subject the server would do so by itself,
// but would not write that down: when it is killed it finds the older one again if the
// newer one was removed (nats-server 2.15.2, issue 8505).
func replacing(subject string) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	return m
}

// store publishes a message to a stream, and returns nil when it is there, or was there
// already. What is in its place and not our own is removed.
func (e *Engine) store(m *nats.Msg) error {
	for {
		err := e.storeOnce(m)
		if refused(err) != taken {
			return err
		}
		if there, err := e.displace(m.Subject); there || err != nil {
			return err
		}
	}
}

// displace reports whether a task or a result of our own is on a subject. What is there
// otherwise is removed.
func (e *Engine) displace(subject string) (there bool, err error) {
	ctx, stop := context.WithTimeout(e.life, answerIn)
	defer stop()
	stream := "results"
	if strings.HasPrefix(subject, e.names.subject("task", "")) {
		stream = "tasks"
	}
	m, err := e.last(ctx, stream, subject)
	if m == nil || err != nil || isOwn(m.Header) {
		return m != nil, err
	}
	e.conf.Log.Warn("cluster: a message that is no task or result is removed", "subject", subject)
	if stream == "results" { // a worker may not delete there
		return false, e.purge(ctx, stream, subject, jetstream.WithPurgeSequence(m.Sequence+1))
	}
	err = e.ask(ctx, func(ctx context.Context) error { return e.stream[stream].DeleteMsg(ctx, m.Sequence) }) // see remove
	if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) {                                                  // a worker has put it aside
		err = nil
	}
	return false, err
}

// storeOnce publishes a message to a stream.
func (e *Engine) storeOnce(m *nats.Msg) error {
	answer, err := e.nc.RequestMsg(m, answerIn)
	if err != nil {
		if streamless(err) {
			e.restore(e.life)
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

// remove removes what the stream of tasks has on a subject with wildcards, message by
// message. To purge them all at once would be one request. But a server that purges a
// part of what a consumer has delivered moves what it believes is acknowledged past
// other messages that are not, and never delivers these again (nats-server 2.15.2,
// consumer.purge: adflr becomes that of any message that is gone).
func (e *Engine) remove(ctx context.Context, stream, subject string) error {
	subjects, err := e.subjects(ctx, stream, subject)
	if err != nil {
		return err
	}
	return stint.Each(ctx, slices.Collect(maps.Keys(subjects)), func(ctx context.Context, subject string) error {
		m, err := e.last(ctx, stream, subject)
		if err == nil && m != nil {
			err = e.ask(ctx, func(ctx context.Context) error { return e.stream[stream].DeleteMsg(ctx, m.Sequence) })
		}
		if errors.Is(err, jetstream.ErrMsgDeleteUnsuccessful) { // it was acknowledged meanwhile, unless it is still there
			if m, again := e.last(ctx, stream, subject); m == nil && again == nil {
				return nil
			}
		}
		return err
	}, stint.Limit(removals))
}

// removals is how many messages are removed at once.
const removals = 32
