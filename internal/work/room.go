package work

import "github.com/stint-go/stint/internal/fifo"

// SharedRoom as SourceConfig.Room makes a source share the room of its engine's first
// source.
const SharedRoom = -1

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
	ready   int                   // sources in engine.ready
	blocked fifo.List[*submitter] // of all its sources
	turns   uint64                // number of the next submitter that has to wait
	late    uint64                // submitters with a smaller number have waited for maxBatchWait
}

// long reports whether one wake-up of a submitter serves many tasks.
func (r *room) long() bool { return r.size >= 64 }

// segmentSize returns how many tasks a segment of a queue has, at most: of a long room, those
// for which submitters are woken together.
func (r *room) segmentSize() int {
	if r.long() {
		return min(r.size/4, maxSegment)
	}
	return maxSegment
}

// waiters returns how many queued tasks wait for a worker. For the other tasks a worker is
// on its way; if they counted, a burst would find too little room.
func (r *room) waiters(e *Engine) int {
	if r.ready > 0 && r.ready == e.ready.Len() { // all that arrive come for r
		return r.queued - e.arriving
	}
	return r.queued
}

// hasSlot reports whether one more task may be queued, after reconciling the claims.
func (r *room) hasSlot(e *Engine) bool {
	e.reconcileLocked() // not before: the claims are in the cache of another CPU
	return r.waiters(e) < r.size
}

// overfull reports whether workers are on their way for some of the tasks.
func (r *room) overfull() bool { return r.queued > r.size }

// admit admits waiting submitters if enough of r is free.
func (r *room) admit(e *Engine) {
	if r.blocked.Len() == 0 || r.size == 0 || r.waiters(e) > r.size-r.batch() {
		return
	}
	for r.blocked.Len() > 0 && r.waiters(e) < r.size {
		r.blocked.First().Value().admit()
	}
}

// batch returns how many slots must be free before waiting submitters are admitted.
func (r *room) batch() int {
	if r.blocked.First().Value().turn < r.late {
		return 1
	}
	if r.long() {
		return r.size / 4
	}
	return min(1, r.size)
}

// A submitter is a goroutine that waits for room.
type submitter struct {
	source  *Source
	payload any
	answer  chan Answer // cap 1: the engine never waits for a submitter
	inRoom  fifo.Node[*submitter]
	node    fifo.Node[*submitter] // in source.blocked
	turn    uint64                // its number
	next    *submitter            // in engine.admitted
}

// join adds b to the submitters that wait.
func (b *submitter) join() {
	s := b.source
	r := s.room
	b.turn = r.turns
	r.turns++
	r.blocked.Push(&b.inRoom, b)
	s.blocked.Push(&b.node, b)
	s.engine.blocked++
}

// leave removes b from the submitters that wait, if it is one of them.
func (b *submitter) leave() bool {
	if !b.node.InList() {
		return false
	}
	b.inRoom.Remove()
	b.node.Remove()
	b.source.engine.blocked--
	return true
}

// admit queues the task of b. The engine tells b when it unlocks.
func (b *submitter) admit() {
	b.leave()
	b.source.enqueueLocked(b.payload)
	e := b.source.engine
	if last := e.admitted; last != nil {
		b.next, last.next = last.next, b
	} else {
		b.next = b
	}
	e.admitted = b
}

// tellAll tells the admitted submitters of the ring whose last is b that their tasks are
// accepted, the first one first. b may be nil.
func (b *submitter) tellAll() {
	if b == nil {
		return
	}
	first := b.next
	b.next = nil
	for b = first; b != nil; {
		next := b.next // before b may continue
		b.answer <- Accepted
		b = next
	}
}
