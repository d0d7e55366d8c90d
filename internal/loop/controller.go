package loop

import "github.com/stint-go/stint/internal/auto"

// initOwn makes the loop's own limiter. The contexts of tasks do not refer to it.
func (l *Loop) initOwn() {
	n := l.Limit
	if l.Auto.Max > 0 {
		n = l.Auto.Start()
		l.lim.SetController((*ownController)(l))
	}
	l.lim.Init(n)
}

// An ownController is a Loop as the controller of its own limiter.
type ownController Loop

// NotifyWaiting is called with the limiter's lock held.
func (c *ownController) NotifyWaiting() { (*Loop)(c).search().NotifyWaiting() }

// adaptive reports whether lim has a controller, or gets one when it needs it.
func (l *Loop) adaptive() bool { return l.Auto.Max > 0 || l.controller.Load() != nil }

// search returns the controller of lim, or nil if it has none. That of the loop's own
// limiter is made by the first call: few loops need it.
func (l *Loop) search() *auto.Controller {
	if c := l.controller.Load(); c != nil || l.Auto.Max == 0 {
		return c
	}
	c := new(auto.Controller)
	c.Init(l.Auto, l.lim)
	l.controller.CompareAndSwap(nil, c)
	return l.controller.Load()
}

// sample counts the calls of the last batch for the controller.
func (w *worker) sample() {
	c := w.loop.controller.Load()
	if c == nil || !c.Active() {
		return
	}
	if w.sampler == nil {
		w.sampler = new(auto.Sampler)
	}
	w.sampler.Done(c, w.made)
}
