package measure

import (
	"runtime/metrics"
	"sync"
	"time"
)

// peakInterval is the time between two readings.
const peakInterval = 2 * time.Millisecond

// memoryMetrics add up to the memory of heap and stacks.
var memoryMetrics = []string{
	"/memory/classes/heap/objects:bytes",
	"/memory/classes/heap/unused:bytes",
	"/memory/classes/heap/stacks:bytes",
}

const goroutinesMetric = "/sched/goroutines:goroutines"

// peaks reads memory and goroutine counts every few milliseconds, on a
// goroutine of its own, the same way for all models.
type peaks struct {
	samples            []metrics.Sample
	memory, goroutines uint64
	quit               chan struct{}
	ended              sync.WaitGroup
}

func startPeaks() *peaks {
	p := &peaks{quit: make(chan struct{})}
	for _, name := range append(memoryMetrics, goroutinesMetric) {
		p.samples = append(p.samples, metrics.Sample{Name: name})
	}
	p.read() // so that its allocations are not the model's
	p.ended.Go(func() {
		t := time.NewTicker(peakInterval)
		defer t.Stop()
		for {
			select {
			case <-p.quit:
				return
			case <-t.C:
				p.read()
			}
		}
	})
	return p
}

func (p *peaks) read() {
	metrics.Read(p.samples)
	last := len(p.samples) - 1
	sum := uint64(0)
	for _, s := range p.samples[:last] {
		sum += s.Value.Uint64()
	}
	p.memory = max(p.memory, sum)
	p.goroutines = max(p.goroutines, p.samples[last].Value.Uint64())
}

// stop returns the peaks in bytes and goroutines.
func (p *peaks) stop() (memory, goroutines float64) {
	close(p.quit)
	p.ended.Wait()
	return float64(p.memory), float64(p.goroutines)
}
