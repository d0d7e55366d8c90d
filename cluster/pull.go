package cluster

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// A puller requests tasks from the server, exactly as many as slots are idle. A slot is
//
//	idle       it waits here; then
//	requested  a request at the server covers it (which slot that is, is open); then
//	taken      it has a task
//
// Always requested <= idle. A request ends when all its tasks have come, or when it
// expires: then the server says how many are left of it. If the server does not, because it
// died or the connection was lost, the request is dropped some time later. A task that
// comes after that and finds no idle slot is returned.
//
// The lease of a task starts when the server sends it, at an unknown time after the
// request. So the worker counts the lease from the request, and a request waits for at most
// a third of the lease. The server may answer the requests of an inbox in any order: each
// task counts for the oldest request that is not complete.
//
// A limiter whose limit falls has more slots than it allows, which wait here. So no more tasks are
// requested than may run beside those that do, and requests that are too many end. A task that
// comes meanwhile is returned. While slots wait for the limit to rise, it is looked at again and again.
//
// A worker of several tasks has a consumer for each, and cannot request "any of them".
// While some queues have tasks, the worker requests from these in turn, for tasks that come
// within a moment, and from each other queue once a second. When all queues are empty, the
// idle slots are divided among them. When one queue then gets tasks, the requests to the
// empty queues are cancelled.
type puller struct {
	client    *Client
	reconnect chan nats.Status
	life      context.Context // ends with close
	end       context.CancelFunc
	repairs   sync.WaitGroup
	changed   chan struct{} // wantsSlot has to look again

	mu        sync.Mutex
	queues    []*taskQueue // one for each task, the least recently asked first
	idle      []chan *delivery
	requested int
	limit     func() int // of tasks that run; nil: as many as there are slots
	taken     int        // slots that have a task
	opening   int        // slots that were wanted and are not idle yet
	pauses    int        // by tasks that run alone, and by close
	drained   *sync.Cond // nothing is requested, or taken
	closed    bool
	timer     *time.Timer
}

// A taskQueue is the queue of the tasks with one name.
type taskQueue struct {
	handler   Handler
	subject   string // of requests
	inbox     *inbox // of the next requests
	more      bool   // the last task came with the note that there are more
	repairing bool   // the consumer may be gone: it is not asked
	repairs   int    // in a row
	asked     time.Time
	pulls     []pull // at the server, in the order in which it answers them
}

// An inbox receives tasks, and the ends of requests.
type inbox struct {
	subject string
	sub     *nats.Subscription
	dropped time.Time // when the first request that was dropped was made; zero: none was
}

// A pull is a request at the server.
type pull struct {
	left   int // tasks that have not come
	inbox  *inbox
	asked  time.Time
	expiry time.Time
}

// A delivery is a task that the server has sent.
type delivery struct {
	msg        *nats.Msg
	handler    Handler
	key        string // of the run; empty: it is no task
	index      int
	deliveries int
	sequence   uint64
	asked      time.Time // when it was requested
}

const (
	waitAlone  = 2 * time.Second       // a request waits at the server, at most a third of the lease
	waitShared = time.Second           // when the worker has other tasks
	waitTurn   = 50 * time.Millisecond // when other queues have more
	dropAfter  = time.Second           // a request without an answer, after its end
	repairWait = 100 * time.Millisecond
	waitLimit  = 200 * time.Millisecond // between two looks at a limit
)

// The server's reasons for the end of a request that is bounded in bytes.
const (
	tooManyBytes = "Message Size Exceeds MaxBytes" // the next task does not fit
	complete     = "Batch Completed"
)

func newPuller(c *Client, handlers map[string]Handler, limit func() int) *puller {
	p := &puller{client: c, limit: limit, changed: make(chan struct{}, 1)}
	p.life, p.end = context.WithCancel(c.life)
	p.drained = sync.NewCond(&p.mu)
	for token, h := range handlers {
		p.queues = append(p.queues, &taskQueue{handler: h, subject: "$JS.API.CONSUMER.MSG.NEXT." + c.names.stream("tasks") + "." + token})
	}
	return p
}

// open subscribes to tasks.
func (p *puller) open() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(time.Hour, p.refresh)
	p.reconnect = p.client.nc.StatusChanged(nats.CONNECTED)
	p.repairs.Go(func() { p.onReconnect(p.reconnect) })
	for _, q := range p.queues {
		if err := p.subscribe(q); err != nil {
			return err
		}
	}
	return nil
}

