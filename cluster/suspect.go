package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
)

// A task that was given to workers and never ended may be what they die of, or may have
// been beside what they died of. So from this delivery on it runs alone on its
// worker, and a mark says so in the engine. When it was lost that often while it was
// alone, it is put aside.
const (
	suspectFrom = 3
	condemnedAt = 2
)

// suspect runs a task alone, or puts it aside.
func (w *worker) suspect(l *lease) {
	mark := w.e.names.of("alone", l.key, l.index)
	m, err := w.e.last(l.ctx, "runs", mark)
	if err != nil {
		return // it comes again
	}
	lost := 0
	if m != nil {
		lost, _ = strconv.Atoi(string(m.Data))
	}
	if lost >= condemnedAt {
		w.condemn(l, lost)
		return
	}
	w.puller.pause()
	defer w.puller.resume()
	w.alone.Lock()
	defer w.alone.Unlock()
	if l.interrupted() {
		w.conclude(l, outcome{err: context.Cause(l.ctx)})
		return
	}
	word := nats.NewMsg(mark)
	word.Data = []byte(strconv.Itoa(lost + 1))
	if !w.persist(l, "mark", func() error { return w.e.store(word) }) {
		return
	}
	defer func() {
		if !l.lost.Load() {
			_ = w.e.purge(w.e.life, "runs", mark)
		}
	}()
	o := outcome{err: stint.ErrGoexit}
	defer func() { w.conclude(l, o) }()
	o = w.execute(l)
}

// condemn puts a task aside, and makes that its result.
func (w *worker) condemn(l *lease, lost int) {
	k := l.kind()
	reason := fmt.Sprintf("it was given to workers %d times without an end, the last %d times to one that ran nothing else", l.deliveries-1, lost)
	data, _ := json.Marshal(Aside{ID: l.id(), Task: k.name, Reason: reason, Time: time.Now().Round(0), Input: l.msg.Data})
	if w.e.checkSize(k, "item", data) != nil {
		data, _ = json.Marshal(Aside{ID: l.id(), Task: k.name, Reason: reason + "; its input is too large to be kept here", Time: time.Now().Round(0)})
	}
	aside := nats.NewMsg(w.e.names.of("aside", l.key, l.index))
	aside.Data = data
	if w.persist(l, "poison", func() error { return w.e.store(aside) }) {
		w.settle(l, k.message(l.result(), outcome{err: fmt.Errorf("%w: %s: %s", ErrPoison, l.id(), reason)}))
	}
}
