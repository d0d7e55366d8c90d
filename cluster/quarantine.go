package cluster

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/stint-go/stint"
)

const (
	// quarantineFrom is the number of the delivery from which on a task runs alone on its
	// worker: workers may have died of it, or of another task that they ran at the same
	// time. A mark on the server records that the task runs alone.
	quarantineFrom = 3

	// maxLostAlone is how often a task may be lost while it runs alone.
	maxLostAlone = 2
)

// quarantine runs a task alone, or makes it a dead letter.
func (w *worker) quarantine(l *lease) {
	mark := w.client.names.of("alone", l.key, l.index)
	m, err := w.client.last(l.ctx, "runs", mark)
	if err != nil {
		return // it is delivered again
	}
	lost := 0
	if m != nil {
		lost, _ = strconv.Atoi(string(m.Data)) // zero if malformed
		lost = max(0, lost)
	}
	if lost >= maxLostAlone {
		w.bury(l, lost)
		return
	}
	w.puller.pause()
	defer w.puller.resume()
	if !w.lockAlone(l) {
		return
	}
	defer w.alone.Unlock()
	count := replacing(mark)
	count.Data = []byte(strconv.Itoa(lost + 1))
	l.setMark(mark)
	if !w.persist(l, "quarantine mark", func() error { return w.client.publishStored(count) }) {
		_ = l.unmark()
		return
	}
	o := outcome{err: stint.ErrGoexit}
	defer func() {
		w.persist(l, "end of the quarantine", l.unmark) // first: the worker has outlived the function
		w.conclude(l, o)
	}()
	o = w.execute(l)
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
	l.mark = mark
}

// unmark removes the mark of a task that has run alone and was not lost. The slot and Close
// call it; the second caller waits for the first.
func (l *lease) unmark() error {
	l.marking.Lock()
	defer l.marking.Unlock()
	if l.mark == "" || l.lost.Load() {
		return nil
	}
	ctx, stop := context.WithTimeout(context.Background(), requestTimeout) // also during Close
	defer stop()
	err := l.leases.client.purge(ctx, "runs", l.mark)
	if err == nil {
		l.mark = ""
	}
	return err
}

// bury makes a task a dead letter, and ErrPoison its result.
func (w *worker) bury(l *lease, lost int) {
	k := l.kind()
	reason := fmt.Sprintf("it was delivered to workers %d times without an end, the last %d times to a worker that ran nothing else", l.deliveries-1, lost)
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
