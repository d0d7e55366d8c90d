package work

import (
	"time"

	"github.com/stint-go/stint/internal/fifo"
	"github.com/stint-go/stint/internal/limit"
)

// SharedRoom as SourceConfig.Room makes a source share the room of its engine's first
// source.
const SharedRoom = -1

// maxBatchWait is how long a submitter of a long queue waits for a quarter of the
// queue rather than for one slot.
const maxBatchWait = time.Millisecond

// A room is the space for queued tasks of one source, or of several that share it: then
// their queued tasks together are never more than its size. Slots that become free go to
// the submitters that wait, first come, first served, whichever source they wait for. A
// source whose tasks all wait for a slot is ready nevertheless: when its turn comes, a worker
// takes the task of its first submitter without a slot. So a source that fills the room
// delays another by turns, as it does when the room is large.
//
// A room is guarded by Engine.mu.
type room struct {
	size    int
	queued  int                   // tasks of all its sources
	blocked fifo.List[*submitter] // of all its sources
	late    bool                  // one of them has waited for maxBatchWait
}

// long reports whether one wake-up of a submitter serves many tasks.
func (r *room) long() bool { return r.size >= 64 }

// batch returns how many slots must be free before waiting submitters are admitted.
func (r *room) batch() int {
	if r.long() && !r.late {
		return r.size / 4
	}
	return 1
}

// admitLocked admits waiting submitters if enough of r is free.
func (r *room) admitLocked() {
	if r.blocked.Len() == 0 || r.size-r.queued < r.batch() {
		return
	}
	for r.blocked.Len() > 0 && r.queued < r.size {
		r.blocked.First().Value().admitLocked()
	}
}

// A submitter is a goroutine that waits for room.
type submitter struct {
	source  *Source
	payload any
	wake    chan struct{}         // cap 1: the engine never waits for a submitter
	inRoom  fifo.Node[*submitter] // in room.blocked
	node    fifo.Node[*submitter] // in source.blocked
	answer  Answer                // GaveUp while it waits
}

// block makes b wait for room, unless its source takes no more tasks. from is the scope of the
// calling task.
func (b *submitter) block(from *limit.Scope) bool {
	s := b.source
	e, r := s.engine, s.room
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.refusesLocked(from) {
		return false
	}
	r.blocked.Push(&b.inRoom, b)
	s.blocked.Push(&b.node, b)
	e.blocked++
	e.makeReadyLocked(s)
	r.admitLocked() // there may be room since Offer looked
	e.wakeOneLocked()
	return true
}

// wait waits for the answer, until done is closed, and lends the permit of l meanwhile.
func (b *submitter) wait(done <-chan struct{}, l *loan) {
	e, r := b.source.engine, b.source.room
	var late <-chan time.Time
	if r.long() {
		timer := time.NewTimer(maxBatchWait)
		defer timer.Stop()
		late = timer.C
	}
	if l != nil {
		l.wakeLocked = b.wakeLocked
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for b.node.InList() {
		l.lendLocked()
		e.mu.Unlock()
		select {
		case <-b.wake:
			e.mu.Lock()
		case <-late:
			e.mu.Lock()
			r.late = r.late || b.node.InList()
			r.admitLocked()
		case <-done:
			e.mu.Lock()
			b.giveUpLocked()
		}
	}
	for !l.endLocked() {
		e.mu.Unlock()
		<-b.wake
		e.mu.Lock()
	}
}

// giveUpLocked takes b out of the submitters that wait, unless it has its answer.
func (b *submitter) giveUpLocked() {
	if s := b.source; b.node.InList() {
		b.leaveLocked(GaveUp)
		s.engine.unreadyIfEmptyLocked(s)
		s.settleLocked()
	}
}

// leaveLocked gives b its answer.
func (b *submitter) leaveLocked(a Answer) {
	b.answer = a
	b.inRoom.Remove()
	b.node.Remove()
	b.source.engine.blocked--
	if r := b.source.room; r.blocked.Len() == 0 {
		r.late = false
	}
	b.wakeLocked()
}

// wakeLocked makes b look again.
func (b *submitter) wakeLocked() {
	select {
	case b.wake <- struct{}{}:
	default: // woken already
	}
}

// admitLocked queues the task of b.
func (b *submitter) admitLocked() {
	b.leaveLocked(Accepted)
	b.source.enqueueLocked(b.payload)
}
