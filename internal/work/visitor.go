package work

import "github.com/stint-go/stint/internal/limit"

// A visitor is a goroutine in Wait or Submit whose task runs on a permit of the
// engine's limiter, or was started by one that does. It lends that permit to a
// worker, for tasks of its source alone, as long as it waits: without this a task
// that waits for others on its own limiter would wait for its own permit, and
// those of strangers could not be told from it. README.md has its states; all
// transitions are made under engine.mu.
type visitor struct {
	source *Source
	from   *limit.Link
	wake   func() // called with engine.mu held when the permit has come back

	waiter limit.Waiter
	joined bool
	lent   bool
	done   bool // what is lent is wanted back
}

// newVisitor returns nil when the task with the link from has no way to a permit
// but that of every worker.
func (s *Source) newVisitor(from *limit.Link, wake func()) *visitor {
	if slot, _ := from.On(s.engine.lim); slot == nil {
		return nil
	}
	v := &visitor{source: s, from: from, wake: wake}
	v.waiter.Grant = v.granted
	return v
}

// help lends the visitor's permit to a worker if there is something to do for it.
// The worker is to be started after unlocking. It is called with engine.mu held.
// A nil v has no permit to lend.
func (v *visitor) help() *worker {
	if v == nil || v.joined || v.lent || v.done || !v.source.hasWork() {
		return nil
	}
	if !v.source.engine.lim.Join(&v.waiter, v.from) {
		v.joined = true
		return nil
	}
	return v.lend()
}

func (v *visitor) lend() *worker {
	v.joined, v.lent = false, true
	return v.source.engine.pick(v)
}

// granted is the visitor's turn in the limiter's line.
func (v *visitor) granted() {
	e := v.source.engine
	e.mu.Lock()
	if v.done || !v.source.hasWork() {
		v.joined = false
		next := e.lim.Free(v.waiter.Permit)
		v.wake()
		e.mu.Unlock()
		grant(next)
		return
	}
	e.unlock(v.lend())
}

// leave ends the visit and reports whether the permit is where it belongs: when
// it is not, wake will be called. It is called with engine.mu held.
func (v *visitor) leave() bool {
	if v == nil {
		return true
	}
	v.done = true
	if v.joined && v.source.engine.lim.Leave(&v.waiter) {
		v.joined = false
	}
	return !v.joined && !v.lent
}

// serves reports whether the worker that has the permit may run another task on
// it: not when the visitor, or the task that lent it, or, if it is the limiter's
// own, somebody in line should have it. It is called with engine.mu held.
func (v *visitor) serves() bool {
	e, p := v.source.engine, v.waiter.Permit
	if v.done || p.Wanted() || !v.source.hasWork() {
		return false
	}
	return p != (limit.Permit{}) || !e.lim.Contended(e.own())
}
