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

// Parallelize cuts the list into one chunk per processor.
func Parallelize() Model {
	m := Simple(NameParallelize, result.Peer, "the list cut into NumCPU chunks, a goroutine and a sum each, one lock at the end", func(l List) uint64 {
		var t sharedSum
		chunks := allCPUs()
		for p := range chunks {
			t.wg.Go(func() {
				sum := uint64(0)
				for i := p * l.N / chunks; i < (p+1)*l.N/chunks; i++ {
					sum += l.Item(i)
				}
				t.add(sum)
			})
		}
		return t.wait()
	})
	m.Goroutines = allCPUs
	return m
}

// A sharedSum is the sum of goroutines that each add their own once.
type sharedSum struct {
	wg  sync.WaitGroup
	mu  sync.Mutex
	sum uint64
}

func (t *sharedSum) add(sum uint64) {
	t.mu.Lock()
	t.sum += sum
	t.mu.Unlock()
}

func (t *sharedSum) wait() uint64 {
	t.wg.Wait()
	return t.sum
}
