package auto

import (
	"sync"
	"testing"
	"time"
)

// counted returns the tasks in the window of c, and the number and the time of the tasks
// whose time is known or assumed.
func (c *Controller) counted() (tasks, timed float64, took time.Duration) {
	w := &c.search.window
	return w.tasks, w.latency.n, time.Duration(w.latency.sum)
}

// counting returns a Controller whose window stays open.
func counting() (*Controller, *fakeLimiter) {
	c, p := controlled(Config{Min: 1, Max: 256, Burst: 36, Procs: 2})
	c.NotifyWaiting() // begins a period, which opens a window
	c.mu.Lock()
	f, _ := c.currentLocked()
	f.settling = 1 << 30
	c.mu.Unlock()
	return c, p
}

// TestAssumedTimesAreNotKnown has a worker that may have started before the period.
func TestAssumedTimesAreNotKnown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _ := counting()
		c.NotifyWaiting()
		var m Sampler
		time.Sleep(3 * time.Millisecond)
		m.Done(c, 1, 0)
		w := &c.search.window
		if r := w.reading(); w.latency.n != 1 || w.known.n != 0 || r.latency != 0 {
			t.Errorf("%v assumed, %v known, %v", w.latency.n, w.known.n, r)
		}
		c.Close()
	})
}

// TestContentionLosesNoCount has workers with short tasks report concurrently: tasks of a
// worker that does not get the lock are reported later.
func TestContentionLosesNoCount(t *testing.T) {
	memoryLimited(t, 0)
	c, _ := counting()
	c.NotifyWaiting()
	c.mu.Lock()
	c.finishedLocked(1, 0, 0) // opens the window
	c.mu.Unlock()
	time.Sleep(time.Millisecond) // tasks from before the window do not count
	const workers, tasks = 8, 20000
	var samplers [workers]Sampler
	var wg sync.WaitGroup
	for i := range samplers {
		wg.Go(func() {
			for range tasks {
				samplers[i].Done(c, 1, 0)
			}
		})
	}
	wg.Wait()
	c.mu.Lock()
	total, _, _ := c.counted()
	c.mu.Unlock()
	for i := range samplers {
		if samplers[i].tasks >= maxBatch && samplers[i].batch < maxBatch {
			t.Errorf("worker %d has %d tasks left", i, samplers[i].tasks)
		}
		total += float64(samplers[i].tasks)
	}
	if total != 1+workers*tasks {
		t.Errorf("%v tasks counted of %d", total, 1+workers*tasks)
	}
	c.Close()
}

// TestFailedTasksAreReportedAtOnce has short tasks, of which one fails after a part of a batch.
func TestFailedTasksAreReportedAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _ := counting()
		c.NotifyWaiting()
		var m Sampler
		for range 1000 { // batches have grown
			m.Done(c, 1, 0)
		}
		for m.tasks != 5 {
			m.Done(c, 1, 0)
		}
		before, _, _ := c.counted()
		m.Done(c, 1, 1)
		if tasks, _, _ := c.counted(); m.tasks != 0 || tasks != before+5 {
			t.Errorf("%v tasks are counted, 5 have succeeded; %d are left", tasks-before, m.tasks)
		}
		c.Close()
	})
}
