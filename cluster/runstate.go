package cluster

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// runStates caches, at a worker, whether the runs of its tasks are still in progress.
//
// The end of a run is announced to the connected workers. Other workers find that the
// record is gone: they read it for the first task of a run, and again when the cached state
// is old or after a reconnection.
//
// The record of a submitter that is killed or cut off expires; a submitter that was cut off
// writes it again. So a run without a record is first missing: its tasks are not started,
// and running tasks continue. After a heartbeat it is over.
type runStates struct {
	client  *Client
	leases  *leases
	sub     *nats.Subscription
	ended   sync.WaitGroup
	life    context.Context // ends with close
	end     context.CancelFunc
	leaving chan struct{}      // closed when the worker takes no more tasks and its slots are done
	purged  chan time.Duration // a worker purges, and no other needs to for that time
	read    func(ctx context.Context, run string) (*record, error)

	mu    sync.Mutex
	cache map[string]cachedState // by key
}

// A cachedState is the state of a run when its record was last read.
type cachedState struct {
	state      state
	reconnects uint64    // of the connection, before the read
	readAt     time.Time // or another caller is reading
	since      time.Time // when it was first missing
}

type state int

const (
	unknown state = iota
	live
	missing
	over // forever
)

const (
	// purgePerSubject stretches the time between two purges when there are very many
	// subjects, to twenty times what the server needs: 12 s for 700,000.
	purgePerSubject = 300 * time.Microsecond
	maxPurgePause   = time.Hour

	// maxCachedRuns is how many runs are cached before all are dropped.
	maxCachedRuns = 10_000

	// purgeKey stands in the place of a key in the announcement of a purge.
	purgeKey = "purge"
)

// cacheExpiry is how long a run counts as live without another read.
func (c *config) cacheExpiry() time.Duration { return 2 * c.heartbeat }

// purgeEvery is how often the workers of a cluster purge, all together.
func (c *config) purgeEvery() time.Duration { return 4 * c.heartbeat }

func newRunStates(c *Client, s *leases) *runStates {
	v := &runStates{client: c, leases: s, leaving: make(chan struct{}), purged: make(chan time.Duration, 1), read: c.read, cache: map[string]cachedState{}}
	v.life, v.end = context.WithCancel(c.life)
	return v
}

// open subscribes to the ends of runs, and starts the background work.
func (v *runStates) open() (err error) {
	v.sub, err = v.client.nc.Subscribe(v.client.names.subject("over", "*"), v.onOver)
	if err == nil {
		v.ended.Go(v.watch)
		v.ended.Go(v.purge)
	}
	return err
}

// onOver is called when a run has ended, or another worker purges.
func (v *runStates) onOver(m *nats.Msg) {
	key, text := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], string(m.Data)
	switch {
	case key == purgeKey:
		pause, _ := time.ParseDuration(text) // zero if malformed
		post(v.purged, min(max(pause, v.client.conf.purgeEvery()), maxPurgePause))
	case text == cancelled || text == completed:
		wasLive := v.state(key) == live
		v.setOver(key)
		if wasLive && text == cancelled {
			v.removeResults(key)
		}
	}
}

// setOver records that a run has ended, and ends the contexts of its tasks.
func (v *runStates) setOver(key string) {
	v.set(key, over, 0, time.Now())
	v.leases.interrupt(ErrCanceled, func(l *lease) bool { return l.key == key })
}

// removeResults removes results of a run that is over. This worker may have stored one after
// the submitter's cleanup.
func (v *runStates) removeResults(key string) {
	if err := v.client.purge(v.life, "results", v.client.names.resultsOf(key)); err != nil {
		v.client.conf.log.Warn("cluster: results of a cancelled run could not be removed", "run", runOf(key), "error", err)
	}
}

// set caches the state of a run as it was read at some time between asked and now, and returns
// its state, which depends on the cached one. A run is over if its record was missing when a
// read ended and when one began a heartbeat later: an answer that waited here, while the
// worker was busy or paused, says nothing about that time.
func (v *runStates) set(key string, read state, reconnects uint64, asked time.Time) state {
	now := time.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.cache) >= maxCachedRuns {
		clear(v.cache)
	}
	before := v.cache[key]
	s := cachedState{read, reconnects, now, now}
	if read == missing && before.state == missing {
		s.since = before.since
	}
	if before.state == over || s.state == missing && asked.Sub(s.since) >= v.client.conf.heartbeat {
		s.state = over
	}
	v.cache[key] = s
	return s.state
}

