package measure

import (
	"runtime/metrics"
	"sync"
	"time"
)

// peakInterval is the time between two readings.
const peakInterval = 2 * time.Millisecond

// peaks reads memory and goroutine counts every few milliseconds, on a
// goroutine of its own, the same way for all models.
type peaks struct {
	samples            []metrics.Sample // the first three add up to the memory of heap and stacks
	memory, goroutines uint64
	quit               chan struct{}
	ended              sync.WaitGroup
}

func startPeaks() *peaks {
	p := &peaks{quit: make(chan struct{}), samples: []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/sched/goroutines:goroutines"},
	}}
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
	value := func(i int) uint64 { return p.samples[i].Value.Uint64() }
	p.memory = max(p.memory, value(0)+value(1)+value(2))
	p.goroutines = max(p.goroutines, value(3))
}

// stop returns the peaks in bytes and goroutines.
func (p *peaks) stop() (memory, goroutines float64) {
	close(p.quit)
	p.ended.Wait()
	return float64(p.memory), float64(p.goroutines)
}
