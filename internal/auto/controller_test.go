package auto

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// places is a Bounded with a lock of its own, as a limiter has one.
type places struct {
	mu      sync.Mutex
	limit   int
	running int // of its own accord; 0: as many as the limit
	waiting bool
	loads   int
	sets    []int
	loaded  func() // called by Load when it has looked
}

func (p *places) Set(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit = n
	p.sets = append(p.sets, n)
}

func (p *places) Load() (running int, waiting bool) {
	p.mu.Lock()
	running, waiting = p.running, p.waiting
	if running == 0 {
		running = p.limit
	}
	p.loads++
	p.mu.Unlock()
	if p.loaded != nil {
		p.loaded()
	}
	return running, waiting
}

// bound returns the limit.
func (p *places) bound() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

// looked returns how often Load was called.
func (p *places) looked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loads
}

// wait changes whether somebody waits.
func (p *places) wait(waiting bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = waiting
}

var usual = Config{Min: 1, Max: 256, Burst: 36, Procs: 2}

// controlled returns a Controller for places where somebody waits.
func controlled(config Config) (*Controller, *places) {
	c, p := new(Controller), &places{waiting: true}
	c.Init(config, p)
	p.limit = c.config.Start()
	return c, p
}

// bubble runs f in one, without limits of memory, which would be those of the machine.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	limits(t, 0, 0)
	synctest.Test(t, f)
}

// work has tasks end for so long, one a step by one worker after the other.
func work(c *Controller, p *places, meters []Meter, duration, step time.Duration) {
	for i := range int(duration / step) {
		time.Sleep(step)
		if c.Active() {
			meters[i%p.bound()].Done(c, 1)
		}
	}
}

// armed reports whether the timer is.
func (c *Controller) isArmed() bool {
	c.alarm.Lock()
	defer c.alarm.Unlock()
	return c.armed
}

func TestNothingRunsUntilPress(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		time.Sleep(time.Hour)
		if c.Active() || p.looked() != 0 || len(p.sets) != 0 || c.timer != nil {
			t.Errorf("active %v, %d loads, set to %v, timer %v", c.Active(), p.looked(), p.sets, c.timer)
		}
		if s := c.State(); s.Phase != Idle || s.Throughput != 0 || s.Changes != nil {
			t.Errorf("state %v", s)
		}
		c.Press()
		if !c.Active() || !c.isArmed() {
			t.Errorf("after Press: active %v, armed %v", c.Active(), c.isArmed())
		}
		if p.looked() != 0 || c.finder != nil {
			t.Error("Press looks at the places")
		}
		c.Close()
	})
}

// TestPressUnderLocks calls Press where it is called: by who has the lock of the
// places, while the controller works and has its own.
func TestPressUnderLocks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		c.mu.Lock()
		p.mu.Lock()
		c.Press()
		time.Sleep(stuck) // the tick waits for the lock of the controller
		c.Press()
		p.mu.Unlock()
		c.mu.Unlock()
		synctest.Wait()
		if p.looked() != 1 {
			t.Errorf("%d loads in the first tick", p.looked())
		}
		c.Close()
	})
}

func TestTicksUntilNoMoreMayBegin(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		c.Press()
		time.Sleep(time.Hour)
		if p.bound() != beyond*usual.Burst || !slices.IsSorted(p.sets) || p.sets[0] != usual.Burst {
			t.Errorf("no task has ended: set to %v", p.sets)
		}
		ticks := p.looked()
		if ticks != len(p.sets)+1 || c.isArmed() {
			t.Errorf("%d ticks for %d changes, armed %v", ticks, len(p.sets), c.isArmed())
		}
		var m Meter
		m.Done(c, 1)
		if !c.isArmed() {
			t.Error("the end of a task does not arm the timer")
		}
		c.Close()
	})
}

// TestTicksEndWithTheWaiting has nobody wait any more: the next tick ends the period.
// It may look twice.
func TestTicksEndWithTheWaiting(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		c.Press()
		time.Sleep(stuck + 1)
		p.wait(false)
		before := p.looked()
		time.Sleep(time.Hour)
		if got := p.looked() - before; got < 1 || got > 2 || c.Active() || c.isArmed() {
			t.Errorf("%d looks, active %v, armed %v", got, c.Active(), c.isArmed())
		}
		p.wait(true)
		c.Press()
		if !c.Active() || !c.isArmed() {
			t.Error("the next Press does not begin a period")
		}
		c.Close()
	})
}

