package cluster

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/nats-io/nuid"
	"github.com/stint-go/stint"
)

const (
	// quarantineFrom is the number of the delivery from which on a task runs alone on its
	// worker: workers may have died of it, or of another task that they ran at the same
	// time. A mark on the server records that the task runs alone there.
	//
	// The worker sends its mark again each third of the lease, and removes it when the function
	// has returned, also if it was cut off and has lost the lease. So the mark of a dead worker is one
	// that is the same a lease later.
	quarantineFrom = 3

	// maxLostAlone is how many workers may die while they run a task alone.
	maxLostAlone = 2
)

// quarantine runs a task alone, or sets send to the function that may make it a dead letter.
func (w *worker) quarantine(l *lease, send *func()) {
	marks, err := w.marks(l)
	if err != nil {
		return // it is delivered again
	}
	if len(marks) >= maxLostAlone {
		*send = func() { w.condemn(l, marks) }
		return
	}
	w.puller.pause()
	defer w.puller.resume()
	if !w.lockAlone(l) {
		return
	}
	defer w.alone.Unlock()
	mark := w.client.names.of("alone", l.key, l.index) + "." + nuid.Next()
	l.setMark(mark)
	if !w.persist(l, "quarantine mark", func() error { return w.client.publishStored(replacing(mark)) }) {
		l.unmark()
		return
	}
	o := outcome{err: stint.ErrGoexit}
	defer func() {
		l.unmark() // first: the worker has outlived the function
		w.conclude(l, o)
	}()
	o = w.execute(l)
}

// marks returns the sequences of the marks of a task, by subject.
func (w *worker) marks(l *lease) (map[string]uint64, error) {
	subjects, err := w.client.subjects(l.ctx, "runs", w.client.names.of("alone", l.key, l.index)+".*")
	marks := map[string]uint64{}
	for mark := range subjects {
		m, err := w.client.last(l.ctx, "runs", mark)
		if err != nil {
			return nil, err
		}
		if m != nil {
			marks[mark] = m.Sequence
		}
	}
	return marks, err
}

// condemn makes a task with these marks a dead letter, unless it finds a lease later that a worker
// has sent its mark again, or has removed it.
func (w *worker) condemn(l *lease, before map[string]uint64) {
	select {
	case <-time.After(l.length):
		now, err := w.marks(l)
		maps.DeleteFunc(now, func(mark string, sequence uint64) bool { return before[mark] != sequence })
		if err == nil && len(now) >= maxLostAlone {
			w.bury(l, len(now))
			return
		}
	case <-w.runs.leaving:
	case <-l.ctx.Done():
	}
	l.requeue()
}

// lockAlone waits until no other task runs here, and returns true. After a lease it gives the
// task to another worker, a lease later, so that this worker can continue.
func (w *worker) lockAlone(l *lease) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(l.length); ; {
		if w.alone.TryLock() {
			return true
		}
		select {
		case now := <-tick.C:
			if now.After(deadline) {
				l.requeueLater()
				return false
			}
		case <-l.ctx.Done():
			w.conclude(l, outcome{err: context.Cause(l.ctx)})
			return false
		}
	}
}

// setMark sets the mark of a task that is to run alone, before the server stores it.
func (l *lease) setMark(mark string) {
	l.marking.Lock()
	defer l.marking.Unlock()
	l.mark, l.marked = mark, time.Now()
}

// renewMark sends the mark again when that is due. It does not wait for the server, nor for unmark.
func (l *lease) renewMark(now time.Time) {
	if !l.marking.TryLock() {
		return
	}
	defer l.marking.Unlock()
	if l.mark != "" && now.Sub(l.marked) >= l.length/3 && l.leases.client.nc.PublishMsg(replacing(l.mark)) == nil {
		l.marked = now
	}
}

// unmark removes the mark of a task that has run alone. It repeats that until the server has answered
// or the client is closed. The slot and Close call it; the second caller waits for the first.
func (l *lease) unmark() {
	l.marking.Lock()
	defer l.marking.Unlock()
	if l.mark == "" {
		return
	}
	c, ctx := l.leases.client, context.Background() // also during Close
	err := c.fence(ctx, l.mark)                     // what was sent before it is stored, and can be removed
	if err == nil {
		err = c.purge(ctx, "runs", l.mark)
	}
	if err != nil {
		c.conf.log.Warn("cluster: a quarantine mark was not removed", "task", l.id(), "error", err)
		return
	}
	l.mark = ""
}

// bury makes a task a dead letter, and ErrPoison its result.
func (w *worker) bury(l *lease, lost int) {
	k := l.kind()
	reason := fmt.Sprintf("it was delivered to workers %d times without an end, %d times to one that ran nothing else and has not come back", l.deliveries-1, lost)
	letter := w.client.deadLetter(l.key, strconv.Itoa(l.index), DeadLetter{Task: k.name, Reason: reason, Input: l.msg.Data})
	if w.persist(l, "dead letter", func() error { return w.client.store(letter) }) {
		w.settle(l, w.client.message(k, l.resultSubject(), outcome{err: fmt.Errorf("%w: %s: %s", ErrPoison, l.id(), reason)}))
	}
}

// reject makes a message that is no task a dead letter.
func (w *worker) reject(l *lease) {
	w.client.conf.log.Warn("cluster: a message in the queue is not a task: it becomes a dead letter", "subject", l.msg.Subject)
	reason := fmt.Sprintf("its subject, %q, is not that of a task, or no submitter has sent it", l.msg.Subject)
	letter := w.client.deadLetter("tasks", strconv.FormatUint(l.sequence, 10), DeadLetter{Reason: reason, Input: l.msg.Data})
	if err := w.client.request(l.ctx, func(context.Context) error { return w.client.store(letter) }); err != nil && refusalOf(err) != tooLarge {
		l.requeueLater()
		return
	}
	w.settle(l, nil)
}
