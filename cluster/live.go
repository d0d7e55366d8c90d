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
// asked for when the first task of a run comes, and again after each reconnection for
// the runs whose tasks are held.
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
	live map[string]bool // by key; false: it has ended
}

// manyRuns is how many runs are remembered before all are forgotten.
const manyRuns = 10_000

func newLiveRuns(e *Engine, s *leases) *liveRuns {
	v := &liveRuns{e: e, leases: s, leaving: make(chan struct{}), live: map[string]bool{}}
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
				v.forget()
			}
		})
	}
	return err
}

// over notes that a run has ended, and ends the contexts of its tasks. It reports
// whether there were some.
func (v *liveRuns) over(key string) bool {
	v.mu.Lock()
	worked := v.live[key]
	v.mu.Unlock()
	v.note(key, false)
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

func (v *liveRuns) note(key string, live bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.live) >= manyRuns {
		clear(v.live)
	}
	if known, ok := v.live[key]; !ok || known {
		v.live[key] = live
	}
}

// alive reports whether the tasks of a run are wanted.
func (v *liveRuns) alive(ctx context.Context, key string) (bool, error) {
	v.mu.Lock()
	live, known := v.live[key]
	v.mu.Unlock()
	if known {
		return live, nil
	}
	rec, err := v.e.read(ctx, nameOf(key))
	switch {
	case err != nil:
		return false, err
	case rec == nil: // not noted: see deadAfter
		return false, nil
	}
	v.note(key, rec.Key == key) // another run of that name: this one is over
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
		live, known := v.live[key]
		v.mu.Unlock()
		if known {
			return !live
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
	v.note(key, false)
	return true
}

// forget drops what is known, and asks for the runs of the tasks that are held.
func (v *liveRuns) forget() {
	held := v.leases.keys()
	v.mu.Lock()
	clear(v.live)
	v.mu.Unlock()
	for key := range held {
		if live, err := v.alive(v.life, key); err == nil && !live {
			v.over(key)
			v.sweep(key) // a result may have been stored before this
		}
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
