package auto

import (
	"testing"
	"time"
)

// TestPressWhileTheTickLooks has somebody begin to wait just after the tick has seen
// that nobody does, and before it ends the period. No task ends, as all wait for
// those that have not begun.
func TestPressWhileTheTickLooks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		p.waiting = false
		p.loaded = func() {
			p.loaded = nil
			p.wait(true)
			c.Press()
		}
		c.Press()
		time.Sleep(time.Minute)
		if !c.Active() && p.bound() == c.config.Start() {
			t.Errorf("somebody has waited for a minute: the limit is still %d, and no timer runs", p.bound())
		}
		c.Close()
	})
}

// TestNewPeriodIsNoStall has tasks of 1 s that come every minute: that none has ended
// in the first half second of a period says nothing, once it is known how long they
// take.
func TestNewPeriodIsNoStall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		meters := make([]Meter, 256)
		known := time.Now().Add(time.Minute)
		for range 5 {
			p.wait(true)
			c.Press()
			for range 2 {
				time.Sleep(time.Second)
				for i := range p.bound() {
					meters[i].Done(c, 1)
				}
			}
			p.wait(false)
			time.Sleep(time.Minute)
		}
		for _, change := range c.State().Changes {
			if change.Time.After(known) && change.Reason == "no task has ended for a while" {
				t.Errorf("limit %d: %s", change.Limit, change.Reason)
			}
		}
		c.Close()
	})
}

// TestRestInALongPeriod has a server with 4000 tasks a second, and workers that wait
// for their place every 100 tasks. After ten minutes the search goes on as at first.
func TestRestInALongPeriod(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := controlled(usual)
		meters := make([]Meter, 256)
		c.Press()
		serve := func(d time.Duration) int {
			before := len(p.sets)
			for i := range int(d / (250 * time.Microsecond)) {
				time.Sleep(250 * time.Microsecond)
				m := &meters[i%p.bound()]
				if i%100 == 0 {
					m.Rest()
				}
				m.Done(c, 1)
			}
			return len(p.sets) - before
		}
		first := serve(10 * time.Second)
		serve(2 * time.Minute)
		if last := serve(10 * time.Second); last < first/4 {
			t.Errorf("%d changes in the first 10 s, %d in 10 s after 2 minutes", first, last)
		}
		c.Close()
	})
}
