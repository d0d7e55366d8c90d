package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// names makes the names of a client's streams and subjects:
//
//	<prefix>-tasks    <prefix>.task.<task>.<run>.<index>   queued and running tasks
//	<prefix>-results  <prefix>.result.<run>.<index>        the first result of each task
//	                  <prefix>.result.<run>.part.<slot>    parts of results, until the submitter has taken them
//	<prefix>-runs     <prefix>.run.<run>                   the record of each run
//	                  <prefix>.alone.<run>.<index>.<mark>  tasks in quarantine
//	<prefix>-dead     <prefix>.dead.<run>.<index>          dead letters: poison tasks
//	                  <prefix>.dead.<stream>.<sequence>    and messages that a stream should not have
//	<prefix>-health   <prefix>.health                      a probe of Status, for a second
//
// Each subject has at most one message. These messages are not stored:
//
//	<prefix>.over.<run>  the run has ended
//	<prefix>.full.<run>  the server has no room for a result of the run
//	<prefix>.workers     a request for the status of all workers
//	<prefix>.status      the status of a worker
type names struct{ prefix string }

func (n names) stream(what string) string { return n.prefix + "-" + what }

func (n names) subject(tokens ...string) string { return n.prefix + "." + strings.Join(tokens, ".") }

// of returns the subject of a task of a run, or of something that belongs to the task.
func (n names) of(what, run string, index int) string {
	return n.prefix + "." + what + "." + run + "." + strconv.Itoa(index)
}

// resultsOf returns the filter of the results of a run, and of their parts.
func (n names) resultsOf(run string) string { return n.subject("result", run, ">") }

// maxDeadLetters is how many dead letters the server keeps.
const maxDeadLetters = 10_000

// syncedKey is in the metadata of a stream whose server syncs what it confirms.
const syncedKey = "stint-synced"

// streams returns the configurations of the streams.
func (c *Client) streams() []jetstream.StreamConfig {
	retention := or(c.conf.retention, defaultRetention)
	all := []jetstream.StreamConfig{{
		Name: c.names.stream("tasks"), Subjects: []string{c.names.subject("task", ">")},
		Retention: jetstream.WorkQueuePolicy, MaxMsgs: int64(or(c.conf.queueLimit, defaultQueueLimit)),
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxAge: retention, MaxBytes: c.streamBytes(16),
	}, {
		Name: c.names.stream("results"), Subjects: []string{c.names.subject("result", ">")},
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxAge: retention, MaxBytes: c.streamBytes(16),
	}, {
		Name: c.names.stream("runs"), Subjects: []string{c.names.subject("run", "*"), c.names.subject("alone", ">")},
		MaxAge: retention, AllowMsgTTL: true, AllowRollup: true, // see replacing
		Discard: jetstream.DiscardNew, MaxBytes: c.streamBytes(4),
	}, {
		Name: c.names.stream("dead"), Subjects: []string{c.names.subject("dead", ">")},
		MaxMsgs: maxDeadLetters, MaxAge: retention, MaxBytes: c.streamBytes(4),
	}, { // a stream of its own, since an Observer may write to it
		Name: c.names.stream("health"), Subjects: []string{c.names.subject("health")}, MaxAge: time.Second, MaxBytes: c.streamBytes(1),
	}}
	for i := range all {
		s := &all[i]
		if !s.AllowRollup {
			s.MaxMsgsPerSubject = 1
		}
		s.Replicas = or(c.conf.replicas, 1)
		s.Duplicates = time.Second // no message has an ID
		s.Description = "of github.com/stint-go/stint/cluster"
		if c.conf.synced {
			s.Metadata = map[string]string{syncedKey: "yes"}
		}
		if c.conf.memory {
			s.Storage = jetstream.MemoryStorage
		}
	}
	return all
}

// or returns v, or byDefault if v is zero.
func or[T comparable](v, byDefault T) T {
	var zero T
	if v == zero {
		return byDefault
	}
	return v
}

// openStreams creates the streams that do not exist, notes all of them, and gives those that
// exist what the client's options say.
func (c *Client) openStreams(ctx context.Context) error {
	return c.eachStream(func(want jetstream.StreamConfig) error {
		return c.request(ctx, func(ctx context.Context) error {
			s, err := c.openStream(ctx, want)
			if err != nil {
				return err
			}
			c.stream[want.Name[len(c.conf.prefix)+1:]] = s
			return c.changeStream(ctx, s.CachedInfo().Config, want)
		})
	})
}

