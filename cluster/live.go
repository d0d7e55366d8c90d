package cluster

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// liveRuns are the runs of whose tasks a worker knows whether they are still wanted.
//
// A run that ends says so in a message, which reaches the workers that are connected.
// What it does not reach is found by the record of the run, which is gone then: it is
// asked for when the first task of a run comes, and again when what is known of it is
// old, or the connection was made again since.
//
// A submitter that is killed, or cut off, says nothing. Its record expires. One that was cut
// off writes it again when it is back. So a run without a record is missing at first: its
// tasks are not begun, and what runs goes on. When it has been missing for a while it is over.
type liveRuns struct {
	e       *Engine
	leases  *leases
	sub     *nats.Subscription
	ended   sync.WaitGroup
	life    context.Context // ends with close
	end     context.CancelFunc
	leaving chan struct{}      // closed when the worker takes no more tasks and its slots are done
	purged  chan time.Duration // a worker purges, and none has to for so long
	read    func(ctx context.Context, run string) (*record, error)

	mu    sync.Mutex
	words map[string]word // by key
}

// A word is what is known of a run.
type word struct {
	state      state
	reconnects uint64    // how often the connection had been made again before the run was asked for
	asked      time.Time // when that was, or somebody is about to
	since      time.Time // it is missing
}

type state int

const (
	unknown state = iota
	live
	missing
	over // for ever
)

const (
	// believed is for how long a run is taken for alive until its record is asked for
	// again.
	believed = 30 * time.Second

	// deadAfter is for how long a run is missing until it is over: a submitter that was
	// cut off writes its record again when it is back, at its next glance.
	deadAfter = 3 * glance

	// purgeEvery is how often the workers of a cluster purge, all together. The server looks
	// through all subjects for that. When there are very many they purge less often, by
	// purgeRest a subject: 100,000 take it 0.6 s and 700,000 take it 12 s, which is a twentieth
	// of that. But not less often than purgeAfter.
	purgeEvery = time.Minute
	purgeRest  = 300 * time.Microsecond
	purgeAfter = time.Hour

	// manyRuns is how many runs are remembered before all are forgotten.
	manyRuns = 10_000
)

// purging is in the place of a key in the message of a worker that begins to purge.
const purging = "purge"

func newLiveRuns(e *Engine, s *leases) *liveRuns {
	v := &liveRuns{e: e, leases: s, leaving: make(chan struct{}), purged: make(chan time.Duration, 1), read: e.read, words: map[string]word{}}
	v.life, v.end = context.WithCancel(e.life)
	return v
}

// open begins to listen.
func (v *liveRuns) open() (err error) {
	v.sub, err = v.e.nc.Subscribe(v.e.names.subject("over", "*"), v.heard)
	if err == nil {
		v.ended.Go(v.watch)
		v.ended.Go(v.purge)
	}
	return err
}

// heard is the word that a run has ended, or that another worker purges.
func (v *liveRuns) heard(m *nats.Msg) {
	key, said := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], string(m.Data)
	switch {
	case key == purging:
		wait, _ := time.ParseDuration(said) // what is none is zero
		post(v.purged, min(max(wait, purgeEvery), purgeAfter))
	case said == cancelled || said == completed:
		worked := v.state(key) == live
		v.over(key)
		if worked && said == cancelled {
			v.sweep(key)
		}
	}
}

// over notes that a run has ended, and ends the contexts of its tasks.
func (v *liveRuns) over(key string) {
	v.note(key, over, 0)
	v.leases.interrupt(ErrCanceled, func(l *lease) bool { return l.key == key })
}

// sweep removes results of a run that is over. This worker may have sent one after the
// submitter had removed them.
func (v *liveRuns) sweep(key string) {
	if err := v.e.purge(v.life, "results", v.e.names.subject("result", key, "*")); err != nil {
		v.e.conf.Log.Warn("cluster: results of a cancelled run could not be removed", "run", runOf(key), "error", err)
	}
}