// TestFreePlacesAreNoStall has somebody wait while places are free: those who follow
// are on their way.
func TestFreePlacesAreNoStall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		p.running = p.limit - 1
		c.Press()
		time.Sleep(time.Minute)
		if len(p.sets) != 0 || p.looked() != idleTicks+1 || c.isArmed() { // a bubble that waits for itself is to end
			t.Errorf("set to %v, %d looks, armed %v", p.sets, p.looked(), c.isArmed())
		}
		c.Close()
	})
}

func TestTicksEndWhenNothingRuns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		p.limit = 0 // nothing runs
		c.Press()
		time.Sleep(time.Hour)
		if n := p.looked(); n < 1 || n > 2 || c.Active() {
			t.Errorf("%d looks, active %v", n, c.Active())
		}
		c.Close()
	})
}

// TestLullEndsAPeriod has more and more tasks end after somebody has waited.
func TestLullEndsAPeriod(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		meters := make([]Meter, 256)
		c.Press()
		work(c, p, meters, 100*time.Millisecond, time.Millisecond)
		p.wait(false)
		running := p.bound()
		ended := 0
		for ; c.Active() && ended < 1000; ended++ {
			time.Sleep(time.Millisecond)
			meters[ended%running].Done(c, 1)
		}
		if want := 4*running + 64 + 1; ended > want+running || ended < 64 {
			t.Errorf("inactive after %d tasks, want about %d", ended, want)
		}
		before := p.looked()
		time.Sleep(time.Hour)
		if p.looked() != before || c.isArmed() {
			t.Errorf("%d looks in an hour after it, armed %v", p.looked()-before, c.isArmed())
		}
		c.Close()
	})
}

// TestRefusedCountsAsWaiting has nobody wait, and somebody be refused a place, more
// often than tasks end or less: there is the same to find.
func TestRefusedCountsAsWaiting(t *testing.T) {
	for _, every := range []time.Duration{300 * time.Microsecond, 1500 * time.Microsecond} {
		bubble(t, func(t *testing.T) {
			c, p := controlled(usual)
			p.wait(false)
			stop, done := make(chan bool), make(chan bool)
			go func() {
				defer close(done)
				for {
					c.Refused()
					select {
					case <-stop:
						return
					case <-time.After(every):
					}
				}
			}()
			meters := make([]Meter, 256)
			seen := map[Phase]bool{}
			for range 3000 {
				work(c, p, meters, time.Millisecond, time.Millisecond)
				seen[c.State().Phase] = true
			}
			if !c.Active() || p.bound() > 4 || !seen[Probing] || !seen[Rising] || !seen[Holding] {
				t.Errorf("refused every %v: active %v, limit %d, phases %v", every, c.Active(), p.bound(), seen)
			}
			close(stop)
			<-done
			ended := 0
			for ; c.Active() && ended < 1000; ended++ {
				work(c, p, meters, time.Millisecond, time.Millisecond)
			}
			if ended == 1000 {
				t.Error("the period does not end when nobody is refused any more")
			}
			before := p.looked()
			time.Sleep(time.Hour)
			if p.looked()-before > 2 || c.isArmed() {
				t.Errorf("%d looks in an hour after it, armed %v", p.looked()-before, c.isArmed())
			}
			c.Close()
			c.Refused()
			if c.Active() {
				t.Error("active after Close")
			}
		})
	}
}

func TestFixEndsTheSearch(t *testing.T) {
	for _, early := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			c, p := controlled(usual)
			meters := make([]Meter, 256)
			if !early {
				c.Press()
				work(c, p, meters, 100*time.Millisecond, time.Millisecond)
			}
			c.Fix(1000) // beyond Max
			sets, looks := len(p.sets), p.looked()
			c.Press()
			meters[0].Done(c, 1)
			c.Overload()
			c.Burst(7)
			time.Sleep(time.Hour)
			if p.bound() != 1000 || len(p.sets) != sets || p.looked() != looks || c.Active() || c.isArmed() && early {
				t.Errorf("set to %v, %d looks, active %v", p.sets[sets-1:], p.looked()-looks, c.Active())
			}
			s := c.State()
			last := s.Changes[len(s.Changes)-1]
			if s.Phase != Fixed || last.Limit != 1000 || last.Reason != "set by hand" {
				t.Errorf("phase %v, last change %v", s.Phase, last)
			}
			c.Fix(3)
			if p.bound() != 3 {
				t.Errorf("fixed to 3, and it is %d", p.bound())
			}
			c.Close()
		})
	}
}