// eachStream calls f, which opens a stream, for each stream, and for all of them again with
// smaller sizes when f returns errHalved.
func (c *Client) eachStream(f func(want jetstream.StreamConfig) error) error {
	c.halved.Store(0)
	all := c.streams()
	for i := 0; i < len(all); i++ {
		err := f(all[i])
		if errors.Is(err, errHalved) {
			all, i = c.streams(), -1
		} else if err != nil {
			return fmt.Errorf("stream %s, one of %d that are needed: %w", all[i].Name, len(all), err)
		}
	}
	return nil
}

// openStream returns a stream, and creates it if it does not exist. It returns errHalved after
// it has halved the sizes of streams. Then a stream that exists and is empty becomes smaller too.
func (c *Client) openStream(ctx context.Context, want jetstream.StreamConfig) (jetstream.Stream, error) {
	s, err := c.js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = c.js.CreateStream(ctx, want)
	} else if err == nil && c.halved.Load() > 0 {
		if have := s.CachedInfo(); have.Config.MaxBytes > want.MaxBytes && have.State.Msgs == 0 && !isForeign(have.Config, want) {
			now := have.Config
			now.MaxBytes = want.MaxBytes
			s, err = c.js.UpdateStream(ctx, now)
		}
	}
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another client was faster
		s, err = c.js.Stream(ctx, want.Name)
	}
	if c.halve(err) {
		return nil, errHalved
	}
	return s, err
}

// isForeign reports whether a stream with the name of one of ours belongs to another program.
func isForeign(have, want jetstream.StreamConfig) bool {
	return len(have.Subjects) == 0 || have.Subjects[0] != want.Subjects[0] || have.Retention != want.Retention
}

// changeStream gives a stream what the client's options say.
func (c *Client) changeStream(ctx context.Context, have, want jetstream.StreamConfig) error {
	isQueue := have.Retention == jetstream.WorkQueuePolicy
	if isForeign(have, want) {
		return errors.New("the stream belongs to another program: choose another Prefix")
	}
	if isQueue && have.Storage == jetstream.FileStorage && have.Replicas == 1 && c.conf.replicas == 0 && have.Metadata[syncedKey] == "" {
		c.conf.log.Warn("cluster: one server stores the queue, and may sync its files late: see sync_interval of the server", "stream", have.Name)
	}
	now := have
	if c.conf.queueLimit != 0 && isQueue {
		now.MaxMsgs = want.MaxMsgs
	}
	if c.conf.retention != 0 {
		now.MaxAge = want.MaxAge
	}
	if c.conf.replicas != 0 {
		now.Replicas = want.Replicas
	}
	if now.MaxMsgs == have.MaxMsgs && now.MaxAge == have.MaxAge && now.Replicas == have.Replicas {
		return nil
	}
	_, err := c.js.UpdateStream(ctx, now)
	return err
}

// maxPulls is how many requests for the tasks with one name may wait at the server.
const maxPulls = 1 << 16

// createConsumer creates the consumer of the tasks with one name, or gives the lease of k to
// it. It never makes a lease shorter: a worker may rely on it. The workers of this client use
// the lease and the batches of the consumer.
func (c *Client) createConsumer(ctx context.Context, k *kind) error {
	return c.request(ctx, func(ctx context.Context) error {
		have, err := c.createConsumerOnce(ctx, k)
		if err == nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.consumers[k.token] = have
		}
		return err
	})
}

// createConsumerOnce returns the configuration of the consumer.
func (c *Client) createConsumerOnce(ctx context.Context, k *kind) (have jetstream.ConsumerConfig, err error) {
	stream, filter := c.names.stream("tasks"), c.names.subject("task", k.token, ">")
	there, err := c.js.Consumer(ctx, stream, k.token)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		there, err = c.js.CreateConsumer(ctx, stream, jetstream.ConsumerConfig{
			Durable:       k.token,
			FilterSubject: filter,
			AckPolicy:     jetstream.AckExplicitPolicy,
			AckWait:       k.lease,
			MaxDeliver:    -1, // with a bound the task would stay in the queue forever
			MaxAckPending: -1,
			MaxWaiting:    maxPulls,
			Description:   k.name,
		})
		if errors.Is(err, jetstream.ErrConsumerExists) { // another client was faster
			there, err = c.js.Consumer(ctx, stream, k.token)
		}
	}
	if err == nil {
		have = there.CachedInfo().Config
	}
	if errors.Is(err, jetstream.ErrNotPullConsumer) || err == nil && (have.AckPolicy != jetstream.AckExplicitPolicy || have.FilterSubject != filter) {
		return have, fmt.Errorf("the consumer %s of the stream %s belongs to another program: remove it", k.token, stream)
	}
	if err == nil && have.AckWait < k.lease {
		have.AckWait = k.lease
		err = uninterrupted(ctx, func(ctx context.Context) error {
			_, err := c.js.UpdateConsumer(ctx, stream, have)
			return err
		})
	}
	return have, err
}

