package auto

import (
	"sync"
	"testing"
	"time"
)

// told returns what the window of c knows: tasks, and those whose time is known, and
// their time.
func (c *Controller) told() (tasks, timed float64, took time.Duration) {
	w := &c.finder.window
	return w.tasks, w.timed, time.Duration(w.took)
}

// counting returns a Controller whose window stays open, so that it counts all.
func counting() (*Controller, *places) {
	c, p := controlled(Config{Min: 1, Max: 256, Burst: 36, Procs: 2})
	c.mu.Lock()
	f, _ := c.find()
	f.settle = 1 << 30
	c.mu.Unlock()
	return c, p
}

func TestMeterTellsHowLongTasksTook(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _ := counting()
		c.Press()
		var m Meter
		time.Sleep(3 * time.Millisecond) // since the period began
		m.Done(c, 1)
		time.Sleep(5 * time.Millisecond)
		m.Done(c, 1)
		if tasks, timed, took := c.told(); tasks != 2 || timed != 2 || took != 8*time.Millisecond {
			t.Errorf("%v tasks, %v of them took %v", tasks, timed, took)
		}
		c.Close()
	})
}

// TestShortTasksAreToldTogether has tasks that take no time: more and more of them
// are told at once, 128 at most. Those that are left are told by the next long one.
func TestShortTasksAreToldTogether(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := counting()
		c.Press()
		var m Meter
		const tasks = 10000
		largest, before := 0, 0
		for range tasks {
			m.Done(c, 1)
			if n, _, _ := c.told(); int(n) != before {
				largest, before = max(largest, int(n)-before), int(n)
			}
		}
		if largest != 128 || m.tasks >= 128 {
			t.Errorf("%d tasks told at once, %d are left", largest, m.tasks)
		}
		if looks := p.looked(); looks > tasks/128+16 {
			t.Errorf("%d looks at the places for %d tasks", looks, tasks)
		}
		for m.every > 1 { // they become long
			time.Sleep(time.Millisecond)
			m.Done(c, m.every)
		}
		time.Sleep(time.Millisecond)
		m.Done(c, 1)
		if m.tasks != 0 || m.every != 1 {
			t.Errorf("%d tasks of 1 ms are left, %d are told at once", m.tasks, m.every)
		}
		c.Close()
	})
}

func TestRestTellsTheNextTaskAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _ := counting()
		c.Press()
		var m Meter
		for range 1000 {
			m.Done(c, 1)
		}
		n, left := 0.0, m.tasks
		n, _, _ = c.told()
		m.Rest()
		m.Done(c, 1)
		if after, _, _ := c.told(); int(after-n) != left+1 || m.tasks != 0 {
			t.Errorf("%v told after Rest, want %d", after-n, left+1)
		}
		c.Close()
	})
}

// TestRestBeginsTheTimeOfTheNextTask has a worker wait between its tasks: it knows how
// long the second took, and nobody knows that of the first.
func TestRestBeginsTheTimeOfTheNextTask(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _ := counting()
		c.Press()
		c.finder.prior.tasks = 1 // nothing is supposed any more
		var m Meter
		m.Rest()
		m.Done(c, 1)
		time.Sleep(100 * time.Millisecond)
		m.Rest()
		time.Sleep(3 * time.Millisecond)
		m.Done(c, 1)
		w := &c.finder.window
		if w.tasks != 2 || w.seen != 1 || time.Duration(w.known) != 3*time.Millisecond {
			t.Errorf("%v tasks, %v of them took %v", w.tasks, w.seen, time.Duration(w.known))
		}
		c.Close()
	})
}

// TestSupposedTimesAreNotKnown has a worker that may have begun before anybody waited.
func TestSupposedTimesAreNotKnown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _ := counting()
		c.Press()
		var m Meter
		time.Sleep(3 * time.Millisecond)
		m.Done(c, 1)
		w := &c.finder.window
		if r := w.reading(); w.timed != 1 || w.seen != 0 || r.took != 0 {
			t.Errorf("%v supposed, %v known, %v", w.timed, w.seen, r)
		}
		c.Close()
	})
}

// TestShortTasksDoNotWaitForTheLock has somebody else tell: short tasks are told later.
func TestShortTasksDoNotWaitForTheLock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _ := counting()
		c.Press()
		var m Meter
		for range 1000 {
			m.Done(c, 1)
		}
		c.mu.Lock()
		for range 1000 {
			m.Done(c, 1)
		}
		c.mu.Unlock()
		left := m.tasks
		m.Done(c, 1)
		if n, _, _ := c.told(); left < 1000 || n != 2001 || m.tasks != 0 {
			t.Errorf("%d tasks left without the lock, then %v told and %d left", left, n, m.tasks)
		}
		c.Close()
	})
}

// TestContentionLosesNoCount has workers whose tasks take no time tell at once: who
// does not get the lock tells it with the next.
func TestContentionLosesNoCount(t *testing.T) {
	limits(t, 0, 0)
	c, _ := counting()
	c.Press()
	const workers, tasks = 8, 20000
	var meters [workers]Meter
	var wg sync.WaitGroup
	for i := range meters {
		wg.Go(func() {
			for range tasks {
				meters[i].Done(c, 1)
			}
		})
	}
	wg.Wait()
	c.mu.Lock()
	total, _, _ := c.told()
	c.mu.Unlock()
	for i := range meters {
		if meters[i].tasks >= tellAtMost && meters[i].every < tellAtMost {
			t.Errorf("worker %d has %d tasks left", i, meters[i].tasks)
		}
		total += float64(meters[i].tasks)
	}
	if total != workers*tasks {
		t.Errorf("%v tasks counted of %d", total, workers*tasks)
	}
	c.Close()
}
