package limit

import "sync"

// A turn is a Waiter with a goroutine that waits for it. Only its channel is made for each
// wait: one that was made in a synctest bubble could not be used outside of it.
type turn struct {
	Waiter
	granted chan struct{} // closed by Grant
}

var turns = sync.Pool{New: func() any {
	t := new(turn)
	t.Grant = func() { close(t.granted) }
	return t
}}

// newTurn returns a turn for a waiter whose priority is low, or not. The caller must call
// its end.
func newTurn(low bool) *turn {
	t := turns.Get().(*turn)
	t.Low, t.granted = low, make(chan struct{})
	return t
}

// await waits until the turn, which is in the queue of l, has come. It reports false if it
// has left the queue, as done or quit was closed.
func (t *turn) await(l *Limiter, done, quit <-chan struct{}) bool {
	select {
	case <-t.granted:
		return true
	case <-done:
	case <-quit:
	}
	if l.Leave(&t.Waiter) {
		return false
	}
	<-t.granted // is closed, or about to be
	return true
}

// end makes t usable for another wait. t must be in no queue, and if it has left one by a
// grant, Grant must have been called: whoever calls it does not use t afterwards.
func (t *turn) end() {
	t.Permit, t.branch, t.granted = Permit{}, nil, nil
	turns.Put(t)
}
