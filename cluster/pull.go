package cluster

import (
	"context"
	"encoding/json"
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
// A worker of several tasks has a consumer for each, and cannot ask for "any of them".
// While there is more in the queue of some, those are asked in turn, for what is there at
// once. The others are asked each second. When all are empty, the idle slots are
// divided among them for a second.
type puller struct {
	e       *Engine
	inbox   string
	sub     *nats.Subscription
	changes chan nats.Status
	life    context.Context // ends with close
	end     context.CancelFunc
	mending sync.WaitGroup

	mu       sync.Mutex
	lines    []*line // one for each task, those asked longest ago first
	idle     []chan *delivery
	promised int
	coming   int           // slots that were wanted and are not idle yet
	changed  chan struct{} // whether one more slot is wanted is to be looked at
	paused   int           // by those who run alone
	closed   bool
	drained  chan struct{} // of the subscription that ends
	timer    *time.Timer
}

// A line is the queue of the tasks with one name.
type line struct {
	handler Handler
	next    string // the subject of requests
	more    bool   // the last task came with the word that there are more
	asked   time.Time
	mending bool   // it may not be there: it is not asked
	pulls   []pull // at the server, in the order in which it serves them
}

// A pull is a request.
type pull struct {
	left   int // of what it asks for
	expiry time.Time
}

// A delivery is a task as it came from the server.
type delivery struct {
	msg        *nats.Msg
	handler    Handler
	key        string // of the run
	index      int
	deliveries int
	came       time.Time
}

const (
	pullFor   = 2 * time.Second // a request waits at the server
	shareFor  = time.Second     // if there are other tasks that the slots could wait for
	pullGrace = time.Second     // until a request without an answer is forgotten
	mendAfter = 100 * time.Millisecond
)

func newPuller(e *Engine, kinds map[string]Handler) *puller {
	p := &puller{e: e, changed: make(chan struct{}, 1)}
	p.life, p.end = context.WithCancel(e.life)
	for token, h := range kinds {
		p.lines = append(p.lines, &line{handler: h, next: "$JS.API.CONSUMER.MSG.NEXT." + e.names.stream("tasks") + "." + token})
	}
	return p
}

// open begins to listen for tasks.
func (p *puller) open() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(time.Hour, p.look)
	p.changes = p.e.nc.StatusChanged(nats.CONNECTED)
	p.mending.Go(func() { p.reconnected(p.changes) })
	return p.subscribe()
}

// subscribe makes the inbox of the next requests. mu is held.
func (p *puller) subscribe() (err error) {
	p.inbox = p.e.nc.NewInbox()
	p.sub, err = p.e.nc.Subscribe(p.inbox+".*", p.receive)
	if err == nil {
		p.sub.SetPendingLimits(-1, -1)
		drained := make(chan struct{})
		p.drained = drained
		p.sub.SetClosedHandler(func(string) { close(drained) })
	}
	return err
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
	if p.paused > 0 || p.closed {
		return
	}
	p.forget(now)
	for range p.lines {
		free := len(p.idle) - p.promised
		if free == 0 {
			break
		}
		l := p.lines[0]
		p.lines = append(p.lines[1:], l)
		p.askFor(l, free, now)
	}
	p.timer.Reset(pullFor + pullGrace)
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
		p.request(l, free, 0, now)
	case now.Sub(l.asked) >= shareFor:
		p.request(l, 1, 0, now)
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

// request asks for n tasks, those that come in that time, or those that are there if it
// is 0. mu is held.
func (p *puller) request(l *line, n int, wait time.Duration, now time.Time) {
	ask := struct {
		Batch   int           `json:"batch"`
		Expires time.Duration `json:"expires,omitempty"`
		NoWait  bool          `json:"no_wait,omitempty"`
	}{n, wait, wait == 0}
	data, _ := json.Marshal(ask) // numbers only
	if p.e.nc.PublishRequest(l.next, p.inbox+"."+l.handler.about().token, data) != nil {
		return // not connected: when it is again, all is asked again
	}
	l.asked = now
	l.pulls = append(l.pulls, pull{n, now.Add(wait + pullGrace)})
	p.promised += n
}

// forget drops the requests that should have been answered. mu is held.
func (p *puller) forget(now time.Time) {
	for _, l := range p.lines {
		for len(l.pulls) > 0 && now.After(l.pulls[0].expiry) {
			p.promised -= l.pulls[0].left
			l.pulls = l.pulls[1:]
			l.more = false
		}
	}
}

// answered takes n off the requests of the line, the oldest first. mu is held.
func (p *puller) answered(l *line, n int) {
	for n > 0 && len(l.pulls) > 0 {
		q := &l.pulls[0]
		m := min(n, q.left)
		q.left -= m
		n -= m
		p.promised -= m
		if q.left == 0 {
			l.pulls = l.pulls[1:]
		}
	}
}

// receive takes a task, or the word of the server that a request has ended.
func (p *puller) receive(m *nats.Msg) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if status := m.Header.Get("Status"); status != "" && len(m.Data) == 0 {
		p.expired(m, status)
		return
	}
	d, l := p.parse(m)
	if l == nil {
		return
	}
	p.answered(l, 1)
	if len(p.idle) == 0 {
		_ = m.Respond([]byte("-NAK")) // of a request that was forgotten
		return
	}
	last := len(p.idle) - 1
	p.idle[last] <- d
	p.idle = p.idle[:last]
	p.ask()
	p.poke()
}

