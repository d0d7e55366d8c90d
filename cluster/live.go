package cluster

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// liveRuns are the runs of whose tasks a worker knows whether they are still wanted.
//
// A run that ends says so in a message, which reaches the workers that are connected.
// What it does not reach is found by the record of the run, which is gone then: it is
// asked for when the first task of a run comes. After each reconnection it is asked for again:
// at once for the runs whose tasks are held, and for any when a task comes or its result was
// stored.
type liveRuns struct {
	e       *Engine
	leases  *leases
	sub     *nats.Subscription
	changes chan nats.Status
	ended   sync.WaitGroup
	life    context.Context // ends with close
	end     context.CancelFunc
	leaving chan struct{} // closed when the worker takes no more tasks and its slots are done

	mu   sync.Mutex
	live map[string]word // by key
}

// A word is what is known of a run. That it has ended is true for ever. That it is alive is as
// long as the connection lasts over which that was learned: the message that it has ended
// may have been sent between that one and the next.
type word struct {
	live       bool
	reconnects uint64 // how often the connection had been made again before the run was asked for
}

// manyRuns is how many runs are remembered before all are forgotten.
const manyRuns = 10_000

func newLiveRuns(e *Engine, s *leases) *liveRuns {
	v := &liveRuns{e: e, leases: s, leaving: make(chan struct{}), live: map[string]word{}}
	v.life, v.end = context.WithCancel(e.life)
	return v
}

// open begins to listen.
func (v *liveRuns) open() (err error) {
	v.sub, err = v.e.nc.Subscribe(v.e.names.subject("over", "*"), func(m *nats.Msg) {
		key := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
		if v.over(key) && string(m.Data) == cancelled {
			v.sweep(key)
		}
	})
	if err == nil {
		v.changes = v.e.nc.StatusChanged(nats.CONNECTED)
		v.ended.Go(func() {
			for range v.changes {
				v.look()
			}
		})
	}
	return err
}

// over notes that a run has ended, and ends the contexts of its tasks. It reports
// whether there were some.
func (v *liveRuns) over(key string) bool {
	v.mu.Lock()
	worked := v.live[key].live
	v.mu.Unlock()
	v.note(key, word{})
	v.leases.interrupt(ErrCanceled, func(l *lease) bool { return l.key == key })
	return worked
}

// sweep removes results of a cancelled run that this worker may have sent after the
// submitter had removed them.
func (v *liveRuns) sweep(key string) {
	if err := v.e.purge(v.life, "results", v.e.names.subject("result", key, "*")); err != nil {
		v.e.conf.Log.Warn("cluster: results of a cancelled run could not be removed", "run", runOf(key), "error", err)
	}
}

func (v *liveRuns) note(key string, w word) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.live) >= manyRuns {
		clear(v.live)
	}
	if known, ok := v.live[key]; !ok || known.live {
		v.live[key] = w
	}
}

// alive reports whether the tasks of a run are wanted.
func (v *liveRuns) alive(ctx context.Context, key string) (bool, error) {
	reconnects := v.e.nc.Stats().Reconnects
	v.mu.Lock()
	known, ok := v.live[key]
	v.mu.Unlock()
	if ok && (!known.live || known.reconnects == reconnects) {
		return known.live, nil
	}
	rec, err := v.e.read(ctx, nameOf(key))
	switch {
	case err != nil:
		return false, err
	case rec == nil: // not noted: see deadAfter
		return false, nil
	}
	v.note(key, word{rec.Key == key, reconnects}) // another run of that name: this one is over
	return rec.Key == key, nil
}

// deadAfter is for how long the record of a run has to be gone until its tasks are
// removed. A submitter that was cut off writes it again when it is back, at its next
// glance.
const deadAfter = 3 * glance

// dead waits until it is certain that the run of a task is over. It returns false if the
// run is there again, the worker ends, or ctx has ended.
func (v *liveRuns) dead(ctx context.Context, key string) bool {
	for tries := 0; tries < 3; tries++ {
		v.mu.Lock()
		known, ok := v.live[key]
		v.mu.Unlock()
		if ok && !known.live {
			return true
		}
		select {
		case <-time.After(deadAfter / 3):
		case <-v.leaving:
			return false
		case <-ctx.Done():
			return false
		}
		if live, err := v.alive(ctx, key); live || err != nil {
			return false
		}
	}
	v.note(key, word{})
	return true
}

// look asks for the runs of the tasks that are held.
func (v *liveRuns) look() {
	for key := range v.leases.keys() {
		v.verify(key)
	}
}

// verify makes sure that nothing stays of a run that is over: its functions are told, and
// its results removed, of which this worker may have sent one. It asks for the record only if
// the connection was made anew since that was done last.
func (v *liveRuns) verify(key string) {
	if live, err := v.alive(v.life, key); err == nil && !live {
		v.over(key)
		v.sweep(key)
	}
}

// close ends the listening.
func (v *liveRuns) close() {
	v.end()
	if v.sub != nil {
		_ = v.sub.Unsubscribe()
		v.e.nc.RemoveStatusListener(v.changes)
		v.ended.Wait()
	}
}
