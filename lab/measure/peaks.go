package measure

import (
	"runtime/metrics"
	"sync"
	"time"
)

// peakInterval is how often the peaks are looked at.
const peakInterval = 2 * time.Millisecond

// The metrics whose sum is the memory of heap and stacks.
var memoryMetrics = []string{
	"/memory/classes/heap/objects:bytes",
	"/memory/classes/heap/unused:bytes",
	"/memory/classes/heap/stacks:bytes",
}

const goroutinesMetric = "/sched/goroutines:goroutines"

// peaks looks at the memory and the goroutines of this process every few
// milliseconds, on a goroutine of its own, which is the same for all models.
type peaks struct {
	samples            []metrics.Sample
	memory, goroutines uint64
	quit               chan struct{}
	ended              sync.WaitGroup
}

func watchPeaks() *peaks {
	p := &peaks{quit: make(chan struct{})}
	for _, name := range append(memoryMetrics, goroutinesMetric) {
		p.samples = append(p.samples, metrics.Sample{Name: name})
	}
	p.look() // what the first look allocates is not the models'
	p.ended.Go(func() {
		t := time.NewTicker(peakInterval)
		defer t.Stop()
		for {
			select {
			case <-p.quit:
				return
			case <-t.C:
				p.look()
			}
		}
	})
	return p
}

func (p *peaks) look() {
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