// expired notes that a request of one line has ended. Other reasons than that there is
// no task are that the line is on its way to another server, or gone: then it is left
// alone for a moment, and made if it is not there. mu is held.
func (p *puller) expired(m *nats.Msg, status string) {
	token := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	for _, l := range p.lines {
		if l.handler.about().token != token || len(l.pulls) == 0 {
			continue
		}
		left, err := strconv.Atoi(m.Header.Get("Nats-Pending-Messages"))
		if err != nil {
			left = l.pulls[0].left
		}
		p.answered(l, left)
		l.more = false
		if status != "404" && status != "408" && !l.mending && !p.closed {
			l.mending = true
			p.mending.Go(func() { p.mend(l) })
		}
	}
	p.ask()
	p.poke()
}

// mend makes sure that a line is there, and lets it be asked again.
func (p *puller) mend(l *line) {
	select {
	case <-time.After(mendAfter):
	case <-p.life.Done():
	}
	if err := p.restore(l); err != nil && p.life.Err() == nil {
		p.e.conf.Log.Warn("cluster: the queue of a task", "task", l.handler.Name(), "error", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l.mending = false
	p.ask()
}

// parse reads a task from its message; the line is nil if it is none.
func (p *puller) parse(m *nats.Msg) (*delivery, *line) {
	meta, err := m.Metadata()
	tokens := strings.Split(strings.TrimPrefix(m.Subject, p.e.names.subject("task", "")), ".")
	if err != nil || len(tokens) != 3 {
		return nil, nil
	}
	index, err := strconv.Atoi(tokens[2])
	if err != nil {
		return nil, nil
	}
	for _, l := range p.lines {
		if l.handler.about().token == tokens[0] {
			l.more = meta.NumPending > 0
			return &delivery{m, l.handler, tokens[1], index, int(meta.NumDelivered), time.Now()}, l
		}
	}
	return nil, nil
}

// poke makes wanted look again.
func (p *puller) poke() { post(p.changed, struct{}{}) }

// look asks again what was forgotten.
func (p *puller) look() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ask()
}

// reconnected asks again for everything when the connection is there again. Streams
// in the memory of a server are gone with it.
func (p *puller) reconnected(changes chan nats.Status) {
	for range changes {
		p.mu.Lock()
		for _, l := range p.lines {
			p.answered(l, l.pending())
			if !l.mending {
				l.mending = true
				p.mending.Go(func() { p.mend(l) })
			}
		}
		p.mu.Unlock()
	}
}

// restore makes the streams and the consumer of a line, if they are gone.
func (p *puller) restore(l *line) error {
	if err := p.e.createStreams(p.life, false); err != nil {
		return err
	}
	return p.e.createConsumer(p.life, l.handler.about())
}

// pause makes no requests until resume, and returns when none is at the server: what
// came of them has its slot.
func (p *puller) pause() {
	p.mu.Lock()
	p.paused++
	first := p.paused == 1
	p.mu.Unlock()
	if first {
		p.drain()
	}
}

// drain ends the requests that are at the server.
func (p *puller) drain() {
	p.mu.Lock()
	sub, drained := p.sub, p.drained
	p.mu.Unlock()
	if sub == nil || sub.Drain() != nil {
		return
	}
	select {
	case <-drained: // what was on its way has come
	case <-time.After(patience):
	}
	p.mu.Lock()
	for _, l := range p.lines {
		p.answered(l, l.pending())
	}
	p.mu.Unlock()
}

// resume ends what pause began.
func (p *puller) resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused--; p.paused == 0 && !p.closed {
		if err := p.subscribe(); err != nil {
			p.e.conf.Log.Error("cluster: Serve: no tasks can be taken any more", "error", err)
		}
		p.ask()
		p.poke()
	}
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
	if p.timer != nil {
		p.timer.Stop()
		p.e.nc.RemoveStatusListener(p.changes)
	}
	p.mu.Unlock()
	p.mending.Wait()
}