// state returns the cached state of a run.
func (v *runStates) state(key string) state {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.cache[key].state
}

// isFresh reports whether the record need not be read.
func (s cachedState) isFresh(conf *config, reconnects uint64, now time.Time) bool {
	switch s.state {
	case over:
		return true
	case missing:
		return now.Sub(s.readAt) < conf.checkEvery()/2
	case live: // its end may have been announced between two connections
		return s.reconnects == reconnects && now.Sub(s.readAt) < conf.cacheExpiry()
	}
	return false
}

// lookup returns the state of a run. If the cached state is old, one caller reads the record;
// concurrent callers use the cached state, unless the connection was made again since.
func (v *runStates) lookup(ctx context.Context, key string) (state, error) {
	reconnects, asked := v.client.nc.Stats().Reconnects, time.Now()
	v.mu.Lock()
	cached, ok := v.cache[key]
	fresh := cached.isFresh(&v.client.conf, reconnects, asked)
	if ok && !fresh {
		cached.readAt = asked
		v.cache[key] = cached
	}
	v.mu.Unlock()
	if fresh {
		return cached.state, nil
	}
	rec, err := v.read(ctx, nameOf(key))
	switch {
	case err != nil:
		return unknown, err
	case rec == nil:
		return v.set(key, missing, reconnects, asked), nil
	case rec.Key != key: // another run of that name
		return v.set(key, over, reconnects, asked), nil
	}
	return v.set(key, live, reconnects, asked), nil
}

// awaitOver waits until a missing run is over, and returns true. It returns false if the run
// is live again, the worker leaves, or ctx has ended.
func (v *runStates) awaitOver(ctx context.Context, key string) bool {
	for v.state(key) == missing {
		select {
		case <-time.After(v.client.conf.checkEvery() / 5): // watch reads the record
		case <-v.leaving:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return v.state(key) == over
}

// watch checks the runs of held tasks, and the missing runs, until close.
func (v *runStates) watch() {
	tick := time.NewTicker(v.client.conf.checkEvery())
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-v.life.Done():
			return
		}
		keys := v.leases.keys()
		v.mu.Lock()
		for key, s := range v.cache {
			if s.state == missing {
				keys[key] = true
			}
		}
		v.mu.Unlock()
		for key := range keys {
			if v.state(key) != over { // once: a function may ignore its context for long
				v.verify(key)
			}
		}
	}
}

// verify looks a run up, and ends its tasks and removes its results if it is over.
func (v *runStates) verify(key string) {
	if s, err := v.lookup(v.life, key); err == nil && s == over {
		v.setOver(key)
		v.removeResults(key)
	}
}

// purge purges soon after the worker starts, and then each purgeEvery until close, unless
// another worker announces that it purges.
func (v *runStates) purge() {
	for pause := rand.N(v.client.conf.checkEvery()); ; {
		select {
		case <-time.After(pause + rand.N(pause/4+1)):
			v.purgeOnce()
			pause = v.client.conf.purgeEvery()
		case pause = <-v.purged: // also from this worker
		case <-v.life.Done():
			return
		}
	}
}

// purgeOnce removes the messages of runs without a record, and announces for how long no
// other worker needs to.
func (v *runStates) purgeOnce() {
	announce := func(pause time.Duration) {
		_ = v.client.nc.Publish(v.client.names.subject("over", purgeKey), []byte(pause.String()))
	}
	announce(0)
	found, searched, err := v.client.orphans(v.life)
	announce(time.Duration(searched) * purgePerSubject)
	if err == nil && len(found) > 0 {
		_, err = v.client.removeOrphans(v.life, found)
	}
	if err != nil && v.life.Err() == nil {
		v.client.conf.log.Warn("cluster: messages of runs without a record could not be removed", "error", err)
	}
}

// close ends the subscription and the background work.
func (v *runStates) close() {
	v.end()
	if v.sub != nil {
		_ = v.sub.Unsubscribe()
		v.ended.Wait()
	}
}
