package engine

import "sync/atomic"

// A Gauge counts concurrent tasks.
type Gauge struct{ running, peak atomic.Int64 }

// Enter is called when a task starts.
func (g *Gauge) Enter() {
	now := g.running.Add(1)
	for peak := g.peak.Load(); now > peak && !g.peak.CompareAndSwap(peak, now); peak = g.peak.Load() {
	}
}

// Leave is called when a task finishes.
func (g *Gauge) Leave() { g.running.Add(-1) }

// Peak returns the largest count since Reset.
func (g *Gauge) Peak() int { return int(g.peak.Load()) }

// Reset must not be called while tasks run.
func (g *Gauge) Reset() { g.peak.Store(0) }