// note notes the state of a run as it was found, and returns what follows from it and from
// what was known.
func (v *liveRuns) note(key string, found state, reconnects uint64) state {
	now := time.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.words) >= manyRuns {
		clear(v.words)
	}
	known := v.words[key]
	w := word{found, reconnects, now, now}
	if found == missing && known.state == missing {
		w.since = known.since
	}
	if known.state == over || w.state == missing && now.Sub(w.since) >= deadAfter {
		w.state = over
	}
	v.words[key] = w
	return w.state
}

// state returns what is known of a run.
func (v *liveRuns) state(key string) state {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.words[key].state
}

// fresh reports whether there is no need to ask for the run.
func (w word) fresh(reconnects uint64, now time.Time) bool {
	switch w.state {
	case over:
		return true
	case missing:
		return now.Sub(w.asked) < glance/2
	case live: // the message that it has ended may have been sent between two connections
		return w.reconnects == reconnects && now.Sub(w.asked) < believed
	}
	return false
}

// look returns the state of a run. It reads the record if what is known is old. One caller
// does that; the others go by what was known, unless the connection was made again since.
func (v *liveRuns) look(ctx context.Context, key string) (state, error) {
	reconnects, now := v.e.nc.Stats().Reconnects, time.Now()
	v.mu.Lock()
	known, ok := v.words[key]
	fresh := known.fresh(reconnects, now)
	if ok && !fresh {
		known.asked = now
		v.words[key] = known
	}
	v.mu.Unlock()
	if fresh {
		return known.state, nil
	}
	rec, err := v.read(ctx, nameOf(key))
	switch {
	case err != nil:
		return unknown, err
	case rec == nil:
		return v.note(key, missing, reconnects), nil
	case rec.Key != key: // another run of that name
		return v.note(key, over, reconnects), nil
	}
	return v.note(key, live, reconnects), nil
}

// dead waits until it is certain that the run of a task is over. It returns false if the
// run is there again, the worker ends, or ctx has ended.
func (v *liveRuns) dead(ctx context.Context, key string) bool {
	for v.state(key) == missing {
		select {
		case <-time.After(time.Second): // watch asks for it
		case <-v.leaving:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return v.state(key) == over
}

// watch looks after the runs of the tasks that are held, and after those that are missing,
// until close.
func (v *liveRuns) watch() {
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-v.life.Done():
			return
		}
		keys := v.leases.keys()
		v.mu.Lock()
		for key, w := range v.words {
			if w.state == missing {
				keys[key] = true
			}
		}
		v.mu.Unlock()
		for key := range keys {
			if v.state(key) != over { // or a function that ignores its context is told each time
				v.verify(key)
			}
		}
	}
}

// verify makes sure that nothing stays of a run that is over: its functions are told, and
// its results removed, of which this worker may have sent one.
func (v *liveRuns) verify(key string) {
	if s, err := v.look(v.life, key); err == nil && s == over {
		v.over(key)
		v.sweep(key)
	}
}

// purge purges when the worker begins, and again each minute until close, unless another
// worker has said that it does.
func (v *liveRuns) purge() {
	for wait := rand.N(glance); ; {
		select {
		case <-time.After(wait + rand.N(wait/4+1)):
			v.purgeOnce()
			wait = purgeEvery
		case wait = <-v.purged: // what this worker has said too
		case <-v.life.Done():
			return
		}
	}
}

// purgeOnce removes what dead runs have left, and tells all workers how long that is enough.
func (v *liveRuns) purgeOnce() {
	tell := func(wait time.Duration) {
		_ = v.e.nc.Publish(v.e.names.subject("over", purging), []byte(wait.String()))
	}
	tell(0)
	found, looked, err := v.e.orphans(v.life)
	tell(time.Duration(looked) * purgeRest)
	if err == nil && len(found) > 0 {
		_, err = v.e.removeOrphans(v.life, found)
	}
	if err != nil && v.life.Err() == nil {
		v.e.conf.Log.Warn("cluster: what runs have left could not be removed", "error", err)
	}
}

// close ends the listening.
func (v *liveRuns) close() {
	v.end()
	if v.sub != nil {
		_ = v.sub.Unsubscribe()
		v.ended.Wait()
	}
}
