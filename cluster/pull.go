package cluster

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// A puller asks the server for tasks: for exactly as many as there are idle slots.
//
// A slot is, in this order,
//
//	idle      it waits here
//	promised  a request at the server covers it; which slot that is, is not said
//	taken     a task came, and the slot has it
//
// Always promised <= idle. A request ends when all it asked for came, or when it
// expires: the server then says what is left of it. If it does not, since the
// connection was lost or the server died, the request is forgotten some time later; a
// task that comes after that and finds no idle slot is given back.
//
// The lease of a task begins when the server sends it, which is not known here. It is not
// before the request. So that is where it begins for the worker, and a request waits no
// longer than a third of the lease. The server may answer the requests of an inbox in
// any order: what comes is taken for the oldest, until that has all that it asked for.
// Then the server had the next one before it sent what comes.
//
// A worker of several tasks has a consumer for each, and cannot ask for "any of them".
// While there is more in the queue of some, those are asked in turn, for what comes in
// a moment, and the others each second. When all are empty, the idle slots are divided
// among them; when one then gets more, what was promised to the others is taken back.
type puller struct {
	e       *Engine
	changes chan nats.Status
	life    context.Context // ends with close
	end     context.CancelFunc
	mending sync.WaitGroup
	changed chan struct{} // whether one more slot is wanted is to be looked at

	mu       sync.Mutex
	lines    []*line // one for each task, those asked longest ago first
	idle     []chan *delivery
	promised int
	coming   int        // slots that were wanted and are not idle yet
	paused   int        // by those who run alone, and by close
	quiet    *sync.Cond // nothing is promised
	closed   bool
	timer    *time.Timer
}

// A line is the queue of the tasks with one name.
type line struct {
	handler Handler
	next    string // the subject of requests
	inbox   *inbox // of the next requests
	more    bool   // the last task came with the word that there are more
	mending bool   // it may not be there: it is not asked
	broken  int    // how often it was mended in a row
	asked   time.Time
	pulls   []pull // at the server, in the order in which it serves them
}

// An inbox is where tasks come, and the word that a request has ended.
type inbox struct {
	subject string
	sub     *nats.Subscription
	since   time.Time // the first request of it that was forgotten; zero: none
}

// A pull is a request.
type pull struct {
	left   int // of what it asks for
	inbox  *inbox
	asked  time.Time
	expiry time.Time
}

// A delivery is a task as it came from the server.
type delivery struct {
	msg        *nats.Msg
	handler    Handler
	key        string // of the run; empty: it is no task
	index      int
	deliveries int
	sequence   uint64
	asked      time.Time // the server has not sent it before
}

const (
	pullFor   = 2 * time.Second       // a request waits at the server, or a third of the lease
	shareFor  = time.Second           // if there are other tasks that the slots could wait for
	turnFor   = 50 * time.Millisecond // if some of these have more
	pullGrace = time.Second           // until a request without an answer is forgotten
	mendAfter = 100 * time.Millisecond
)

func newPuller(e *Engine, kinds map[string]Handler) *puller {
	p := &puller{e: e, changed: make(chan struct{}, 1)}
	p.life, p.end = context.WithCancel(e.life)
	p.quiet = sync.NewCond(&p.mu)
	for token, h := range kinds {
		p.lines = append(p.lines, &line{handler: h, next: "$JS.API.CONSUMER.MSG.NEXT." + e.names.stream("tasks") + "." + token})
	}
	return p
}

// open begins to listen for tasks.
func (p *puller) open() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(time.Hour, p.look)
	p.changes = p.e.nc.StatusChanged(nats.CONNECTED)
	p.mending.Go(func() { p.reconnected(p.changes) })
	for _, l := range p.lines {
		if err := p.subscribe(l); err != nil {
			return err
		}
	}
	return nil
}

