package work

import "github.com/stint-go/stint/internal/fifo"

// SharedRoom as SourceConfig.Room makes a source share the room of its engine's first
// source.
const SharedRoom = -1

// longRoom is the size of a room whose workers have enough to do when it is full.
const longRoom = 64

// A room is the space for queued tasks of one source, or of several that share it. Slots that
// become free go to the submitters that wait, first come, first served, whichever source they
// wait for. A source whose tasks all wait for a slot is ready nevertheless: when its turn comes,
// a worker takes the task of its first submitter. So a source that fills the room delays another
// by turns only. A room is guarded by Engine.mu.
type room struct {
	size    int
	queued  int                   // tasks of all its sources
	blocked fifo.List[*submitter] // of all its sources
}

// admitLocked admits waiting submitters while r has room.
func (r *room) admitLocked() {
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
	answer  Answer
}

// newSubmitterLocked returns a submitter that waits with a task of s.
func (s *Source) newSubmitterLocked(payload any) *submitter {
	e := s.engine
	b := e.spare
	e.spare = nil
	if b == nil {
		b = &submitter{wake: make(chan struct{}, 1)}
	}
	b.source, b.payload = s, payload
	e.shutLocked() // so that every task that is taken admits a submitter
	s.room.blocked.Push(&b.inRoom, b)
	s.blocked.Push(&b.node, b)
	e.blocked++
	e.makeReadyLocked(s)
	return b
}

// waitLocked waits for the answer, until done is closed, and lends the permit of l meanwhile. It
// unlocks engine.mu meanwhile. b must not be used afterwards.
func (b *submitter) waitLocked(done <-chan struct{}, l *entry) Answer {
	e := b.source.engine
	if l != nil {
		l.wakeLocked = b.wakeLocked
	}
	for b.node.InList() {
		l.wakeOneLocked()
		e.mu.Unlock()
		select {
		case <-b.wake:
			e.mu.Lock()
		case <-done:
			e.mu.Lock()
			if s := b.source; b.node.InList() { // otherwise it has its answer
				b.leaveLocked(GaveUp)
				e.unreadyIfEmptyLocked(s)
				s.settleLocked()
			}
		}
	}
	for !l.endLocked() {
		e.mu.Unlock()
		<-b.wake
		e.mu.Lock()
	}
	select {
	case <-b.wake: // nobody else may wake it
	default:
	}
	b.source, b.payload, e.spare = nil, nil, b
	return b.answer
}

// leaveLocked gives b its answer.
func (b *submitter) leaveLocked(a Answer) {
	b.answer = a
	b.inRoom.Remove()
	b.node.Remove()
	b.source.engine.blocked--
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
