// Package models holds the ways to process a list that the articles compare, and libraries. All give the same sum.
package models

import (
	"sync"
	"sync/atomic"
)

// An Item is the work for one number of a list. It is called concurrently.
type Item = func(float64) uint64

// A Model calls f for each number, and returns the sum of the results.
type Model func(list []float64, f Item) uint64

// Indexes returns a list of the numbers from 0 to n-1, for models of other lists.
func Indexes(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = float64(i)
	}
	return list
}

// Sequential is a plain loop.
func Sequential(list []float64, f Item) (sum uint64) {
	for _, n := range list {
		sum += f(n)
	}
	return sum
}

// Pipeline returns a model of a source, one stage and the caller, joined by channels of a size.
func Pipeline(size int) Model {
	return func(list []float64, f Item) uint64 { return sum(stage(source(list, same, size), f, size)) }
}

// Fan returns a model of a source, workers that share it, and a merge, joined by channels of a size.
func Fan(workers, size int) Model {
	return func(list []float64, f Item) uint64 {
		in, out := source(list, same, size), make([]<-chan uint64, workers)
		for i := range out {
			out[i] = stage(in, f, size)
		}
		return sum(merge(out, size))
	}
}

// Parallelize returns a model of one goroutine for each of n pieces, as in the article.
func Parallelize(n int) Model { return pieces(n, Piece[float64]) }

// Balanced is Parallelize with pieces that differ by at most one number.
func Balanced(n int) Model { return pieces(n, EvenPiece[float64]) }

func pieces(n int, piece func(list []float64, i, n int) []float64) Model {
	return func(list []float64, f Item) uint64 {
		return Sum(n, func(i int) uint64 { return Sequential(piece(list, i, n), f) })
	}
}

// Piece returns the i-th of n pieces, all of them len/n long; the last one has the remainder too.
func Piece[T any](list []T, i, n int) []T {
	size := len(list) / n
	if i == n-1 {
		return list[i*size:]
	}
	return list[i*size : (i+1)*size]
}

// EvenPiece returns the i-th of n pieces that differ by at most one in length.
func EvenPiece[T any](list []T, i, n int) []T { return list[i*len(list)/n : (i+1)*len(list)/n] }

// Pool returns a model of workers that read a channel of 100 boxed numbers. A feeder fills it from a source of boxed
// numbers with a channel of 1,000, as in the article.
func Pool(workers int) Model {
	return func(list []float64, f Item) uint64 {
		work := stage(source(list, func(n float64) any { return n }, 1000), func(box any) any { return box }, 100)
		return Sum(workers, func(int) (sum uint64) {
			for box := range work {
				sum += f(box.(float64))
			}
			return sum
		})
	}
}

func same(n float64) float64 { return n }

func source[T, R any](list []T, f func(T) R, size int) <-chan R {
	return send(size, func(out chan<- R) {
		for _, n := range list {
			out <- f(n)
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
		Together(len(in), func(i int) {
			for v := range in[i] {
				out <- v
			}
		})
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

// Together calls f on n goroutines, and returns when all calls have.
func Together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// Sum returns the sum of what n goroutines return.
func Sum(n int, part func(i int) uint64) uint64 {
	var sum atomic.Uint64
	Together(n, func(i int) { sum.Add(part(i)) })
	return sum.Load()
}
