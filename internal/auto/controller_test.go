package auto

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A fakeLimiter is a Limiter with a lock of its own.
type fakeLimiter struct {
	mu      sync.Mutex
	limit   int
	running int // 0: as many as the limit
	waiting bool
	loads   int
	sets    []int
	loaded  func() // called by Load before it returns
}

func (p *fakeLimiter) Set(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limit = n
	p.sets = append(p.sets, n)
}

func (p *fakeLimiter) Nested() bool { return false }

func (p *fakeLimiter) Exceed(int) {}

func (p *fakeLimiter) Idle() bool { return false }

func (p *fakeLimiter) Load() (running int, waiting bool) {
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
func (p *fakeLimiter) bound() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit
}

// looked returns how often Load was called.
func (p *fakeLimiter) looked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.loads
}

// wait sets whether a task waits.
func (p *fakeLimiter) wait(waiting bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = waiting
}

var usual = Config{Min: 1, Max: 256, Burst: 36, Procs: 2}

// controlled returns a Controller for a limiter where a task waits.
func controlled(config Config) (*Controller, *fakeLimiter) {
	c, p := new(Controller), &fakeLimiter{waiting: true}
	c.Init(config, p)
	p.limit = c.config.Start()
	return c, p
}

// bubble runs f in a synctest bubble, without GOMEMLIMIT.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	memoryLimited(t, 0)
	synctest.Test(t, f)
}

// work finishes tasks for so long, one a step, by one worker after the other.
func work(c *Controller, p *fakeLimiter, samplers []Sampler, duration, step time.Duration) {
	for i := range int(duration / step) {
		time.Sleep(step)
		if c.Active() {
			samplers[i%p.bound()].Done(c, 1, 0)
		}
	}
}

// isArmed reports whether the timer is armed.
func (c *Controller) isArmed() bool {
	c.timerMu.Lock()
	defer c.timerMu.Unlock()
	return c.armed
}

// TestNotifyWaitingUnderLocks calls NotifyWaiting while the locks of the limiter and of
// the controller are held.
func TestNotifyWaitingUnderLocks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		c.mu.Lock()
		p.mu.Lock()
		c.NotifyWaiting()
		time.Sleep(stallTime) // the tick waits for the lock of the controller
		c.NotifyWaiting()
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
		c.NotifyWaiting()
		time.Sleep(time.Hour)
		if p.bound() != stallBurstFactor*usual.Burst || !slices.IsSorted(p.sets) || p.sets[0] != usual.Burst {
			t.Errorf("no task has ended: set to %v", p.sets)
		}
		ticks := p.looked()
		if told := int(exceedTime / stallTime); ticks != len(p.sets)+told || c.isArmed() {
			t.Errorf("%d ticks for %d changes, armed %v", ticks, len(p.sets), c.isArmed())
		}
		var m Sampler
		m.Done(c, 1, 0)
		if !c.isArmed() {
			t.Error("the end of a task does not arm the timer")
		}
		c.Close()
	})
}

// TestTicksEndWithTheWaiting has no task wait any more: the next tick ends the period. It
// may call Load twice.
func TestTicksEndWithTheWaiting(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		c.NotifyWaiting()
		time.Sleep(stallTime + 1)
		p.wait(false)
		before := p.looked()
		time.Sleep(time.Hour)
		if got := p.looked() - before; got < 1 || got > 2 || c.Active() || c.isArmed() {
			t.Errorf("%d looks, active %v, armed %v", got, c.Active(), c.isArmed())
		}
		p.wait(true)
		c.NotifyWaiting()
		if !c.Active() || !c.isArmed() {
			t.Error("the next NotifyWaiting does not start a period")
		}
		c.Close()
	})
}

// TestFreePermitsAreNoStall has a task wait while permits are free: workers are on their
// way to the permits.
func TestFreePermitsAreNoStall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		p.running = p.limit - 1
		c.NotifyWaiting()
		time.Sleep(time.Minute)
		if len(p.sets) != 0 || p.looked() != maxIdleTicks+1 || c.isArmed() { // a deadlocked bubble must be detected
			t.Errorf("set to %v, %d looks, armed %v", p.sets, p.looked(), c.isArmed())
		}
		c.Close()
	})
}

// TestIdleTasksEndAPeriod has tasks finish while none waits.
func TestIdleTasksEndAPeriod(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		samplers := make([]Sampler, 256)
		c.NotifyWaiting()
		work(c, p, samplers, 100*time.Millisecond, time.Millisecond)
		p.wait(false)
		running := p.bound()
		ended := 0
		for ; c.Active() && ended < 1000; ended++ {
			time.Sleep(time.Millisecond)
			samplers[ended%running].Done(c, 1, 0)
		}
		if want := 4*max(running, c.search.peakRunning) + 64 + 1; ended > want+running || ended < 64 {
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

func TestFixEndsTheSearch(t *testing.T) {
	for _, early := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			c, p := controlled(usual)
			samplers := make([]Sampler, 256)
			if !early {
				c.NotifyWaiting()
				work(c, p, samplers, 100*time.Millisecond, time.Millisecond)
			}
			c.Fix(1000) // beyond Max
			sets, looks := len(p.sets), p.looked()
			c.NotifyWaiting()
			samplers[0].Done(c, 1, 0)
			c.Overload(0)
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
	for _, after := range []time.Duration{0, stallTime - 1, 3 * stallTime / 2} {
		bubble(t, func(t *testing.T) {
			c, p := controlled(usual)
			c.NotifyWaiting()
			time.Sleep(after)
			c.Close()
			sets, looks := len(p.sets), p.looked()
			c.NotifyWaiting()
			var m Sampler
			m.Done(c, 1, 0)
			c.Overload(0)
			time.Sleep(time.Hour)
			if len(p.sets) != sets || p.looked() != looks || c.Active() {
				t.Errorf("closed after %v: set to %v, %d looks, active %v", after, p.sets[sets:], p.looked()-looks, c.Active())
			}
			c.Close()
		})
	}
}

// TestTickAgainstClose has the timer fire, and Close get the lock before the tick.
func TestTickAgainstClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		c.NotifyWaiting()
		c.mu.Lock()
		time.Sleep(stallTime)
		c.stopLocked(true) // Close, which would wait for the lock
		c.mu.Unlock()
		time.Sleep(time.Hour)
		if p.looked() != 0 || len(p.sets) != 0 {
			t.Errorf("%d looks, set to %v", p.looked(), p.sets)
		}
	})
}

// TestShortMemoryLowersTheLimit has memory stay short: the limit falls once.
func TestShortMemoryLowersTheLimit(t *testing.T) {
	memoryLimited(t, 1000*mib)
	synctest.Test(t, func(t *testing.T) {
		c, p := controlled(usual)
		samplers := make([]Sampler, 256)
		var u usage
		c.NotifyWaiting()
		work(c, p, samplers, 10*time.Millisecond, time.Millisecond)
		c.search.resources.read = func() usage { return u }
		u.collect(900)
		work(c, p, samplers, 990*time.Millisecond, time.Millisecond)
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