// subscribe makes the inbox of the next requests to a queue. mu is held.
func (p *puller) subscribe(q *taskQueue) error {
	in := &inbox{subject: p.client.nc.NewInbox()}
	sub, err := p.client.nc.Subscribe(in.subject, func(m *nats.Msg) { p.receive(q, in, m) })
	if err != nil {
		return err
	}
	_ = sub.SetPendingLimits(-1, -1) // never more messages than slots
	sub.SetClosedHandler(func(string) { p.onDrained(q, in) })
	in.sub, q.inbox = sub, in
	return nil
}

// wantsSlot waits until one more slot would be useful: no slot is idle, or more tasks are
// queued. It returns false when ctx has ended.
func (p *puller) wantsSlot(ctx context.Context) bool {
	for {
		p.mu.Lock()
		want := p.pauses == 0 && (len(p.idle)+p.opening == 0 || p.more())
		if want {
			p.opening++
		}
		p.mu.Unlock()
		if want {
			return ctx.Err() == nil
		}
		select {
		case <-p.changed:
		case <-ctx.Done():
			return false
		}
	}
}

// notify makes wantsSlot look again.
func (p *puller) notify() { post(p.changed, struct{}{}) }

// more reports whether a queue has more tasks. mu is held.
func (p *puller) more() bool {
	return slices.ContainsFunc(p.queues, func(q *taskQueue) bool { return q.more })
}

// next is called by a slot. It waits for a task, and returns nil when the worker ends.
func (p *puller) next() *delivery {
	c := make(chan *delivery, 1)
	p.mu.Lock()
	p.opening--
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.idle = append(p.idle, c)
	p.request()
	p.mu.Unlock()
	return <-c
}

// request makes requests for the idle slots. mu is held.
func (p *puller) request() {
	now := time.Now()
	for _, q := range p.queues {
		p.drop(q, func(r pull) bool { return now.After(r.expiry) })
	}
	if p.requested == 0 {
		p.drained.Broadcast()
	}
	if p.closed {
		return
	}
	wait, most := p.nextExpiry(now), min(len(p.idle), p.room())
	if most < len(p.idle) {
		wait = min(wait, waitLimit)
	}
	if most < p.requested {
		p.takeBack(func(*taskQueue) bool { return true })
	}
	p.timer.Reset(wait)
	for range p.queues {
		free := most - p.requested
		if free <= 0 || p.pauses > 0 {
			return
		}
		q := p.queues[0]
		p.queues = append(p.queues[1:], q)
		p.requestFrom(q, free, now)
	}
}

// requestFrom makes a request to one queue, if it is its turn. mu is held.
func (p *puller) requestFrom(q *taskQueue, free int, now time.Time) {
	pending := q.pending()
	switch {
	case q.repairing:
	case len(p.queues) == 1:
		// To make one request for many slots that become idle one after the other, the next
		// request is made when at least as many slots are free as are requested.
		if free >= pending {
			p.send(q, free, waitAlone, now)
		}
	case !p.more():
		share := max(1, (len(p.idle)+len(p.queues)-1)/len(p.queues))
		if n := min(share-pending, free); n > 0 {
			p.send(q, n, waitShared, now)
		}
	case len(q.pulls) > 0:
	case q.more:
		p.send(q, free, waitTurn, now)
	case now.Sub(q.asked) >= waitShared:
		p.send(q, 1, waitTurn, now)
	}
}

// pending returns how many tasks are requested from the queue.
func (q *taskQueue) pending() int {
	n := 0
	for _, r := range q.pulls {
		n += r.left
	}
	return n
}

// send requests n tasks that come within wait, in as many requests as the server wants. wait is never zero: when the limit of a
// consumer is reached, the server does not answer requests that do not wait. mu is held.
func (p *puller) send(q *taskQueue, n int, wait time.Duration, now time.Time) {
	if most := p.client.batch(q.handler.about()); n > most {
		defer p.send(q, n-most, wait, now)
		n = most
	}
	wait = min(wait, p.client.lease(q.handler.about())/3)
	request := struct {
		Batch    int           `json:"batch"`
		MaxBytes int           `json:"max_bytes,omitempty"`
		Expires  time.Duration `json:"expires"`
	}{Batch: n, Expires: wait}
	if bytes := p.client.requestBytes(); int64(n)*p.client.nc.MaxPayload() > int64(bytes) {
		request.MaxBytes = bytes // costs a message at the end of the request
	}
	data, _ := json.Marshal(request) // numbers only
	if p.client.nc.PublishRequest(q.subject, q.inbox.subject, data) != nil {
		return // not connected: onReconnect requests again
	}
	q.asked = now
	q.pulls = append(q.pulls, pull{n, q.inbox, now, now.Add(wait + dropAfter)})
	p.requested += n
}

