package engine

import "sync/atomic"

// A Gauge counts how many tasks run at once.
type Gauge struct{ running, most atomic.Int64 }

// Enter is called by a task when it begins.
func (g *Gauge) Enter() {
	now := g.running.Add(1)
	for most := g.most.Load(); now > most && !g.most.CompareAndSwap(most, now); most = g.most.Load() {
	}
}

// Leave is called by a task when it ends.
func (g *Gauge) Leave() { g.running.Add(-1) }

// Most is the largest number that there was, since Reset.
func (g *Gauge) Most() int { return int(g.most.Load()) }

// Reset is called while no task runs.
func (g *Gauge) Reset() { g.most.Store(0) }
