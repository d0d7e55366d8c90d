package pools

import (
	"runtime"
	"testing"

	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
)

// BenchmarkChannel hands 100,000 numbers from senders to receivers, four of each for a CPU of this machine: over one
// channel for all, and over one that is received in a select, both also with eight times as many Ps as CPUs, and over a
// channel for each sender.
func BenchmarkChannel(b *testing.B) {
	sends, pairs, many := 100_000, 4*runtime.NumCPU(), 8*runtime.NumCPU()
	for _, way := range []struct {
		name         string
		channels, ps int
		selects      bool
	}{{"shared", 1, 0, false}, {"shared/Ps=many", 1, many, false}, {"own", pairs, 0, false}, {"select", 1, 0, true}, {"select/Ps=many", 1, many, true}} {
		b.Run("way="+way.name, func(b *testing.B) {
			bench.Run(b, uint64(sends)*uint64(sends-1)/2, func() uint64 {
				if way.ps > 0 {
					defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(way.ps))
				}
				return handOver(sends, pairs, way.channels, way.selects)
			})
		})
	}
}

// handOver returns the sum of the numbers below sends, each sent once.
func handOver(sends, pairs, channels int, selects bool) uint64 {
	done, all := make(chan int), make([]chan int, channels)
	for i := range all {
		all[i] = make(chan int, 100)
	}
	go func() {
		models.Together(pairs, func(p int) {
			for i := p; i < sends; i += pairs {
				all[p%channels] <- i
			}
		})
		for _, c := range all {
			close(c)
		}
	}()
	return models.Sum(pairs, func(p int) (own uint64) {
		c := all[p%channels]
		for i, ok := 0, true; ok; own += uint64(i) {
			if !selects {
				i, ok = <-c
				continue
			}
			select {
			case i, ok = <-c:
			case i, ok = <-done:
			}
		}
		return own
	})
}

// A program that asks for NumCPU goroutines has as many with GOMAXPROCS=1.
func TestNumCPU(t *testing.T) {
	before := runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if n := runtime.NumCPU(); n != before {
		t.Errorf("NumCPU is %d with GOMAXPROCS=1, and %d before", n, before)
	}
}
