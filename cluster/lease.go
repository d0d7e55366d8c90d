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

// leases are those of the tasks that a worker has.
//
// The server gives a task to another worker when it has heard nothing of it for the
// length of the lease. So the worker says each third of that that it still has it. The
// server does not say when it has given a task to somebody else, and answers
// the old worker as before. So there is a clock here too: a lease ends when the last
// word that the server has answered was sent that long ago. The first word is the request
// for the task. A word that is answered when the lease has ended counts for nothing: the
// server may have got it when the task was another's.
type leases struct {
	e     *Engine
	inbox string
	sub   *nats.Subscription
	began time.Time // what times are sent as
	stop  chan struct{}
	ended sync.WaitGroup

	mu   sync.Mutex
	held map[uint64]*lease
	last uint64 // number given to a lease
}

// A lease is a task that is held.
type lease struct {
	*delivery
	number uint64
	ctx    context.Context // of the function: ends when there is no point in it any more
	cancel context.CancelCauseFunc
	lost   atomic.Bool // nothing is sent any more

	marking sync.Mutex // held while the mark is removed
	mark    string     // that it runs alone

	length time.Duration
	sent   time.Time // the last word
	until  time.Time // by our clock
	given  bool      // it was given back
	leases *leases
}

func newLeases(e *Engine) *leases {
	return &leases{e: e, began: time.Now(), stop: make(chan struct{}), held: map[uint64]*lease{}}
}

// open begins to listen to the answers of the server, and to look at the clock.
func (s *leases) open() (err error) {
	s.inbox = s.e.nc.NewInbox()
	if s.sub, err = s.e.nc.Subscribe(s.inbox+".*.*", s.heard); err == nil {
		s.ended.Go(s.watch)
	}
	return err
}

// hold makes the lease of a task that came. Its context is one of ctx, the slot's, but
// does not end with that: the result is sent when the slot is gone.
func (s *leases) hold(ctx context.Context, d *delivery) *lease {
	length := s.e.lease(d.handler.about())
	l := &lease{delivery: d, length: length, sent: d.asked, until: d.asked.Add(length), leases: s}
	l.ctx, l.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	l.number = s.last
	s.held[l.number] = l
	if s.e.life.Err() != nil { // the others were interrupted already
		l.cancel(stint.ErrClosed)
	}
	return l
}

// release ends a lease: the task is done, or left to others.
func (s *leases) release(l *lease) {
	s.mu.Lock()
	delete(s.held, l.number)
	s.mu.Unlock()
	l.cancel(nil)
}

// watch looks at the clock until close.
func (s *leases) watch() {
	tick := time.NewTicker(s.shortest() / 12)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			s.beat(now)
		case <-s.e.life.Done():
			s.interrupt(stint.ErrClosed, func(*lease) bool { return true })
			return
		case <-s.stop:
			return
		}
	}
}

// shortest returns the shortest lease of the tasks that there are handlers for.
func (s *leases) shortest() time.Duration {
	shortest := time.Hour
	for _, h := range s.e.handlers {
		shortest = min(shortest, h.about().lease)
	}
	return shortest
}

// beat says for each task that is held whether it is time that it is, and ends the
// leases whose time is up.
func (s *leases) beat(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.held {
		third := l.length / 3
		switch {
		case l.given:
		case !now.Before(l.until):
			l.cancel(ErrLeaseLost)
			l.lost.Store(true)
		case now.Sub(l.sent) >= third:
			reply := s.inbox + "." + strconv.FormatUint(l.number, 10) + "." + strconv.FormatInt(int64(now.Sub(s.began)), 10)
			if s.e.nc.PublishRequest(l.msg.Reply, reply, []byte("+WPI")) == nil {
				l.sent = now
			}
		}
	}
}

// heard is an answer to a word: the lease is as long as it was when that was sent.
func (s *leases) heard(m *nats.Msg) {
	tokens := strings.Split(m.Subject, ".")
	number, err := strconv.ParseUint(tokens[len(tokens)-2], 10, 64)
	sent, failed := strconv.ParseInt(tokens[len(tokens)-1], 10, 64)
	if err != nil || failed != nil || m.Header.Get("Status") != "" { // 503: nobody has heard it
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if l := s.held[number]; l != nil && now.Before(l.until) && time.Duration(sent) <= now.Sub(s.began) {
		if until := s.began.Add(time.Duration(sent) + l.length); until.After(l.until) {
			l.until = until
		}
	}
}

// interrupt ends the contexts of the functions of those leases.
func (s *leases) interrupt(cause error, which func(*lease) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.held {
		if which(l) {
			l.cancel(cause)
		}
	}
}

// giveBack gives all that is held back to the queue, and interrupts it.
func (s *leases) giveBack() {
	s.interrupt(stint.ErrClosed, func(*lease) bool { return true })
	s.mu.Lock()
	held := slices.Collect(maps.Values(s.held))
	s.mu.Unlock()
	for _, l := range held {
		l.giveBack()
	}
}

// giveBack gives the task back to the queue: another worker gets it at once. If it ran
// alone it was not lost. A task whose lease is over is not given back: it would be taken
// from who has it now.
func (l *lease) giveBack() {
	l.unmark()
	l.leases.mu.Lock()
	defer l.leases.mu.Unlock()
	if !l.given && !l.lost.Load() {
		l.given = true
		_ = l.msg.Respond([]byte("-NAK")) // if it fails, the lease ends
	}
}

// postpone gives the task to a worker when a lease has passed.
func (l *lease) postpone() {
	_ = l.msg.Respond(fmt.Appendf(nil, `-NAK {"delay": %d}`, l.length))
}

// keys returns those of the runs of the tasks that are held.
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

// count returns how many tasks are held.
func (s *leases) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

// close ends the watch; nothing is held any more.
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

// result returns the subject of the task's result.
func (l *lease) result() string { return l.leases.e.names.of("result", l.key, l.index) }
