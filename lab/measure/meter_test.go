package measure

import (
	"runtime"
	"testing"
)

var kept []byte

func TestMeter(t *testing.T) {
	m := &Meter{N: 4, Peaks: true}
	m.Start()
	for range m.N {
		kept = make([]byte, 1<<20)
	}
	m.Stop()
	s := m.Sample()
	if s[Bytes] < 1<<20 || s[Bytes] > 3<<20 || s[Allocs] < 1 || s[Time] <= 0 {
		t.Errorf("got %v, want a megabyte and an allocation or more an operation", s)
	}
	if s[PeakMemory] == 0 || s[PeakGoroutines] == 0 {
		t.Errorf("got %v, want peaks", s)
	}
	m.Report(Goroutines, 3)
	if got := m.Sample()[Goroutines]; got != 3 {
		t.Errorf("got %v, want what was reported", got)
	}
	runtime.KeepAlive(kept)
}

// Garbage is collected before a sample if there is much of it.
func TestLeftovers(t *testing.T) {
	collections := func(left int) uint32 {
		m := new(Meter)
		m.Start()
		before := m.before.NumForcedGC
		kept = make([]byte, left)
		kept = nil
		m.Start()
		return m.before.NumForcedGC - before
	}
	if few, many := collections(maxLeftover/2), collections(2*maxLeftover); few != 0 || many != 1 {
		t.Errorf("%d collections for little, %d for much, want 0 and 1", few, many)
	}
}

func TestPeaks(t *testing.T) {
	p := startPeaks()
	kept = make([]byte, 8<<20)
	quit := make(chan struct{})
	for range 100 {
		go func() { <-quit }()
	}
	p.stop()
	p.read() // when nobody else does
	close(quit)
	if p.memory < 8<<20 || p.goroutines < 100 {
		t.Errorf("got %d bytes and %d goroutines, want 8 MB and 100 or more", p.memory, p.goroutines)
	}
	runtime.KeepAlive(kept)
}

func TestUsageIsASample(t *testing.T) {
	u := Usage{Wall: 2e9, CPU: 1e9, PeakRSS: 1 << 20, Floor: 2 << 20}
	s := u.Sample(4e6)
	if s[Time] != 2e9 || s[CPU] != 1e9 || s[Rate] != 2 || s[PeakRSSBound] != 1<<20 || s[PeakRSS] != 0 {
		t.Errorf("got %v", s)
	}
}
