package auto

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestNotifyWaitingWhileTheTickLooks has a task start to wait after the tick has seen that
// none does, and before the tick ends the period. No task finishes, as all wait for tasks
// that have not started.
func TestNotifyWaitingWhileTheTickLooks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		p.waiting = false
		p.loaded = func() {
			p.loaded = nil
			p.wait(true)
			c.NotifyWaiting()
		}
		c.NotifyWaiting()
		time.Sleep(time.Minute)
		if !c.Active() && p.bound() == c.config.Start() {
			t.Errorf("a task has waited for a minute: the limit is still %d, and no timer runs", p.bound())
		}
		c.Close()
	})
}

// TestNewPeriodIsNoStall has tasks of 1 s that come every minute: once their time is
// known, it is no stall that none finishes in the first half second of a period.
func TestNewPeriodIsNoStall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		samplers := make([]Sampler, 256)
		known := time.Now().Add(time.Minute)
		for range 5 {
			p.wait(true)
			c.NotifyWaiting()
			for range 2 {
				time.Sleep(time.Second)
				for i := range p.bound() {
					samplers[i].Done(c, 1, 0)
				}
			}
			p.wait(false)
			time.Sleep(time.Minute)
		}
		for _, change := range c.State().Changes {
			if change.Time.After(known) && change.Reason == "no task has finished for some time" {
				t.Errorf("limit %d: %s", change.Limit, change.Reason)
			}
		}
		c.Close()
	})
}

// TestOverloadCountsForAWhile has tasks hang after one was overloaded, and none wait: the
// timer does not run as long as they do, and runs again when one has finished.
func TestOverloadCountsForAWhile(t *testing.T) {
	bubble(t, func(t *testing.T) {
		config := usual
		config.Burst, config.Max = 600, 1000 // so large that one overload is a stray
		c, p := controlled(config)
		p.waiting = false
		c.Overload(0)
		c.Finished(false, 0)
		for range 10 {
			c.Finished(false, time.Second)
			time.Sleep(time.Second)
			synctest.Wait() // a tick is due at this moment
			if !c.Active() || !c.isArmed() {
				t.Fatalf("a second after a task: active %v, armed %v", c.Active(), c.isArmed())
			}
		}
		time.Sleep(time.Minute)
		if c.isArmed() {
			t.Error("the timer runs as long as a task hangs")
		}
		c.Finished(false, time.Second)
		if !c.isArmed() {
			t.Error("a task has finished, and no timer runs")
		}
		c.Close()
	})
}