// lease returns the lease of the tasks with one name.
func (c *Client) lease(k *kind) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return or(c.consumers[k.token].AckWait, k.lease)
}

// batch returns how many tasks with one name a request may be for.
func (c *Client) batch(k *kind) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return or(c.consumers[k.token].MaxRequestBatch, math.MaxInt)
}

// limitRunKey is in the metadata of the consumer of a task that has a limit: the key of the run
// whose Limit that is.
const limitRunKey = "stint-limit-run"

// updateLimit gives the consumer of a task the smallest Limit of the runs in progress. own is
// the Limit of the caller's run; 0: none.
//
// Usually it is there. To know that, updateLimit reads the consumer, and if that has a limit,
// the record of one run, however many runs there are.
func (c *Client) updateLimit(ctx context.Context, k *kind, own int) error {
	holds, err := c.limitHolds(ctx, k, own)
	if err != nil || holds {
		return err
	}
	return c.limiting.Do(ctx, func(ctx context.Context) error { // so that one of many runs reads the records
		holds, err := c.limitHolds(ctx, k, own)
		if err != nil || holds {
			return err
		}
		return c.setLimit(ctx, k)
	})
}

// limitHolds reports whether the limit of a consumer is that of a run in progress, and not more
// than own.
func (c *Client) limitHolds(ctx context.Context, k *kind, own int) (bool, error) {
	var have jetstream.ConsumerConfig
	err := c.request(ctx, func(ctx context.Context) error {
		consumer, err := c.stream["tasks"].Consumer(ctx, k.token)
		if err == nil {
			have = consumer.CachedInfo().Config
		}
		return err
	})
	switch {
	case err != nil:
		return false, err
	case have.MaxAckPending < 0:
		return own == 0, nil
	case own > 0 && have.MaxAckPending > own:
		return false, nil
	}
	key := have.Metadata[limitRunKey]
	if !isKey(key) {
		return false, nil
	}
	rec, err := c.read(ctx, nameOf(key))
	return rec != nil && rec.Key == key && rec.Task == k.name && rec.Limit == have.MaxAckPending, err
}

// setLimit reads the records of all runs, and writes the limit.
//
// Several submitters may do this concurrently, each after it has changed a record. Whoever
// writes the limit reads the records again, until they agree with what it wrote: so the last
// write follows the last change.
func (c *Client) setLimit(ctx context.Context, k *kind) error {
	for {
		want, run, err := c.smallestLimit(ctx, k.name)
		if err != nil {
			return err
		}
		if most := c.maxAcks.Load(); most > 0 {
			want = min(want, int(most))
		}
		changed := false
		err = c.request(ctx, func(ctx context.Context) error {
			consumer, err := c.stream["tasks"].Consumer(ctx, k.token)
			if err != nil {
				return err
			}
			config := consumer.CachedInfo().Config
			if config.MaxAckPending == want && config.Metadata[limitRunKey] == run {
				return nil
			}
			changed = true
			config.MaxAckPending, config.Metadata = want, maps.Clone(config.Metadata)
			if config.Metadata == nil {
				config.Metadata = map[string]string{}
			}
			config.Metadata[limitRunKey] = run
			return uninterrupted(ctx, func(ctx context.Context) error {
				_, err := c.stream["tasks"].UpdateConsumer(ctx, config)
				return err
			})
		})
		if most := maxAckPending(err); most > 0 {
			c.maxAcks.Store(most)
			continue
		}
		if err != nil || !changed {
			return err
		}
	}
}

// smallestLimit returns the smallest Limit of the runs of a task, and the key of the latest run
// that has it: it may last longest. The limit is -1 if no run has one.
func (c *Client) smallestLimit(ctx context.Context, task string) (limit int, run string, err error) {
	all, err := c.records(ctx)
	if err != nil {
		return 0, "", err
	}
	var best *record
	for _, r := range all {
		if r.Task != task || r.Limit == 0 {
			continue
		}
		if best == nil || r.Limit < best.Limit || r.Limit == best.Limit && r.Started.After(best.Started) {
			best = r
		}
	}
	if best == nil {
		return -1, "", nil
	}
	return best.Limit, best.Key, nil
}
