package limit

// A turn is a Waiter of a goroutine that is blocked. A Limiter keeps one for the next
// goroutine, without its channel: one that was made in a synctest bubble cannot be used
// outside.
type turn struct {
	Waiter
	granted chan struct{} // closed by Grant
}

// turn returns a turn, as for AcquireAs. The caller must give it to keep.
func (l *Limiter) turn(low, nested bool) *turn {
	t := l.spare.Swap(nil)
	if t == nil {
		t = new(turn)
		t.Grant = func() { close(t.granted) }
	}
	t.Low, t.Nested, t.granted = low, nested, make(chan struct{})
	return t
}

// keep keeps t, which is in no queue. If it was granted, its Grant has closed the channel,
// and that was its last step.
func (l *Limiter) keep(t *turn) {
	t.Permit, t.branch, t.granted = Permit{}, nil, nil
	l.spare.Store(t)
}

// await waits until t, which is in the queue of l, is granted. It reports false if it has
// left the queue, as done or quit was closed.
func (t *turn) await(l *Limiter, done, quit <-chan struct{}) bool {
	if done == nil && quit == nil { // a receive costs less than a select
		<-t.granted
		return true
	}
	select {
	case <-t.granted:
		return true
	case <-done:
	case <-quit:
	}
	if l.Leave(&t.Waiter) {
		return false
	}
	<-t.granted // closed, or about to be
	return true
}
