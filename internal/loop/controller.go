package loop

import "github.com/stint-go/stint/internal/auto"

// initOwn makes the loop's own limiter. Calls that its tasks make without a limit use it too,
// if it is adaptive.
func (l *Loop) initOwn() {
	both := new(struct {
		helping
		ownLimit
	})
	l.helping, both.helping.ownLimit = &both.helping, &both.ownLimit
	l.lim = &l.own
	n := l.Limit
	if l.Auto.Max > 0 {
		n = l.Auto.Start()
		l.lazy.Init(l.Auto, l.lim)
		l.lim.SetController(&l.lazy)
		l.lim.Inherit()
	}
	l.lim.Init(n)
}

// inherited reports whether lim is the loop's own, and calls without a limit use it too.
func (l *Loop) inherited() bool { return l.Auto.Max > 0 && l.helping != nil }

// adaptive reports whether lim has a controller, or gets one when it needs it.
func (l *Loop) adaptive() bool { return l.inherited() || l.Controller != nil }

// search returns the controller of lim, or nil if it has none. That of the loop's own
// limiter is made by the first call: few loops need it.
func (l *Loop) search() *auto.Controller {
	if l.inherited() {
		return l.lazy.Controller()
	}
	return l.Controller
}

// made is search without making a controller.
func (l *Loop) made() *auto.Controller {
	if l.inherited() {
		return l.lazy.Made()
	}
	return l.Controller
}

// sample counts the calls of the last batch for the controller.
func (w *worker) sample() {
	c := w.loop.made()
	if c == nil || !c.Active() {
		return
	}
	if w.sampler == nil {
		w.sampler = new(auto.Sampler)
	}
	w.sampler.Done(c, w.made, w.failed)
}

// startSampling tells the controller, if it counts, that the first call of w starts.
func (w *worker) startSampling() {
	if c := w.loop.made(); c != nil && c.Active() && w.sampler == nil {
		w.sampler = new(auto.Sampler)
		w.sampler.Start(c)
	}
}
