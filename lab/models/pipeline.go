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

// buffer is the length of channels that have a buffer.
const buffer = 1000

// Pipeline is a goroutine that sends the items, one that works on them, and the
// caller, which adds up what comes, with a channel from each to the next.
func Pipeline() Model { return pipeline(NamePipeline, "unbuffered channels", 0) }

// PipelineBuffered is Pipeline with buffered channels.
func PipelineBuffered() Model {
	return pipeline(NamePipelineBuffered, fmt.Sprintf("channels of %d", buffer), buffer)
}

func pipeline(name, channels string, size int) Model {
	doc := "a goroutine that sends the items, one that works on them, the caller adds up; " + channels
	return Simple(name, result.Peer, doc, func(l List) uint64 {
		return add(l.stage(l.source(size), size))
	})
}

// Fan is Pipeline with several goroutines that work on the items, each with a
// channel of its own for what comes out, and a goroutine for each of these
// channels that hands on to the caller's.
func Fan() Model { return fan(NameFan, "unbuffered channels", 0) }

// FanBuffered is Fan with buffered channels.
func FanBuffered() Model { return fan(NameFanBuffered, fmt.Sprintf("channels of %d", buffer), buffer) }

func fan(name, channels string, size int) Model {
	doc := "a goroutine that sends the items, NumCPU/2 that work on them, at least 1, and as many that merge their channels into one; " + channels
	m := Simple(name, result.Peer, doc, func(l List) uint64 {
		items := l.source(size)
		var out []<-chan uint64
		for range half() {
			out = append(out, l.stage(items, size))
		}
		return add(merge(out, size))
	})
	m.Goroutines = func() int { return 1 + 2*half() }
	return m
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

// stage works on the items that come.
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

// merge hands on what comes on any of several channels.
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

// add adds up what comes.
func add(in <-chan uint64) uint64 {
	sum := uint64(0)
	for v := range in {
		sum += v
	}
	return sum
}
