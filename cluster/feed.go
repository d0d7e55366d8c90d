package cluster

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stint-go/stint"
)

// maxUnacked is how many publications of a run wait for their acknowledgements.
const maxUnacked = 256

// A publication is a task that was published once; future is nil if not even that succeeded.
type publication struct {
	index  int
	data   []byte
	future jetstream.PubAckFuture
}

// feed publishes the items of a source. When it returns, also by a panic of the source, its
// publications are acknowledged, or never will be.
func (t *Task[In, Out]) feed(ctx context.Context, r *run, source func(context.Context, func(In) bool) error) error {
	// This needs a group of its own: the feeder's group drops tasks that have not started
	// when the run ends.
	acknowledging := stint.NewGroup(context.WithoutCancel(ctx), stint.Limit(1))
	acknowledging.Go(r.acknowledge)
	defer acknowledging.Wait()
	defer close(r.unacked)
	n := 0
	if !r.credit() {
		return nil
	}
	var failed error
	items := func(yield func(In) bool) { // a range loop watches how the source calls its body
		failed = source(context.WithValue(r.ctx, callKey{}, &call{Info: Info{Run: runOf(r.rec.Key)}}), yield)
	}
	for v := range items {
		data, err := t.kind.marshal(v)
		r.addCell(n, len(data))
		if err != nil {
			err = fmt.Errorf("cluster: %s: encode item %d: %w", t.kind.name, n, err)
		} else {
			err = r.client.checkSize(&t.kind, "item", "tasks", data)
		}
		if err != nil {
			r.reject(n, err)
		} else {
			r.publish(n, data)
		}
		n++
		if !r.credit() {
			return nil
		}
	}
	if failed != nil {
		if !r.rec.KeepGoing {
			return failed
		}
		r.note(failed)
	}
	r.mu.Lock()
	r.total = n
	r.mu.Unlock()
	post(r.woken, struct{}{})
	return nil
}

// credit waits until one more task may be pulled.
func (r *run) credit() bool {
	select {
	case r.credits <- struct{}{}:
	case <-r.ctx.Done():
		return false
	}
	for !r.hasByteRoom() {
		select {
		case <-r.freed:
		case <-r.ctx.Done():
			return false
		}
	}
	return r.ctx.Err() == nil
}

// hasByteRoom reports whether fewer bytes are in progress than WindowBytes. A task whose result
// has not arrived counts as its item and the largest result so far.
func (r *run) hasByteRoom() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting := len(r.cells) - (r.arrived - r.delivered)
	return r.rec.windowBytes == 0 || len(r.cells) == 0 || r.bytesHeld+int64(waiting)*r.largest < r.rec.windowBytes
}

// addCell makes the cell of a task with an item of so many bytes.
func (r *run) addCell(i, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cells[i] = cell{bytes: bytes}
	r.bytesHeld += int64(bytes)
}

// reject makes err the outcome of an item that cannot be published. If the run can be resumed
// the outcome is stored like one of a worker, and arrives from there.
func (r *run) reject(i int, err error) {
	o := outcome{err: err}
	if r.rec.Named && r.rec.KeepGoing {
		m := r.client.message(r.k, r.client.names.of("result", r.rec.Key, i), o)
		if r.client.request(r.ctx, func(context.Context) error { return r.client.publishStored(m) }) == nil {
			return
		}
	}
	r.arrive(i, o)
}

// subject returns the subject of a task of the run.
func (r *run) subject(i int) string {
	return r.client.names.subject("task", r.k.token, r.rec.Key, strconv.Itoa(i))
}

// publish publishes a task, and leaves it to acknowledge.
func (r *run) publish(i int, data []byte) {
	p := publication{index: i, data: data}
	err := r.client.publish(func() (err error) {
		p.future, err = r.client.js.PublishMsgAsync(owned(r.subject(i), data))
		return err
	})
	if err != nil {
		p.future = nil
	}
	r.unacked <- p
}

// acknowledge waits for the acknowledgements of publications, and repeats publications
// without one. It also waits when the run has ended: a task that the server stores later
// could not be removed from the queue.
func (r *run) acknowledge(context.Context) error {
	for p := range r.unacked {
		err := r.await(p.future)
		if err == nil || r.republish(p, err) {
			r.confirm(p.index)
		}
	}
	r.mu.Lock()
	total := r.total
	r.mu.Unlock()
	if total >= 0 {
		r.submitted <- total
	}
	return nil
}

// confirm records that the server has a task.
func (r *run) confirm(i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.full = time.Time{}
	if c, ok := r.cells[i]; ok {
		c.confirmed = true
		r.cells[i] = c
	}
}

// await waits for the answer to a publication.
func (r *run) await(f jetstream.PubAckFuture) error {
	if f == nil {
		return jetstream.ErrNoStreamResponse
	}
	select {
	case <-f.Ok():
		return nil
	case err := <-f.Err():
		return err
	case <-r.client.life.Done():
		return stint.ErrClosed
	}
}

// republish publishes a task until the server has it, and then returns true, or the server
// refuses it for good, or the run has ended.
func (r *run) republish(p publication, err error) bool {
	start := time.Now()
	for n := 0; err != nil && r.ctx.Err() == nil; n++ {
		switch refusalOf(err) {
		case tooLarge:
			r.arrive(p.index, outcome{err: fmt.Errorf("%w: item of %s: %w", ErrTooLarge, r.k.name, err)})
			return false
		case serverFull:
			r.noteFull("an item", err)
		case unsure:
			if n == retriesUntilWarning {
				r.warn("the server does not store an item: it is published until it does", err)
			}
			if denied := r.client.deniedSince(start, err); denied != nil && n >= retriesUntilDenial {
				r.fail(fmt.Errorf("cluster: item of %s: %w", r.k.name, denied))
				return false
			}
		}
		select {
		case <-time.After(min(backoff(time.Millisecond, n), time.Second)):
		case <-r.progress:
		case <-r.ctx.Done():
			return false
		}
		start = time.Now()
		err = r.client.publishStored(owned(r.subject(p.index), p.data))
	}
	return err == nil
}

// maxRefusalGap is the time without a refusal after which the server is no longer full: a
// refused message is sent again within a second, or three if the server does not answer at
// once.
const maxRefusalGap = 5 * time.Second

// noteFull records that the server had no room for a message of the run. It ends the run
// when the server has had no room for FullTimeout.
func (r *run) noteFull(what string, err error) {
	err = fmt.Errorf("%w: no room for %s: %w", ErrFull, what, err)
	now, timeout := time.Now(), r.client.conf.fullTimeout
	r.mu.Lock()
	if r.full.IsZero() || now.Sub(r.refused) > maxRefusalGap {
		r.full = now
	}
	r.refused = now
	over := now.Sub(r.full) >= timeout
	warn := !over && now.Sub(r.warned) >= timeout
	if warn {
		r.warned = now
	}
	r.mu.Unlock()
	post(r.purgeNow, struct{}{})
	if warn {
		r.warn("it waits for room", err)
	}
	if over {
		r.fail(err)
	}
}

// onFull is called when a worker reports that the server has no room for a result of the
// run.
func (r *run) onFull(m *nats.Msg) {
	if isOwn(m.Header) {
		r.noteFull("a result", errors.New(visible(string(m.Data))))
	}
}
