// Package models holds the ways to process a list that the articles compare, and libraries. All give the same sum.
package models

import (
	"sync"
	"sync/atomic"
)

// An Item is the work for one number of a list. It is called concurrently.
type Item func(float64) uint64

// A Model calls f for each number, and returns the sum of the results.
type Model func(list []float64, f Item) uint64

// Sequential is a plain loop.
func Sequential(list []float64, f Item) (sum uint64) {
	for _, n := range list {
		sum += f(n)
	}
	return sum
}

// Pipeline returns a model of a source, one stage and the caller, joined by channels of a size.
func Pipeline(size int) Model {
	return func(list []float64, f Item) uint64 { return sum(stage(source(list, size), f, size)) }
}

// Fan returns a model of a source, workers that share it, and a merge, joined by channels of a size.
func Fan(workers, size int) Model {
	return func(list []float64, f Item) uint64 {
		in, out := source(list, size), make([]<-chan uint64, workers)
		for i := range out {
			out[i] = stage(in, f, size)
		}
		return sum(merge(out, size))
	}
}

// Parallelize returns a model of one goroutine for each of n pieces, all of them len/n long; the last one has the
// remainder too, as in the article.
func Parallelize(n int) Model { return pieces(n, func(i, size int) int { return i * (size / n) }) }

// Balanced is Parallelize with pieces that differ by at most one number.
func Balanced(n int) Model { return pieces(n, func(i, size int) int { return i * size / n }) }

func pieces(n int, start func(i, size int) int) Model {
	return func(list []float64, f Item) uint64 {
		return together(n, func(i int) uint64 {
			end := len(list)
			if i < n-1 {
				end = start(i+1, len(list))
			}
			return Sequential(list[start(i, len(list)):end], f)
		})
	}
}

// Pool returns a model of workers that read a channel of 100 boxed numbers. A feeder fills it from a source of boxed
// numbers with a channel of 1,000, as in the article.
func Pool(workers int) Model {
	return func(list []float64, f Item) uint64 {
		boxes := send(1000, func(out chan<- any) {
			for _, n := range list {
				out <- n
			}
		})
		work := stage(boxes, func(box any) any { return box }, 100)
		return together(workers, func(int) (sum uint64) {
			for box := range work {
				sum += f(box.(float64))
			}
			return sum
		})
	}
}

func source(list []float64, size int) <-chan float64 {
	return send(size, func(out chan<- float64) {
		for _, n := range list {
			out <- n
		}
	})
}

func stage[T, R any](in <-chan T, f func(T) R, size int) <-chan R {
	return send(size, func(out chan<- R) {
		for n := range in {
			out <- f(n)
		}
	})
}

func merge(in []<-chan uint64, size int) <-chan uint64 {
	return send(size, func(out chan<- uint64) {
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

func sum(in <-chan uint64) (sum uint64) {
	for v := range in {
		sum += v
	}
	return sum
}

// send returns a channel that a goroutine fills and closes.
func send[T any](size int, fill func(chan<- T)) <-chan T {
	out := make(chan T, size)
	go func() {
		defer close(out)
		fill(out)
	}()
	return out
}

// together returns the sum of what n goroutines return.
func together(n int, part func(i int) uint64) uint64 {
	var wg sync.WaitGroup
	var sum atomic.Uint64
	for i := range n {
		wg.Go(func() { sum.Add(part(i)) })
	}
	wg.Wait()
	return sum.Load()
}
