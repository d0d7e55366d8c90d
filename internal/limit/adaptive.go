package limit

import (
	"sync/atomic"

	"github.com/stint-go/stint/internal/auto"
)

// adaptive is the search of an adaptive Limiter.
type adaptive struct {
	search     auto.Config                     // zero: the limit is not adaptive
	controller atomic.Pointer[auto.Controller] // nil until it is needed
}

// ended is the controller of a Limiter whose search has ended before it needed one.
var ended auto.Controller

// NewAdaptive returns a Limiter whose limit a controller searches for, as c says. It has
// Counters.
func NewAdaptive(c auto.Config) *Limiter {
	l := &Limiter{counters: new(Counters)}
	l.InitAdaptive(c)
	l.NeedController() // by the caller: the race detector takes its making as ordered before its uses
	return l
}

// InitAdaptive makes a zero Limiter one whose limit a controller searches for, as c says. It has
// no Counters, and needs EndSearch.
func (l *Limiter) InitAdaptive(c auto.Config) {
	l.search = c
	l.Init(c.Start())
}

// Adaptive reports whether a controller searches for the limit.
func (l *Limiter) Adaptive() bool { return l.search.Max > 0 }

// Controller returns the controller, or nil if there is none. An adaptive Limiter has none
// until it needs one: few calls do.
func (l *Limiter) Controller() *auto.Controller {
	if c := l.controller.Load(); c != &ended {
		return c
	}
	return nil
}

// NeedController returns the controller of an adaptive Limiter, which the first call makes. It
// returns nil after EndSearch, if there was none before.
func (l *Limiter) NeedController() *auto.Controller {
	if l.Adaptive() {
		return l.steered()
	}
	return l.Controller()
}

// steered is NeedController also for a Limiter that is not adaptive, whose limit is set by hand:
// from then on nothing but the controller sets it.
func (l *Limiter) steered() *auto.Controller {
	if l.controller.Load() == nil {
		c := new(auto.Controller)
		if l.Adaptive() {
			c.Init(l.search, l)
		} else {
			c.InitFixed(l.Bound(), l)
		}
		l.controller.CompareAndSwap(nil, c)
	}
	return l.Controller()
}

// EndSearch ends the search. No controller is made from then on.
func (l *Limiter) EndSearch() {
	if l.controller.CompareAndSwap(nil, &ended) {
		return
	}
	if c := l.Controller(); c != nil {
		c.Close()
	}
}

// Fix sets the limit by hand, and ends the search and its bounds. The caller must hold no lock
// that a Grant takes.
func (l *Limiter) Fix(n int) {
	if c := l.steered(); c != nil {
		c.Fix(n)
		return
	}
	l.Set(n)
}

// SetBounds keeps the limit between low and high, or at 0 if both are 0, until Fix. It must not be
// called after EndSearch. The caller must hold no lock that a Grant takes.
func (l *Limiter) SetBounds(low, high int) { l.steered().SetBounds(low, high) }

// Report tells the controller of the error of a task, which excess load may have caused. It
// calls the function given to Overload.
func (l *Limiter) Report(err error) {
	if c := l.Controller(); c != nil {
		c.Failed(err)
	}
}

// ActiveController returns the controller while it counts finished tasks, and otherwise nil, as
// for a nil l.
func (l *Limiter) ActiveController() *auto.Controller {
	if l == nil {
		return nil
	}
	if c := l.Controller(); c != nil && c.Active() {
		return c
	}
	return nil
}

// A Sampling counts the finished tasks of a worker for the controller of its limiter, while
// that counts tasks.
type Sampling struct{ sampler *auto.Sampler } // nil until it is needed

// Start marks the start of the worker's first task.
func (s *Sampling) Start(l *Limiter) {
	if c := l.ActiveController(); c != nil && s.sampler == nil {
		s.sampler = new(auto.Sampler)
		s.sampler.Start(c)
	}
}

// Done counts n finished tasks, some of which have failed. c is the ActiveController.
func (s *Sampling) Done(c *auto.Controller, n, failed int) {
	if s.sampler == nil {
		s.sampler = new(auto.Sampler)
	}
	s.sampler.Done(c, n, failed)
}

// Rest marks the end of a pause: see auto.Sampler.
func (s *Sampling) Rest() {
	if s.sampler != nil {
		s.sampler.Rest()
	}
}
