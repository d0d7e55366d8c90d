package models

import (
	"fmt"
	"sync"

	"github.com/stint-go/stint/lab/result"
)

// buffer is the capacity of the articles' buffered channels.
const buffer = 1000

// staged is a goroutine that sends the items, several that work on them, each
// with its own output channel, as many that merge these channels if there is
// more than one, and the caller, which adds up the results.
func staged(name, doc string, stages, size int) Model {
	doc = fmt.Sprintf("a goroutine that sends the items, %s; channels of capacity %d", doc, size)
	m := Simple(name, result.Peer, doc, func(l List) uint64 {
		items := sending(size, func(out chan<- int) {
			for i := range l.N {
				out <- i
			}
		})
		var worked []<-chan uint64
		for range stages {
			worked = append(worked, sending(size, func(out chan<- uint64) {
				for i := range items {
					out <- l.Item(i)
				}
			}))
		}
		out := worked[0]
		if stages > 1 {
			out = merge(worked, size)
		}
		return receive(out, func(v uint64) uint64 { return v })
	})
	m.Goroutines = func() int { return 1 + stages*min(stages, 2) }
	return m
}

// pool is the article's pool: a goroutine that sends the items, boxed, to a
// channel of 1,000, one that feeds a channel of 100 from it, and workers.
func pool(name, number string, workers func() int) Model {
	doc := "a source of boxed items with a channel of 1,000, a feeder of a channel of 100, " + number + " workers, a sum each, one lock at the end"
	m := Simple(name, result.Peer, doc, func(l List) uint64 {
		source := sending(buffer, func(out chan<- any) {
			for i := range l.N {
				out <- i
			}
		})
		items := sending(100, func(out chan<- any) {
			for v := range source {
				out <- v
			}
		})
		return start(workers(), func(int) uint64 { return receive(items, func(v any) uint64 { return l.Item(v.(int)) }) })()
	})
	m.Goroutines = func() int { return 2 + workers() }
	return m
}

// Workers returns a pool of n goroutines that read a channel of items, with a
// sum each. workers describes their number.
func Workers(name, workers string, n, size int) Model {
	doc := fmt.Sprintf("%s on a channel of %d items, a sum each, one lock at the end", workers, size)
	return Simple(name, result.Peer, doc, func(l List) uint64 {
		items := make(chan int, size)
		wait := start(n, func(int) uint64 { return receive(items, l.Item) })
		for i := range l.N {
			items <- i
		}
		close(items)
		return wait()
	})
}

// Sweep returns Workers of 1, 2, 4 and so on to 1,024, on a channel of the
// given size, and for each number the other models.
func Sweep(size int, others ...func(n int) Model) []Model {
	var out []Model
	for n := 1; n <= 1024; n *= 2 {
		workers := Workers(fmt.Sprintf("workers-%d", n), "as many goroutines as the name says", n, size)
		workers.Sweep, workers.At = "workers", float64(n)
		out = append(out, workers)
		for _, other := range others {
			out = append(out, other(n))
		}
	}
	return out
}

// merge forwards the values of several channels.
func merge(in []<-chan uint64, size int) <-chan uint64 {
	return sending(size, func(out chan<- uint64) {
		var wg sync.WaitGroup
		for _, c := range in {
			wg.Go(func() {
				for v := range c {
					out <- v
				}
			})
		}
		wg.Wait()
	})
}

// sending returns a channel that send, on a goroutine of its own, sends to.
func sending[T any](size int, send func(out chan<- T)) <-chan T {
	out := make(chan T, size)
	go func() {
		defer close(out)
		send(out)
	}()
	return out
}

// receive returns the sum of the items of a channel.
func receive[T any](in <-chan T, item func(T) uint64) (sum uint64) {
	for v := range in {
		sum += item(v)
	}
	return sum
}

// start starts n goroutines and returns a function that waits for them and
// returns the sum of their results, which they add under one lock.
func start(n int, part func(p int) uint64) (wait func() uint64) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	sum := uint64(0)
	for p := range n {
		wg.Go(func() {
			own := part(p)
			mu.Lock()
			sum += own
			mu.Unlock()
		})
	}
	return func() uint64 {
		wg.Wait()
		return sum
	}
}
