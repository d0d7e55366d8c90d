package errgroup

import (
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/task"
)

// start starts f, which has a slot.
func (g *Group) start(f func() error, ticket race.Ticket) {
	g.order.Start(ticket) // here, since Go returns after the end of the tasks that it waited for
	go g.run(f, ticket)
}

// run is the goroutine of a task.
func (g *Group) run(f func() error, ticket race.Ticket) {
	defer g.release() // even if cancelling the context does not return
	if race.Sharp {
		race.Apart(func() bool { g.runApart(f, ticket); return true })
		return
	}
	g.call(f)
}

// runApart is run in programs built with -race, on one more goroutine. The group's locks and
// counters order nothing that the task does: see race.Apart. The order that the limit and
// Wait make is told to the race detector.
func (g *Group) runApart(f func() error, ticket race.Ticket) {
	defer g.ends.Release() // for Wait
	defer g.order.End(ticket)
	g.call(f)
}

// ticket returns the ticket of a task that starts under s. Without a limit nothing is
// ordered.
func (g *Group) ticket(s slots) (t race.Ticket) {
	if s.limited() {
		t = g.order.Take(s.limit())
	}
	return t
}

// call calls f and records how it failed.
func (g *Group) call(f func() error) {
	returned := false
	defer func() {
		if !returned {
			g.fail(task.Unreturned(recover()))
		}
	}()
	if err := f(); err != nil {
		g.fail(task.Outcome{Err: err})
	}
	returned = true
}
