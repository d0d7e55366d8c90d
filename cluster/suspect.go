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
		lost, _ = strconv.Atoi(string(m.Data)) // what is no number, or less than one, is none
		lost = max(0, lost)
	}
	if lost >= condemnedAt {
		w.condemn(l, lost)
		return
	}
	w.puller.pause()
	defer w.puller.resume()
	if !w.aloneBy(l) {
		return
	}
	defer w.alone.Unlock()
	word := replacing(mark)
	word.Data = []byte(strconv.Itoa(lost + 1))
	l.remember(mark)
	defer l.unmark()
	if !w.persist(l, "mark", func() error { return w.e.send(func() error { return w.e.store(word) }) }) {
		return
	}
	o := outcome{err: stint.ErrGoexit}
	defer func() { w.conclude(l, o) }()
	o = w.execute(l)
}

// aloneBy waits until nothing else runs here, for as long as a lease. What runs may take
// longer, or for ever: then the task is given to another worker, and not at once, so that
// this one can go on.
func (w *worker) aloneBy(l *lease) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(l.length); ; {
		if w.alone.TryLock() {
			return true
		}
		select {
		case now := <-tick.C:
			if now.After(end) {
				l.postpone()
				return false
			}
		case <-l.ctx.Done():
			w.conclude(l, outcome{err: context.Cause(l.ctx)})
			return false
		}
	}
}

// remember notes the mark of a task that is to run alone, before it is stored.
func (l *lease) remember(mark string) {
	l.marking.Lock()
	defer l.marking.Unlock()
	l.mark = mark
}

// unmark takes the mark of a task away that has run alone and was not lost. The slot does
// that, or who closes the engine; the other one waits.
func (l *lease) unmark() {
	l.marking.Lock()
	defer l.marking.Unlock()
	mark := l.mark
	l.mark = ""
	if mark == "" || l.lost.Load() {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), answerIn) // also when the engine is being closed
	defer stop()
	if err := l.leases.e.purge(ctx, "runs", mark); err != nil {
		l.leases.e.conf.Log.Warn("cluster: the mark of a task that ran alone was not removed", "task", l.id(), "error", err)
	}
}

// condemn puts a task aside, and makes that its result.
func (w *worker) condemn(l *lease, lost int) {
	k := l.kind()
	reason := fmt.Sprintf("it was given to workers %d times without an end, the last %d times to one that ran nothing else", l.deliveries-1, lost)
	aside := w.e.aside(l.key, strconv.Itoa(l.index), Aside{Task: k.name, Reason: reason, Input: l.msg.Data})
	if w.persist(l, "poison", func() error { return w.e.store(aside) }) {
		w.settle(l, w.e.message(k, l.result(), outcome{err: fmt.Errorf("%w: %s: %s", ErrPoison, l.id(), reason)}))
	}
}

// aside returns the message that keeps what is put aside. Its ID has the parts by which its
// subject is known.
func (e *Engine) aside(key, number string, a Aside) *nats.Msg {
	a.ID, a.Time = key+"/"+number, time.Now().Round(0)
	m := nats.NewMsg(e.names.subject("aside", key, number))
	m.Data, _ = json.Marshal(a) // texts, bytes and a time
	if int64(len(m.Data)) > e.nc.MaxPayload() {
		a.Reason, a.Input = a.Reason+"; its input is too large to be kept here", nil
		m.Data, _ = json.Marshal(a)
	}
	return m
}

// reject puts a message aside that is no task.
func (w *worker) reject(l *lease) {
	w.e.conf.Log.Warn("cluster: a message that is no task is put aside", "subject", l.msg.Subject)
	reason := fmt.Sprintf("its subject, %s, is not that of a task, or no submitter has sent it", l.msg.Subject)
	aside := w.e.aside("tasks", strconv.FormatUint(l.sequence, 10), Aside{Reason: reason, Input: l.msg.Data})
	if err := w.e.ask(l.ctx, func(context.Context) error { return w.e.store(aside) }); err != nil && refused(err) != never {
		l.postpone()
		return
	}
	w.settle(l, nil)
}