func TestNothingRunsAfterClose(t *testing.T) {
	for _, after := range []time.Duration{0, stuck - 1, 3 * stuck / 2} {
		bubble(t, func(t *testing.T) {
			c, p := controlled(usual)
			c.Press()
			time.Sleep(after)
			c.Close()
			sets, looks := len(p.sets), p.looked()
			c.Press()
			var m Meter
			m.Done(c, 1)
			c.Overload()
			c.Burst(7)
			time.Sleep(time.Hour)
			if len(p.sets) != sets || p.looked() != looks || c.Active() {
				t.Errorf("closed after %v: set to %v, %d looks, active %v", after, p.sets[sets:], p.looked()-looks, c.Active())
			}
			c.Close()
		})
	}
}

// TestTickAgainstClose has the timer fire, and Close come before its tick has the
// lock.
func TestTickAgainstClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		c.Press()
		c.mu.Lock()
		time.Sleep(stuck)
		c.closed = true // Close, which would wait for the lock
		c.mu.Unlock()
		time.Sleep(time.Hour)
		if p.looked() != 0 || len(p.sets) != 0 {
			t.Errorf("%d looks, set to %v", p.looked(), p.sets)
		}
	})
}

func TestBurstCountsBeforeTheSearch(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		c.Burst(90)
		if p.bound() != 30 || c.config.Start() != 30 {
			t.Errorf("limit %d, start %d; want a third of 90", p.bound(), c.config.Start())
		}
		c.Press()
		time.Sleep(stuck + 1)
		if p.bound() != 90 {
			t.Errorf("limit %d, want 90", p.bound())
		}
		sets := len(p.sets)
		c.Burst(6)
		if len(p.sets) != sets || c.finder.search.Burst != 90 {
			t.Errorf("Burst counts after the search has begun: set to %v", p.sets[sets:])
		}
		c.Close()
	})
}

// TestStatePhases has a server that is busy with one task at a time: from rising the
// search comes to fewer and fewer, and looks from time to time whether others do better.
func TestStatePhases(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		meters := make([]Meter, 256)
		c.Press()
		seen := map[Phase]bool{}
		for range 3000 {
			work(c, p, meters, time.Millisecond, time.Millisecond)
			seen[c.State().Phase] = true
		}
		for _, want := range []Phase{Rising, Probing, Holding} {
			if !seen[want] {
				t.Errorf("never in phase %d", want)
			}
		}
		s := c.State()
		if p.bound() > 4 || s.Throughput != 1000 {
			t.Errorf("limit %d at %v a second", p.bound(), s.Throughput)
		}
		for i, change := range s.Changes {
			if change.Reason == "" || change.Limit < 1 || i > 0 && change.Time.Before(s.Changes[i-1].Time) {
				t.Errorf("change %d: %v", i, change)
			}
		}
		c.Close()
	})
}

func TestOverloadLowersTheLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		c.Overload() // before anybody has waited
		if p.bound() != 8 {
			t.Errorf("limit %d, want 0.7 of 12", p.bound())
		}
		if s := c.State(); s.Phase != Holding || s.Changes[len(s.Changes)-1].Reason != "overload with 12" {
			t.Errorf("state %v", s)
		}
		c.Close()
	})
}

// TestShortMemoryLowersTheLimit once, as long as that brings no relief.
func TestShortMemoryLowersTheLimit(t *testing.T) {
	limits(t, 1000*mib, 0)
	synctest.Test(t, func(t *testing.T) {
		c, p := controlled(usual)
		meters := make([]Meter, 256)
		var f figures
		f[readGOGC] = 100
		c.Press()
		work(c, p, meters, 10*time.Millisecond, time.Millisecond)
		c.finder.ceiling.figure = func(metric int) uint64 { return f[metric] }
		f.collect(900)
		work(c, p, meters, 990*time.Millisecond, time.Millisecond)
		n := 0
		for _, change := range c.State().Changes {
			if change.Reason == "memory is short" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("lowered %d times", n)
		}
		c.Close()
	})
}
