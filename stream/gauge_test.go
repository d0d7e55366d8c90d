package stream_test

import (
	"sync"
	"testing"
	"time"
)

// A gauge counts how many calls are inside it, and the most that ever were.
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

// hold is a call that stays inside for a while.
func (g *gauge) hold(d time.Duration) {
	g.enter()
	defer g.leave()
	time.Sleep(d)
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

// begun returns how many calls there were.
func (g *gauge) begun() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.total
}
