package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
)

// A publication is a task that was published once; future is nil if not even that
// was possible.
type publication struct {
	index  int
	data   []byte
	future jetstream.PubAckFuture
}

// inFlight is how many publications wait for their acknowledgements.
const inFlight = 256

// feed pulls the sequence and publishes its values. What it has published is acknowledged
// when it returns, also by a panic of the sequence, or cannot be.
func (t *Task[In, Out]) feed(ctx context.Context, r *run, seq iter.Seq[In]) error {
	// Not a task of the same group as the feeder: those are dropped when the run ends
	// before they begin.
	acknowledging := stint.NewGroup(context.WithoutCancel(ctx), stint.Limit(1))
	acknowledging.Go(r.acknowledge)
	defer acknowledging.Wait()
	defer close(r.unsure)
	n := 0
	if !r.credit() {
		return nil
	}
	for v := range seq {
		data, err := t.kind.marshal(v)
		r.pulled(n, len(data))
		if err == nil {
			err = r.e.checkSize(&t.kind, "item", data)
		}
		if err != nil {
			r.unsent(n, err)
		} else {
			r.publish(n, data)
		}
		n++
		if !r.credit() {
			return nil
		}
	}
	r.mu.Lock()
	r.total = n
	r.mu.Unlock()
	post(r.woken, struct{}{})
	return nil
}

// unsent is the outcome of an item that cannot be sent. If the run can be resumed it is
// stored like one of a worker, and comes from there.
func (r *run) unsent(i int, err error) {
	o := outcome{err: err}
	if r.rec.Named && r.rec.KeepGoing {
		m := r.e.message(r.k, r.e.names.of("result", r.rec.Key, i), o)
		if r.e.ask(r.ctx, func(context.Context) error { return r.e.send(func() error { return r.e.store(m) }) }) == nil {
			return
		}
	}
	r.arrive(i, o)
}

// credit waits until one more task may be pulled.
func (r *run) credit() bool {
	select {
	case r.credits <- struct{}{}:
	case <-r.ctx.Done():
		return false
	}
	for !r.light() {
		select {
		case <-r.freed:
		case <-r.ctx.Done():
			return false
		}
	}
	return r.ctx.Err() == nil
}

// light reports whether less is under way than WindowBytes says. A task whose result has
// not arrived counts as its item and the largest result so far.
func (r *run) light() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting := len(r.cells) - (r.arrived - r.consumed)
	return r.k.window == 0 || len(r.cells) == 0 || r.bytesHeld+int64(waiting)*r.largest < r.k.window
}

// weigh counts that a result is there instead of its item. mu is held.
func (r *run) weigh(item, result int) {
	r.bytesHeld += int64(result - item)
	if r.arrived == 0 {
		r.largest = 0
	}
	r.largest = max(r.largest, int64(result))
}

// pulled makes the cell of a task, whose item has so many bytes.
func (r *run) pulled(i, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cells[i] = cell{bytes: bytes}
	r.bytesHeld += int64(bytes)
}

// subject returns the one on which a task of the run is published.
func (r *run) subject(i int) string {
	return r.e.names.subject("task", r.k.token, r.rec.Key, strconv.Itoa(i))
}

// publish sends a task to the queue, and leaves it to acknowledge, who is there until
// the feeder ends, to see that it arrives.
func (r *run) publish(i int, data []byte) {
	p := publication{index: i, data: data}
	err := r.e.send(func() (err error) {
		p.future, err = r.e.js.PublishMsgAsync(owned(r.subject(i), data))
		return err
	})
	if err != nil {
		p.future = nil
	}
	r.unsure <- p
}

// acknowledge waits for the acknowledgements of what was published, and publishes
// again what got none. It also waits when the run has ended: what the server takes
// later could not be removed from the queue.
func (r *run) acknowledge(context.Context) error {
	for p := range r.unsure {
		err := r.outcomeOf(p.future)
		if err == nil || r.insist(p, err) {
			r.confirm(p.index)
		}
	}
	r.mu.Lock()
	total := r.total
	r.mu.Unlock()
	if total >= 0 {
		r.complete <- total
	}
	return nil
}

// confirm notes that the server has a task.
func (r *run) confirm(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.full = time.Time{}
	if c, ok := r.cells[i]; ok {
		c.confirmed = true
		r.cells[i] = c
	}
}

// outcomeOf waits for the answer to a publication.
func (r *run) outcomeOf(f jetstream.PubAckFuture) error {
	if f == nil {
		return jetstream.ErrNoStreamResponse
	}
	select {
	case <-f.Ok():
		return nil
	case err := <-f.Err():
		return err
	case <-r.e.life.Done():
		return stint.ErrClosed
	}
}

// insist publishes a task until the server has it, which it reports, or will not take it,
// or the run has ended.
func (r *run) insist(p publication, err error) bool {
	began := time.Now()
	for n := 0; err != nil && r.ctx.Err() == nil; n++ {
		switch refused(err) {
		case never:
			r.arrive(p.index, outcome{err: fmt.Errorf("%w: item of %s: %w", ErrTooLarge, r.k.name, err)})
			return false
		case full:
			r.noRoom("an item", err)
		case unsure:
			if n == patience {
				r.warn("the server does not take an item; it is sent until it does", err)
			}
			if denied := r.e.forbidden(began, err); denied != nil && n >= insisted {
				r.fail(fmt.Errorf("cluster: item of %s: %w", r.k.name, denied))
				return false
			}
		}
		select {
		case <-time.After(min(backoff(time.Millisecond, n), time.Second)):
		case <-r.room:
		case <-r.ctx.Done():
			return false
		}
		began = time.Now()
		err = r.e.send(func() error { return r.e.store(owned(r.subject(p.index), p.data)) })
	}
	return err == nil
}

// noRoom notes that the server has refused something of the run, since it is full. When
// nothing of the run has moved on since long before, it ends with that.
func (r *run) noRoom(what string, err error) {
	err = fmt.Errorf("%w: no room for %s: %w", ErrFull, what, err)
	now := time.Now()
	r.mu.Lock()
	if r.full.IsZero() || now.Sub(r.refused) > forgetFull {
		r.full = now
	}
	r.refused = now
	over := now.Sub(r.full) >= r.e.fullFor()
	tell := !over && now.Sub(r.told) >= r.e.fullFor()
	if tell {
		r.told = now
	}
	r.mu.Unlock()
	post(r.sweep, struct{}{})
	if tell {
		r.warn("it waits for room", err)
	}
	if over {
		r.fail(err)
	}
}

// forgetFull is after how long without a refusal there was room meanwhile. What is refused is
// sent again within a second, or three if the server does not answer at once.
const forgetFull = 5 * time.Second

// toldFull is what a worker says that has a result of the run which the server refuses.
func (r *run) toldFull(m *nats.Msg) {
	text := string(m.Data)
	if strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsPrint(c) }) {
		text = strconv.Quote(text)
	}
	if isOwn(m.Header) {
		r.noRoom("a result", errors.New(text))
	}
}

// tellFull tells the submitter of a run that.
func (e *Engine) tellFull(key string, err error) {
	_ = e.nc.PublishMsg(owned(e.names.subject("full", key), []byte(err.Error()))) // again when it is refused again
}

// patience is after how many refusals in a row the log says so.
const patience = 8

// insisted is after how many of them a denial is believed: it may be of another call.
const insisted = 2