// nextExpiry returns the time until a request must be dropped. mu is held.
func (p *puller) nextExpiry(now time.Time) time.Duration {
	wait := waitAlone + dropAfter
	for _, q := range p.queues {
		for _, r := range q.pulls {
			wait = min(wait, max(r.expiry.Sub(now), 0)+time.Millisecond)
		}
	}
	return wait
}

// drop forgets requests to a queue, and closes their inbox, so that a late task is not taken
// for the answer to a later request. mu is held.
func (p *puller) drop(q *taskQueue, which func(pull) bool) {
	closeInbox := false
	kept := q.pulls[:0]
	for _, r := range q.pulls {
		if !which(r) {
			kept = append(kept, r)
			continue
		}
		p.requested -= r.left
		q.more = false
		if r.inbox.dropped.IsZero() {
			r.inbox.dropped = r.asked
		}
		closeInbox = closeInbox || r.inbox == q.inbox
	}
	q.pulls = kept
	if closeInbox {
		p.closeInbox(q)
	}
}

// oldest returns when the oldest request was made that a message in an inbox may answer;
// zero if there is none. mu is held.
func (q *taskQueue) oldest(in *inbox) time.Time {
	oldest := in.dropped
	for _, r := range q.pulls {
		if r.inbox == in && (oldest.IsZero() || r.asked.Before(oldest)) {
			oldest = r.asked
		}
	}
	return oldest
}

// settle subtracts n tasks from the requests of an inbox, the oldest request first. mu is
// held.
func (p *puller) settle(q *taskQueue, in *inbox, n int) {
	kept := q.pulls[:0]
	for _, r := range q.pulls {
		if r.inbox == in {
			m := min(n, r.left)
			r.left -= m
			n -= m
			p.requested -= m
		}
		if r.left > 0 {
			kept = append(kept, r)
		}
	}
	q.pulls = kept
}

// receive takes a task, or the end of a request.
func (p *puller) receive(q *taskQueue, in *inbox, m *nats.Msg) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.notify()
	defer p.request()
	if status := m.Header.Get("Status"); status != "" && len(m.Data) == 0 {
		p.onEnd(q, in, status, m.Header)
		return
	}
	d := p.parse(q, m)
	if d == nil {
		return
	}
	d.asked = q.oldest(in)
	p.settle(q, in, 1)
	isFull := p.room() <= 0
	if isFull { // before the server sends it again
		p.takeBack(func(*taskQueue) bool { return true })
	}
	if len(p.idle) == 0 || d.asked.IsZero() || isFull {
		_ = m.Respond([]byte("-NAK")) // of a request that was dropped, or the limit has fallen
		return
	}
	p.taken++
	last := len(p.idle) - 1
	p.idle[last] <- d
	p.idle = p.idle[:last]
	if q.more { // requests to empty queues end, while others have more
		p.takeBack(func(q *taskQueue) bool { return !q.more })
	}
}

// room returns how many more tasks may run. mu is held.
func (p *puller) room() int {
	if p.limit == nil {
		return math.MaxInt
	}
	return p.limit() - p.taken
}

// finished is called by a slot whose task has ended.
func (p *puller) finished() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken--; p.taken == 0 {
		p.drained.Broadcast()
	}
	if p.limit != nil {
		p.request()
	}
}

// awaitFinished waits for the tasks that slots have.
func (p *puller) awaitFinished() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.taken > 0 {
		p.drained.Wait()
	}
}

