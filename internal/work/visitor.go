package work

import (
	"context"

	"github.com/stint-go/stint/internal/limit"
)

// A visitor is a goroutine in Wait or Submit that can run tasks of the source
// itself, because the task that it belongs to runs on a permit of the engine's
// limiter, or was started by one that does. Without this a task that waits for
// others on its own limiter would wait for its own permit.
type visitor struct {
	source *Source
	from   *limit.Link
	wake   func() // called with engine.mu held once the visitor has a permit

	// guarded by engine.mu
	waiter limit.Waiter
	joined bool // stands in the limiter's line
	permit bool
	gone   bool
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

func (v *visitor) granted() {
	e := v.source.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	v.joined, v.permit = false, true
	if v.gone {
		v.release()
	} else {
		v.wake()
	}
}

// work runs tasks of the source until done holds or none is left, if the visitor
// has a permit or gets one at once; otherwise it stands in line for one. It is
// called with engine.mu held, as is done. It reports whether it let go of the lock
// meanwhile: then the caller must look again before it waits.
func (v *visitor) work(done func() bool) (again bool) {
	s := v.source
	e := s.engine
	if s.queue.n+s.blocked.n == 0 || done() {
		if !v.permit {
			return false
		}
		v.release() // granted too late: not to be sat on
		return true
	}
	if !v.acquire() {
		return false
	}
	slot := limit.NewSlot(e.lim)
	ctx := limit.With(s.Context, slot, v.from, false)
	for s.queue.n+s.blocked.n > 0 && s.Context.Err() == nil && !v.yields() && !done() {
		t := s.take()
		next := e.rouse()
		e.mu.Unlock()
		next.start()
		v.run(ctx, t)
		e.mu.Lock()
	}
	if s.Context.Err() != nil {
		s.stop()
	}
	v.release()
	return true
}

// run runs t and counts it as ended, also when it calls Goexit, which ends the
// visitor's goroutine, or panics to crash the process.
func (v *visitor) run(ctx context.Context, t Task) {
	e := v.source.engine
	defer func() {
		e.mu.Lock()
		e.finish(v.source)
		e.mu.Unlock()
	}()
	e.run(ctx, v.source, t)
}

// yields reports whether somebody else should have the permit: never, when it is
// that of the visitor's own task or lent by one.
func (v *visitor) yields() bool {
	e := v.source.engine
	own := 0
	if e.awaiting {
		own = 1
	}
	return v.waiter.Permit == (limit.Permit{}) && e.lim.Contended(own)
}

// acquire reports whether the visitor has a permit.
func (v *visitor) acquire() bool {
	if v.permit {
		return true
	}
	if v.joined {
		return false
	}
	v.permit = v.source.engine.lim.Join(&v.waiter, v.from)
	v.joined = !v.permit
	return v.permit
}

// release gives the permit back. It lets go of engine.mu meanwhile: whoever gets
// the permit may be the engine.
func (v *visitor) release() {
	e := v.source.engine
	v.permit = false
	w := e.lim.Free(v.waiter.Permit)
	if w == nil {
		return
	}
	e.mu.Unlock()
	w.Grant()
	e.mu.Lock()
}

// leave ends the visit. It is called without the lock. A nil v is none.
func (v *visitor) leave() {
	if v == nil {
		return
	}
	e := v.source.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	v.gone = true // if it has been granted and not yet told, granted gives back
	if v.joined && e.lim.Leave(&v.waiter) {
		v.joined = false
	}
	if v.permit {
		v.release()
	}
}