// subscribe makes the inbox of a line's next requests. mu is held.
func (p *puller) subscribe(l *line) error {
	in := &inbox{subject: p.e.nc.NewInbox()}
	sub, err := p.e.nc.Subscribe(in.subject, func(m *nats.Msg) { p.receive(l, in, m) })
	if err != nil {
		return err
	}
	_ = sub.SetPendingLimits(-1, -1) // there are never more than slots
	sub.SetClosedHandler(func(string) { p.drained(l, in) })
	in.sub, l.inbox = sub, in
	return nil
}

// wanted waits until one more slot would be of use: none is idle, or there is more in
// the queue. It returns false when ctx has ended.
func (p *puller) wanted(ctx context.Context) bool {
	for {
		p.mu.Lock()
		want := p.paused == 0 && (len(p.idle)+p.coming == 0 || p.more())
		if want {
			p.coming++
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

// poke makes wanted look again.
func (p *puller) poke() { post(p.changed, struct{}{}) }

// more reports whether there was more in one of the lines. mu is held.
func (p *puller) more() bool {
	for _, l := range p.lines {
		if l.more {
			return true
		}
	}
	return false
}

// next is called by a slot. It waits for a task, and returns nil when the worker ends.
func (p *puller) next() *delivery {
	c := make(chan *delivery, 1)
	p.mu.Lock()
	p.coming--
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.idle = append(p.idle, c)
	p.ask()
	p.mu.Unlock()
	return <-c
}

// ask makes requests for the idle slots that are not promised. mu is held.
func (p *puller) ask() {
	now := time.Now()
	p.forget(now)
	if p.promised == 0 {
		p.quiet.Broadcast()
	}
	if p.closed {
		return
	}
	p.timer.Reset(p.nearest(now))
	for range p.lines {
		free := len(p.idle) - p.promised
		if free <= 0 || p.paused > 0 {
			return
		}
		l := p.lines[0]
		p.lines = append(p.lines[1:], l)
		p.askFor(l, free, now)
	}
}

// askFor makes a request for tasks of one line, if it is its turn.
func (p *puller) askFor(l *line, free int, now time.Time) {
	pending := l.pending()
	switch {
	case l.mending:
	case len(p.lines) == 1:
		// Many slots that become idle one after the other are one request: the next
		// is made when at least as many are free as are promised.
		if free >= pending {
			p.request(l, free, pullFor, now)
		}
	case !p.more():
		share := max(1, (len(p.idle)+len(p.lines)-1)/len(p.lines))
		if n := min(share-pending, free); n > 0 {
			p.request(l, n, shareFor, now)
		}
	case len(l.pulls) > 0:
	case l.more:
		p.request(l, free, turnFor, now)
	case now.Sub(l.asked) >= shareFor:
		p.request(l, 1, turnFor, now)
	}
}

// pending is how many tasks the requests of the line are for.
func (l *line) pending() int {
	n := 0
	for _, q := range l.pulls {
		n += q.left
	}
	return n
}

// request asks for n tasks, those that come in that time. It is never none: a server
// whose limit for the line is reached does not answer requests that do not wait. mu is held.
func (p *puller) request(l *line, n int, wait time.Duration, now time.Time) {
	wait = min(wait, p.e.lease(l.handler.about())/3)
	ask := struct {
		Batch    int           `json:"batch"`
		MaxBytes int           `json:"max_bytes,omitempty"`
		Expires  time.Duration `json:"expires"`
	}{Batch: n, Expires: wait}
	if most := p.e.requestBytes(); int64(n)*p.e.nc.MaxPayload() > int64(most) {
		ask.MaxBytes = most // the end of such a request is a message more
	}
	data, _ := json.Marshal(ask) // numbers only
	if p.e.nc.PublishRequest(l.next, l.inbox.subject, data) != nil {
		return // not connected: when it is again, all is asked again
	}
	l.asked = now
	l.pulls = append(l.pulls, pull{n, l.inbox, now, now.Add(wait + pullGrace)})
	p.promised += n
}

// nearest returns how long it is until a request is to be forgotten. mu is held.
func (p *puller) nearest(now time.Time) time.Duration {
	wait := pullFor + pullGrace
	for _, l := range p.lines {
		for _, q := range l.pulls {
			wait = min(wait, max(q.expiry.Sub(now), 0)+time.Millisecond)
		}
	}
	return wait
}

// forget drops the requests that should have been answered. mu is held.
func (p *puller) forget(now time.Time) {
	for _, l := range p.lines {
		p.lapse(l, func(q pull) bool { return now.After(q.expiry) })
	}
}

// lapse drops requests of a line. Their inbox is given up: what comes of them still is not
// taken for the answer to a later one. mu is held.
func (p *puller) lapse(l *line, over func(pull) bool) {
	giveUp := false
	kept := l.pulls[:0]
	for _, q := range l.pulls {
		if !over(q) {
			kept = append(kept, q)
			continue
		}
		p.promised -= q.left
		l.more = false
		if q.inbox.since.IsZero() {
			q.inbox.since = q.asked
		}
		giveUp = giveUp || q.inbox == l.inbox
	}
	l.pulls = kept
	if giveUp {
		p.drain(l)
	}
}

// since returns when the oldest request was made that what comes to an inbox may be the
// answer to; zero: there is none. mu is held.
func (l *line) since(in *inbox) time.Time {
	since := in.since
	for _, q := range l.pulls {
		if q.inbox == in && (since.IsZero() || q.asked.Before(since)) {
			since = q.asked
		}
	}
	return since
}

// answered takes n off the requests of an inbox of the line, the oldest first. mu is
// held.
func (p *puller) answered(l *line, in *inbox, n int) {
	kept := l.pulls[:0]
	for _, q := range l.pulls {
		if q.inbox == in {
			m := min(n, q.left)
			q.left -= m
			n -= m
			p.promised -= m
		}
		if q.left > 0 {
			kept = append(kept, q)
		}
	}
	l.pulls = kept
}

// all is more than a line has requests for.
const all = 1 << 30

// receive takes a task, or the word of the server that a request has ended.
func (p *puller) receive(l *line, in *inbox, m *nats.Msg) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.poke()
	defer p.ask()
	if status := m.Header.Get("Status"); status != "" && len(m.Data) == 0 {
		p.ended(l, in, status, m.Header)
		return
	}
	d := p.parse(l, m)
	if d == nil {
		return
	}
	d.asked = l.since(in)
	p.answered(l, in, 1)
	if len(p.idle) == 0 || d.asked.IsZero() {
		_ = m.Respond([]byte("-NAK")) // of a request that was forgotten
		return
	}
	last := len(p.idle) - 1
	p.idle[last] <- d
	p.idle = p.idle[:last]
	if l.more {
		p.takeBack()
	}
}

// ended notes that a request has ended. Other reasons than that there is no task or that it
// is complete are that the line is on its way to another server, or gone: then it is left
// alone for a moment, and made if it is not there. mu is held.
func (p *puller) ended(l *line, in *inbox, status string, header nats.Header) {
	left, err := strconv.Atoi(header.Get("Nats-Pending-Messages"))
	if i := slices.IndexFunc(l.pulls, func(q pull) bool { return q.inbox == in }); err != nil && i >= 0 {
		left = l.pulls[i].left
	}
	p.answered(l, in, max(0, left))
	switch why := header.Get("Description"); {
	case why == complete: // there is more if the last task said so
	case why == tooManyBytes:
		l.more = true
	case status == "408":
		l.more, l.broken = false, 0
	default:
		l.more = false
		p.mend(l)
	}
}

// What the server says at the end of a request that is bounded in bytes.
const (
	tooManyBytes = "Message Size Exceeds MaxBytes" // the next task is more than what is left of these
	complete     = "Batch Completed"               // all came that it was for
)

// parse reads a task from its message; it returns nil if that is not from the queue. Anything
// may be in the queue that somebody has published there.
func (p *puller) parse(l *line, m *nats.Msg) *delivery {
	meta, err := m.Metadata()
	if err != nil {
		return nil
	}
	l.more, l.broken = meta.NumPending > 0, 0
	d := &delivery{msg: m, handler: l.handler, deliveries: int(meta.NumDelivered), sequence: meta.Sequence.Stream}
	rest := strings.TrimPrefix(m.Subject, p.e.names.prefix+".task."+l.handler.about().token+".")
	key, number, _ := strings.Cut(rest, ".")
	if index, err := strconv.Atoi(number); err == nil && index >= 0 && strconv.Itoa(index) == number && isKey(key) && isOwn(m.Header) {
		d.key, d.index = key, index
	}
	return d
}

// takeBack ends the requests to lines that are empty, while others have more. mu is
// held.
func (p *puller) takeBack() {
	for _, l := range p.lines {
		if !l.more && len(l.pulls) > 0 && l.pulls[len(l.pulls)-1].inbox == l.inbox {
			p.drain(l)
		}
	}
}

// drain ends the requests of a line: it gives up their inbox. What is on its way comes
// still, and drained says when it has. mu is held.
func (p *puller) drain(l *line) {
	old := l.inbox.sub
	if err := p.subscribe(l); err != nil { // the engine was closed
		return
	}
	_ = old.Drain() // if it fails, the requests are forgotten in time
}

// drained says that nothing comes any more to an inbox that was given up.
func (p *puller) drained(l *line, in *inbox) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered(l, in, all)
	p.ask()
	p.poke()
}

// look asks again what was forgotten.
func (p *puller) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ask()
	p.poke()
}

