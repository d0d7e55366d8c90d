package loop

import (
	"runtime"
	"time"

	"github.com/stint-go/stint/internal/auto"
)

// press tells the loop's own tuner that one more worker could be of use. The tuner is
// made when that is so for the first time: most loops need none.
func (l *Loop) press() {
	if l.Auto.Max == 0 || l.sharing != nil || l.brief() {
		return
	}
	if c := l.tune(); c != nil {
		c.Press()
	}
}

// tune returns the loop's own tuner, or nil when the caller waits for the end.
func (l *Loop) tune() *auto.Controller {
	c := l.tuner.Load()
	if c != nil {
		return c
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c = l.tuner.Load(); c == nil && !l.joined {
		c = new(auto.Controller)
		c.Init(l.Auto, (*tuned)(l))
		l.tuner.Store(c)
		l.halt.Or(raised) // so many wait: no item is to wait behind another from now on
	}
	return c
}

// Overload takes in that a call has failed because too many run.
func (l *Loop) Overload() {
	c := l.tuner.Load()
	if c == nil && l.Auto.Max > 0 {
		c = l.tune()
	}
	if c != nil {
		c.Overload()
	}
}

// done makes the caller one that has nothing to do any more, unless a helper has left
// something meanwhile, because the limit of the loop's own became smaller.
func (l *Loop) done() bool {
	if l.Auto.Max == 0 || l.lim != nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.joined = l.isStopped() || l.unclaimed()+l.seated() == 0
	return l.joined
}

// untune ends the loop's own tuner, which starts no helper after it.
func (l *Loop) untune() {
	if l.Auto.Max == 0 || l.lim != nil {
		return
	}
	l.mu.Lock()
	l.joined = true // by a Goexit, too
	l.mu.Unlock()
	if c := l.tuner.Load(); c != nil {
		c.Close()
	}
}

// tuned is a Loop as what its own tuner sets the limit of.
type tuned Loop

// Set changes how many workers there may be. Those that are too many leave before
// their next item.
func (t *tuned) Set(n int) {
	l := (*Loop)(t)
	l.most.Store(int64(n))
	l.standByFor(1)
}

// Load returns how many workers there are, and whether one more could be of use.
func (t *tuned) Load() (running int, waiting bool) {
	l := (*Loop)(t)
	return int(l.running.Load()), !l.isStopped() && l.left() > 0
}

// measured counts the calls of the last span for the tuner.
func (w *worker) measured() {
	if c := w.loop.tuner.Load(); c != nil && c.Active() {
		if w.meter == nil {
			w.meter = new(auto.Meter)
		}
		w.meter.Done(c, w.made)
	}
}

// paused tells the meter that w has waited for its permit.
func (w *worker) paused() {
	if w.meter != nil {
		w.meter.Rest()
	}
}

// fits reports whether w is one of those that the loop's own limit allows. If not, w
// gives back what it has and is counted out, while there is somebody to find it.
func (w *worker) fits() bool {
	l := w.loop
	if w.caller || l.tuner.Load() == nil || l.within() {
		return true
	}
	w.widen(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.joined || l.within() {
		return true
	}
	l.running.Add(-1)
	w.out = true
	return false
}

// within reports whether no more are at work than the limit allows, the standby left
// out.
func (l *Loop) within() bool {
	n := int64(l.running.Load())
	if l.standing.Load() {
		n--
	}
	return n <= l.most.Load()
}

// tunes reports whether the limit finds itself.
func (l *Loop) tunes() bool { return l.Auto.Max > 0 || l.tuner.Load() != nil }

// brief reports whether items are known to be so short that they hardly wait.
func (l *Loop) brief() bool {
	cost := l.cost.Load()
	return cost > 0 && cost < briefTime.Nanoseconds()*1000
}

// ready notes when the standby is made ready, if it may be the one that has to wait
// for a processor.
func (l *Loop) ready(running int) {
	if running > l.Procs && l.tunes() {
		l.readied = time.Now()
	} else {
		l.readied = time.Time{}
	}
}

// patient lets the standby of a loop that finds its limit itself wait for a free
// processor, when there are as many at work as processors and it comes late.
func (l *Loop) patient() {
	if !l.readied.IsZero() {
		l.waits = auto.Await(time.Since(l.readied), l.waits, l.crowded)
	}
}

// crowded reports whether one more worker is of use only if a processor is free.
func (l *Loop) crowded() bool {
	switch c := l.tuner.Load(); {
	case l.over():
		return false
	case c != nil:
		return c.Crowded(l.busy())
	}
	return l.busy() > max(runtime.GOMAXPROCS(0), l.Auto.Min)
}

// lengthened follows when items that were brief are not any more: those who did not
// tell that they could use one more worker do.
func (l *Loop) lengthened() {
	l.standByFor(1)
	if c := l.tuner.Load(); c != nil && l.sharing != nil {
		c.Press()
	}
}

// busy returns how many places are taken.
func (l *Loop) busy() int {
	if l.lim != nil {
		n, _ := l.lim.Load()
		return n
	}
	return int(l.running.Load())
}
