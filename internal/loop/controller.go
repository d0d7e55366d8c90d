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
	if l.Auto.Max > 0 {
		l.lim.InitAdaptive(l.Auto)
		l.lim.Inherit()
	} else {
		l.lim.Init(l.Limit)
	}
}

// inherited reports whether lim is the loop's own, and calls without a limit use it too.
func (l *Loop) inherited() bool { return l.Auto.Max > 0 && l.helping != nil }

// search returns the controller of lim while finished calls count, or nil.
func (l *Loop) search() *auto.Controller {
	if l.lim == nil {
		return nil
	}
	if c := l.lim.Controller(); c != nil && c.Active() {
		return c
	}
	return nil
}

// sample counts the calls of the last batch for the controller.
func (w *worker) sample() {
	c := w.loop.search()
	if c == nil {
		return
	}
	if w.sampler == nil {
		w.sampler = new(auto.Sampler)
	}
	w.sampler.Done(c, w.made, w.failed)
}

// startSampling tells the controller, if it counts, that the first call of w starts.
func (w *worker) startSampling() {
	if c := w.loop.search(); c != nil && w.sampler == nil {
		w.sampler = new(auto.Sampler)
		w.sampler.Start(c)
	}
}
