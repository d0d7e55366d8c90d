package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stint-go/stint"
)

// leases holds the leases of a worker's tasks.
//
// The server gives a task to another worker when it has received no heartbeat for the
// length of the lease. The worker sends a heartbeat each third of that. The server does not
// say when it gives a task to another worker, and answers the old worker as before. So the
// worker has a clock: a lease ends its length after the last answered heartbeat, or the
// request for the task, was sent. Later answers do not count: the task may have belonged to
// another worker when the server received the heartbeat.
type leases struct {
	client *Client
	inbox  string
	sub    *nats.Subscription
	start  time.Time // the times in heartbeats count from it
	stop   chan struct{}
	ended  sync.WaitGroup

	mu   sync.Mutex
	held map[uint64]*lease
	last uint64 // number of a lease
}

// A lease is a task that a worker has.
type lease struct {
	*delivery
	number uint64
	ctx    context.Context // of the function
	cancel context.CancelCauseFunc
	lost   atomic.Bool // nothing more is sent for it
	parted atomic.Bool // a part was sent

	marking sync.Mutex // held while the mark is sent again or removed
	mark    string     // subject of the quarantine mark
	marked  time.Time  // when it was sent

	length   time.Duration
	sent     time.Time // the last heartbeat
	expiry   time.Time // by the clock of the worker
	requeued bool
	leases   *leases
}

func newLeases(c *Client) *leases {
	return &leases{client: c, start: time.Now(), stop: make(chan struct{}), held: map[uint64]*lease{}}
}

// open subscribes to the answers to heartbeats, and starts the clock.
func (s *leases) open() (err error) {
	s.inbox = s.client.nc.NewInbox()
	if s.sub, err = s.client.nc.Subscribe(s.inbox+".*.*", s.onAnswer); err == nil {
		s.ended.Go(s.watch)
	}
	return err
}

// hold returns the lease of a delivery. The context of the lease has the values of ctx, the
// context of the slot, but does not end with ctx: the result is sent after the slot is
// free.
func (s *leases) hold(ctx context.Context, d *delivery) *lease {
	length := s.client.lease(d.handler.about())
	l := &lease{delivery: d, length: length, sent: d.asked, expiry: d.asked.Add(length), leases: s}
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	l.number = s.last
	s.held[l.number] = l
	if s.client.life.Err() != nil { // the other tasks were interrupted already
		l.cancel(stint.ErrClosed)
	}
	return l
}

// release ends a lease.
func (s *leases) release(l *lease) {
	s.mu.Lock()
	delete(s.held, l.number)
	s.mu.Unlock()
	l.cancel(nil)
}

// watch sends heartbeats and ends leases until close.
func (s *leases) watch() {
	tick := time.NewTicker(s.shortest() / 12)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			s.heartbeat(now)
		case <-s.client.life.Done():
			s.interrupt(stint.ErrClosed, func(*lease) bool { return true })
			return
		case <-s.stop:
			return
		}
	}
}

// shortest returns the shortest lease of the tasks with handlers.
func (s *leases) shortest() time.Duration {
	shortest := time.Hour
	for _, h := range s.client.handlers {
		shortest = min(shortest, h.about().lease)
	}
	return shortest
}

// heartbeat sends the heartbeats and marks that are due, and ends the leases that have expired.
func (s *leases) heartbeat(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.held {
		l.renewMark(now)
		switch {
		case l.requeued:
		case !now.Before(l.expiry):
			l.cancel(ErrLeaseLost)
			l.lost.Store(true)
		case now.Sub(l.sent) >= l.length/3:
			reply := s.inbox + "." + strconv.FormatUint(l.number, 10) + "." + strconv.FormatInt(int64(now.Sub(s.start)), 10)
			if s.client.nc.PublishRequest(l.msg.Reply, reply, []byte("+WPI")) == nil {
				l.sent = now
			}
		}
	}
}

// onAnswer extends a lease when the server has answered a heartbeat.
func (s *leases) onAnswer(m *nats.Msg) {
	tokens := strings.Split(m.Subject, ".")
	number, err := strconv.ParseUint(tokens[len(tokens)-2], 10, 64)
	sent, err2 := strconv.ParseInt(tokens[len(tokens)-1], 10, 64)
	if err != nil || err2 != nil || m.Header.Get("Status") != "" { // 503: the server has not received it
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if l := s.held[number]; l != nil && now.Before(l.expiry) && time.Duration(sent) <= now.Sub(s.start) {
		if expiry := s.start.Add(time.Duration(sent) + l.length); expiry.After(l.expiry) {
			l.expiry = expiry
		}
	}
}

// interrupt ends the contexts of the leases that which selects.
func (s *leases) interrupt(cause error, which func(*lease) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.held {
		if which(l) {
			l.cancel(cause)
		}
	}
}

// requeue interrupts all tasks, and returns them to the queue.
func (s *leases) requeue() {
	s.interrupt(stint.ErrClosed, func(*lease) bool { return true })
	s.mu.Lock()
	held := slices.Collect(maps.Values(s.held))
	s.mu.Unlock()
	for _, l := range held {
		l.requeue()
	}
}

// requeue returns the task to the queue: another worker gets it at once. It does nothing
// after the end of the lease, when another worker may have the task.
func (l *lease) requeue() {
	l.unmark()
	l.leases.mu.Lock()
	defer l.leases.mu.Unlock()
	if !l.requeued && !l.lost.Load() {
		l.requeued = true
		_ = l.msg.Respond([]byte("-NAK")) // if it fails, the lease ends
	}
}

// requeueLater returns the task to the queue, for a worker that gets it a lease later.
func (l *lease) requeueLater() {
	_ = l.msg.Respond(fmt.Appendf(nil, `-NAK {"delay": %d}`, l.length))
}

// keys returns the keys of the runs of all tasks.
func (s *leases) keys() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := map[string]bool{}
	for _, l := range s.held {
		if l.key != "" {
			keys[l.key] = true
		}
	}
	return keys
}

// count returns the number of leases.
func (s *leases) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

// close stops the clock, when there are no more leases.
func (s *leases) close() {
	if s.sub != nil {
		close(s.stop)
		s.ended.Wait()
		_ = s.sub.Unsubscribe()
	}
}

func (l *lease) kind() *kind { return l.handler.about() }

// id returns the task's ID.
func (l *lease) id() string { return l.key + "/" + strconv.Itoa(l.index) }

// resultSubject returns the subject of the task's result.
func (l *lease) resultSubject() string { return l.leases.client.names.of("result", l.key, l.index) }
