package models

import (
	"sync"

	"github.com/stint-go/stint/lab/result"
)

// The names of models that claims are about.
const (
	NameSequential  = "sequential"
	NameParallelize = "parallelize"
)

// Sequential is a loop.
func Sequential() Model {
	return Simple(NameSequential, result.Peer, "for i := range n { sum += f(i) }", List.Sum)
}

// Parallelize cuts the list into one piece a processor.
func Parallelize() Model {
	m := Simple(NameParallelize, result.Peer, "the list cut into NumCPU pieces, a goroutine and a sum each, one lock at the end", func(l List) uint64 {
		var t tally
		pieces := all()
		for p := range pieces {
			t.wg.Go(func() {
				sum := uint64(0)
				for i := p * l.N / pieces; i < (p+1)*l.N/pieces; i++ {
					sum += l.Item(i)
				}
				t.add(sum)
			})
		}
		return t.wait()
	})
	m.Goroutines = all
	return m
}

// A tally is goroutines that each have a sum of their own and add it to that of
// all when they end.
type tally struct {
	wg  sync.WaitGroup
	mu  sync.Mutex
	sum uint64
}

func (t *tally) add(sum uint64) {
	t.mu.Lock()
	t.sum += sum
	t.mu.Unlock()
}

func (t *tally) wait() uint64 {
	t.wg.Wait()
	return t.sum
}