// onEnd records the end of a request. If it is neither complete nor expired, the consumer
// is moving to another server or is gone; it is repaired. mu is held.
func (p *puller) onEnd(q *taskQueue, in *inbox, status string, header nats.Header) {
	left, err := strconv.Atoi(header.Get("Nats-Pending-Messages"))
	if i := slices.IndexFunc(q.pulls, func(r pull) bool { return r.inbox == in }); err != nil && i >= 0 {
		left = q.pulls[i].left
	}
	p.settle(q, in, max(0, left))
	switch why := header.Get("Description"); {
	case why == complete: // the last task said whether there are more
	case why == tooManyBytes:
		q.more = true
	case status == "408":
		q.more, q.repairs = false, 0
	default:
		q.more = false
		p.repair(q)
	}
}

// parse reads a task from its message; it returns nil if the message is not from the queue.
// Every client may publish to the queue.
func (p *puller) parse(q *taskQueue, m *nats.Msg) *delivery {
	meta, err := m.Metadata()
	if err != nil {
		return nil
	}
	q.more, q.repairs = meta.NumPending > 0, 0
	d := &delivery{msg: m, handler: q.handler, deliveries: int(meta.NumDelivered), sequence: meta.Sequence.Stream}
	rest := strings.TrimPrefix(m.Subject, p.client.names.prefix+".task."+q.handler.about().token+".")
	key, number, _ := strings.Cut(rest, ".")
	if index, err := strconv.Atoi(number); err == nil && index >= 0 && strconv.Itoa(index) == number && isKey(key) && isOwn(m.Header) {
		d.key, d.index = key, index
	}
	return d
}

// takeBack ends the requests to some queues. mu is held.
func (p *puller) takeBack(which func(*taskQueue) bool) {
	for _, q := range p.queues {
		if which(q) && len(q.pulls) > 0 && q.pulls[len(q.pulls)-1].inbox == q.inbox {
			p.closeInbox(q)
		}
	}
}

// closeInbox ends the requests to a queue. Tasks in transit still arrive, before onDrained.
// mu is held.
func (p *puller) closeInbox(q *taskQueue) {
	old := q.inbox.sub
	if err := p.subscribe(q); err != nil { // the client was closed
		return
	}
	_ = old.Drain() // if it fails, the requests are dropped in time
}

// onDrained is called when nothing more arrives at a closed inbox.
func (p *puller) onDrained(q *taskQueue, in *inbox) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle(q, in, math.MaxInt)
	p.request()
	p.notify()
}

// refresh repeats requests that were dropped.
func (p *puller) refresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.request()
	p.notify()
}

// onReconnect repeats all requests after a reconnection, and restores consumers that a
// server had in its memory.
func (p *puller) onReconnect(reconnect chan nats.Status) {
	for range reconnect {
		p.mu.Lock()
		for _, q := range p.queues {
			p.drop(q, func(r pull) bool { return r.inbox == q.inbox }) // the server may have them or not
			p.repair(q)
		}
		p.mu.Unlock()
	}
}

// repair creates the consumer of a queue if it is gone, after a moment, and then lets it be
// asked again. mu is held.
func (p *puller) repair(q *taskQueue) {
	if q.repairing || p.closed {
		return
	}
	q.repairing = true
	wait := backoff(repairWait, min(q.repairs, 6))
	p.repairs.Go(func() {
		sleep(p.life, wait)
		if err := p.client.createConsumer(p.life, q.handler.about()); err != nil && p.life.Err() == nil {
			p.client.conf.log.Warn("cluster: the consumer of a task", "task", q.handler.Name(), "error", err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		q.repairing = false
		q.repairs++
		p.request()
	})
}

// pause ends all requests, and makes none until resume. It returns when none is at the
// server, and the tasks that came have their slots.
func (p *puller) pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pauses++
	for _, q := range p.queues {
		if len(q.pulls) > 0 {
			p.closeInbox(q)
		}
	}
	for p.requested > 0 && p.client.life.Err() == nil {
		p.drained.Wait() // at last the timer drops the requests
	}
}

// resume ends a pause.
func (p *puller) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pauses--
	p.request()
	p.notify()
}

// close ends the requests, and releases the idle slots.
func (p *puller) close() {
	p.pause()
	p.end()
	p.mu.Lock()
	p.closed = true
	for _, c := range p.idle {
		close(c)
	}
	p.idle = nil
	for _, q := range p.queues {
		if q.inbox != nil {
			_ = q.inbox.sub.Unsubscribe()
		}
	}
	if p.timer != nil {
		p.timer.Stop()
		p.client.nc.RemoveStatusListener(p.reconnect)
	}
	p.mu.Unlock()
	p.repairs.Wait()
}
