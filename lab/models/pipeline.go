package models

import (
	"fmt"
	"sync"

	"github.com/stint-go/stint/lab/result"
)

// The names of models that claims are about.
const (
	NamePipeline         = "pipeline"
	NamePipelineBuffered = "pipeline-buffered"
	NameFan              = "fan"
	NameFanBuffered      = "fan-buffered"
)

// buffer is the capacity of buffered channels.
const buffer = 1000

// pipeline is a goroutine that sends the items, one that processes them, and
// the caller, which adds up the results, connected by channels of the given
// size.
func pipeline(name string, size int) Model {
	doc := "a goroutine that sends the items, one that works on them, the caller adds up; " + channels(size)
	return Simple(name, result.Peer, doc, func(l List) uint64 {
		return add(l.stage(l.source(size), size))
	})
}

// fan is pipeline with several processing goroutines, each with its own output
// channel, and as many goroutines that merge these channels.
func fan(name string, size int) Model {
	doc := "a goroutine that sends the items, NumCPU/2 that work on them, at least 1, and as many that merge their channels into one; " + channels(size)
	m := Simple(name, result.Peer, doc, func(l List) uint64 {
		items := l.source(size)
		var out []<-chan uint64
		for range halfCPUs() {
			out = append(out, l.stage(items, size))
		}
		return add(merge(out, size))
	})
	m.Goroutines = func() int { return 1 + 2*halfCPUs() }
	return m
}

// channels describes channels of the given size.
func channels(size int) string {
	if size == 0 {
		return "unbuffered channels"
	}
	return fmt.Sprintf("channels of %d", size)
}

// source sends the indexes of the list.
func (l List) source(size int) <-chan int {
	out := make(chan int, size)
	go func() {
		defer close(out)
		for i := range l.N {
			out <- i
		}
	}()
	return out
}

// stage processes the received items.
func (l List) stage(items <-chan int, size int) <-chan uint64 {
	out := make(chan uint64, size)
	go func() {
		defer close(out)
		for i := range items {
			out <- l.Item(i)
		}
	}()
	return out
}

// merge forwards the values of several channels.
func merge(in []<-chan uint64, size int) <-chan uint64 {
	out := make(chan uint64, size)
	var wg sync.WaitGroup
	for _, c := range in {
		wg.Go(func() {
			for v := range c {
				out <- v
			}
		})
	}
	go func() {
		wg.Wait()
		close(out)
	}()
	return out
}

// add returns the sum of the received values.
func add(in <-chan uint64) uint64 {
	sum := uint64(0)
	for v := range in {
		sum += v
	}
	return sum
}