// reconnected asks again for everything when the connection is there again. Streams
// in the memory of a server are gone with it.
func (p *puller) reconnected(changes chan nats.Status) {
	for range changes {
		p.mu.Lock()
		for _, l := range p.lines {
			p.lapse(l, func(q pull) bool { return q.inbox == l.inbox }) // what the server still has of them is not ours to count
			p.mend(l)
		}
		p.mu.Unlock()
	}
}

// mend makes sure, in a moment, that a line is there, and lets it be asked again. mu is
// held.
func (p *puller) mend(l *line) {
	if l.mending || p.closed {
		return
	}
	l.mending = true
	wait := backoff(mendAfter, min(l.broken, 6))
	p.mending.Go(func() {
		select {
		case <-time.After(wait):
		case <-p.life.Done():
		}
		if err := p.e.createConsumer(p.life, l.handler.about()); err != nil && p.life.Err() == nil {
			p.e.conf.Log.Warn("cluster: the queue of a task", "task", l.handler.Name(), "error", err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		l.mending = false
		l.broken++
		p.ask()
	})
}

// pause makes no requests until resume, and returns when none is at the server: what
// came of them has its slot.
func (p *puller) pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused++
	for _, l := range p.lines {
		if len(l.pulls) > 0 {
			p.drain(l)
		}
	}
	for p.promised > 0 && p.e.life.Err() == nil {
		p.quiet.Wait() // if nothing is drained the timer forgets the requests
	}
}

// resume ends what pause began.
func (p *puller) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused--
	p.ask()
	p.poke()
}

// close ends the requests, and sends the idle slots home.
func (p *puller) close() {
	p.pause()
	p.end()
	p.mu.Lock()
	p.closed = true
	for _, c := range p.idle {
		close(c)
	}
	p.idle = nil
	for _, l := range p.lines {
		if l.inbox != nil {
			_ = l.inbox.sub.Unsubscribe()
		}
	}
	if p.timer != nil {
		p.timer.Stop()
		p.e.nc.RemoveStatusListener(p.changes)
	}
	p.mu.Unlock()
	p.mending.Wait()
}
