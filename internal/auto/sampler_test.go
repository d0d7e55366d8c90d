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
	return w.tasks, w.assumed.n, time.Duration(w.assumed.sum)
}

// counting returns a Controller whose window stays open.
func counting() (*Controller, *fakeLimiter) {
	c, p := controlled(Config{Min: 1, Max: 256, Burst: 36, Procs: 2})
	c.NotifyWaiting() // begins a period, which opens a window
	c.mu.Lock()
	f, _ := c.current()
	f.settling = 1 << 30
	c.mu.Unlock()
	return c, p
}

func TestSamplerReportsHowLongTasksTook(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _ := counting()
		c.NotifyWaiting()
		var m Sampler
		time.Sleep(3 * time.Millisecond) // since the period began
		m.Done(c, 1, 0)
		time.Sleep(5 * time.Millisecond)
		m.Done(c, 1, 0)
		if tasks, timed, took := c.counted(); tasks != 2 || timed != 2 || took != 8*time.Millisecond {
			t.Errorf("%v tasks, %v of them took %v", tasks, timed, took)
		}
		c.Close()
	})
}

// TestShortTasksAreBatched has tasks that take no time: batches grow to 128 tasks, and
// shrink when tasks take long.
func TestShortTasksAreBatched(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := counting()
		c.NotifyWaiting()
		var m Sampler
		const tasks = 10000
		largest, before := 0, 0
		for range tasks {
			m.Done(c, 1, 0)
			if n, _, _ := c.counted(); int(n) != before {
				largest, before = max(largest, int(n)-before), int(n)
			}
		}
		if largest != 128 || m.tasks >= 128 {
			t.Errorf("%d tasks reported at once, %d are left", largest, m.tasks)
		}
		if looks := p.looked(); looks > tasks/128+16 {
			t.Errorf("%d looks at the permits for %d tasks", looks, tasks)
		}
		for m.batch > 1 { // they become long
			time.Sleep(time.Millisecond)
			m.Done(c, m.batch, 0)
		}
		time.Sleep(time.Millisecond)
		m.Done(c, 1, 0)
		if m.tasks != 0 || m.batch != 1 {
			t.Errorf("%d tasks of 1 ms are left, batches of %d", m.tasks, m.batch)
		}
		c.Close()
	})
}

func TestRestReportsTheNextTaskAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _ := counting()
		c.NotifyWaiting()
		var m Sampler
		for range 1000 {
			m.Done(c, 1, 0)
		}
		n, left := 0.0, m.tasks
		n, _, _ = c.counted()
		m.Rest()
		m.Done(c, 1, 0)
		if after, _, _ := c.counted(); int(after-n) != left+1 || m.tasks != 0 {
			t.Errorf("%v reported after Rest, want %d", after-n, left+1)
		}
		c.Close()
	})
}

// TestRestStartsTheTimeOfTheNextTask has a worker pause before each task: the time of
// the second is known, and the time of the first is not.
func TestRestStartsTheTimeOfTheNextTask(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _ := counting()
		c.NotifyWaiting()
		c.search.start.prior.tasks = 1 // nothing is assumed any more
		var m Sampler
		m.Rest()
		m.Done(c, 1, 0)
		time.Sleep(100 * time.Millisecond)
		m.Rest()
		time.Sleep(3 * time.Millisecond)
		m.Done(c, 1, 0)
		w := &c.search.window
		if w.tasks != 2 || w.known.n != 1 || time.Duration(w.known.sum) != 3*time.Millisecond {
			t.Errorf("%v tasks, %v of them took %v", w.tasks, w.known.n, time.Duration(w.known.sum))
		}
		c.Close()
	})
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
		if r := w.reading(); w.assumed.n != 1 || w.known.n != 0 || r.latency != 0 {
			t.Errorf("%v assumed, %v known, %v", w.assumed.n, w.known.n, r)
		}
		c.Close()
	})
}

// TestShortTasksDoNotWaitForTheLock has the lock taken: short tasks are reported later.
func TestShortTasksDoNotWaitForTheLock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, _ := counting()
		c.NotifyWaiting()
		var m Sampler
		for range 1000 {
			m.Done(c, 1, 0)
		}
		c.mu.Lock()
		for range 1000 {
			m.Done(c, 1, 0)
		}
		c.mu.Unlock()
		left := m.tasks
		m.Done(c, 1, 0)
		if n, _, _ := c.counted(); left < 1000 || n != 2001 || m.tasks != 0 {
			t.Errorf("%d tasks left without the lock, then %v reported and %d left", left, n, m.tasks)
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
	c.finished(1, 0, 0) // opens the window
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
