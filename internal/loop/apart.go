package loop

import (
	"runtime"

	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
)

// In programs built with -race, each of the first maxApart items runs on a goroutine of its
// own: see race.Apart. Later items run on the workers, so that loops of many short items do not
// take too long. Races between items are found among the first ones too.
const maxApart = 1000

// claimInOrder claims the next index, with its place in the order of the limit: under the lock,
// so that this is the order of the items.
func (w *worker) claimInOrder() bool {
	l := w.loop
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.At, w.end = l.claim(1); w.At == w.end {
		return false
	}
	w.first = w.At
	w.ticket = l.lim.Order.Take(l.lim.Bound())
	return true
}

// callApart makes the call on a goroutine of its own, which shares no memory with w. A Goexit
// ends the caller's goroutine, too.
func (w *worker) callApart() {
	l, ctx, i, ticket, passes := w.loop, w.ctx, w.At, w.ticket, w.isCaller()
	w.calling = true
	failed, returned := race.Apart(func() (failed bool) {
		defer l.ends.Release() // for the end of Run
		l.lim.Order.Start(ticket)
		defer l.lim.Order.End(ticket)
		tell := func(o task.Outcome) {
			failed = true
			if !o.Goexit || !passes {
				l.lim.Failed()
				l.tell(i, o)
			}
		}
		var err error
		if task.Guard(func() { err = l.Calls(ctx, &Claim{At: i, last: i}) }, tell) && err != nil {
			tell(task.Outcome{Err: err})
		}
		return failed
	})
	if !returned && passes {
		runtime.Goexit()
	}
	w.calling = false
	if failed || !returned {
		w.count(1)
	} else {
		w.count(0)
	}
}
