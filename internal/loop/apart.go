package loop

import (
	"context"
	"runtime"

	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
)

// In programs built with -race, each of the first maxApart items runs on a goroutine of its
// own: see race.Apart. Later items are called in batches, as in other programs, so that
// loops of many short items do not take too long. Races between items are found among the
// first ones too.
const maxApart = 1000

// apart reports whether item i runs on a goroutine of its own.
func (l *Loop) apart(i int) bool { return race.Sharp && !l.Compute && i-l.First < maxApart }

// claimApart claims the next item, with its place in the order of the limit: under the lock,
// so that this is the order of the items.
func (w *worker) claimApart() bool {
	l := w.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.claimOne() {
		return false
	}
	if l.apart(w.At) { // others may have claimed the last of these since the caller looked
		w.ticket = l.ticket()
	}
	return true
}

// callApart calls the item of w, which is the only one of its batch.
func (w *worker) callApart() {
	l, ctx, ticket := w.loop, w.ctx, w.ticket // the item shares no memory with the worker
	b := Batch{At: w.At, end: w.At + 1, halt: w.halt}
	passes := w.caller // a Goexit ends the caller's goroutine
	w.calling = true
	failed, returned := race.Apart(func() bool { return l.callOne(ctx, &b, ticket, passes) })
	if !returned && passes {
		runtime.Goexit()
	}
	w.calling = false
	if failed || !returned {
		w.failed++
	}
	w.calls++
	w.count()
}

// callOne makes the call of b, and reports whether it has failed. passes says that a Goexit is
// left to the caller.
func (l *Loop) callOne(ctx context.Context, b *Batch, ticket race.Ticket, passes bool) (failed bool) {
	defer l.ends.Release() // for the end of Run
	l.start(ticket)
	defer l.finished(ticket)
	returned := false
	defer func() {
		if returned {
			return
		}
		failed = true
		if o := task.Unreturned(recover()); !o.Goexit || !passes {
			l.countFailure()
			l.tell(b.At, o)
		}
	}()
	err := l.Body.Calls(ctx, b)
	returned = true
	if err != nil {
		l.countFailure()
		l.tell(b.At, task.Outcome{Err: err})
	}
	return err != nil
}

// The methods below tell the race detector of the order that the limit makes.

// ticket is the place of an item, or of a batch.
func (l *Loop) ticket() (t race.Ticket) {
	if l.lim != nil {
		t = l.lim.Order.Take(l.lim.Bound())
	}
	return t
}

func (l *Loop) start(t race.Ticket) {
	if l.lim != nil {
		l.lim.Order.Start(t)
	}
}

func (l *Loop) finished(t race.Ticket) {
	if l.lim != nil {
		l.lim.Order.End(t)
	}
}
