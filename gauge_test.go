package stint_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A gauge counts how many tasks are inside it, and the most that ever were.
type gauge struct {
	mu              sync.Mutex
	now, max, total int
}

func (g *gauge) enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now++
	g.total++
	g.max = max(g.max, g.now)
}

func (g *gauge) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now--
}

// hold is a task that stays inside for a while.
func (g *gauge) hold(d time.Duration) {
	g.enter()
	defer g.leave()
	time.Sleep(d)
}

// inside returns how many tasks are inside now.
func (g *gauge) inside() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now
}

// peak returns the most tasks that were inside at once.
func (g *gauge) peak() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.max
}

// is fails the test if the gauge shows something else.
func (g *gauge) is(t *testing.T, now, most, total int) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now != now || g.max != most || g.total != total {
		t.Errorf("now %d, at most %d, in all %d; want %d, %d, %d", g.now, g.max, g.total, now, most, total)
	}
}

// runs fails the test if the number of tasks inside is not n once all is still.
func (g *gauge) runs(t *testing.T, n int) {
	t.Helper()
	synctest.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now != n {
		t.Errorf("%v: %d tasks run, want %d", sinceBubble(), g.now, n)
	}
}
