package models

import (
	"context"
	"slices"

	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/stream"
)

// Stages returns a loop and pipelines of two stages. The second is the Item, on the caller's goroutine.
func Stages(first func(float64) float64) []Named {
	return []Named{
		{"loop", func(list []float64, second Item) uint64 {
			return Sequential(list, func(n float64) uint64 { return second(first(n)) })
		}},
		{"pipeline", func(list []float64, second Item) uint64 { return Piped(list, 1000, first, adding(second)) }},
		{"batches", func(list []float64, second Item) uint64 { return Batched(list, 1000, 4, first, adding(second)) }},
		{"stream", func(list []float64, second Item) uint64 {
			return Streamed(stream.From(list), 1000, first, adding(second))
		}},
	}
}

func add(a, b uint64) uint64 { return a + b }

// adding returns a function that adds the result of f to a sum.
func adding(f Item) func(sum uint64, n float64) uint64 {
	return func(sum uint64, n float64) uint64 { return sum + f(n) }
}

// Piped sends what first makes of each element over a channel with a buffer, and adds it up with second.
func Piped[T any](list []T, buffer int, first func(T) T, second func(uint64, T) uint64) (sum uint64) {
	for v := range source(list, first, buffer) {
		sum = second(sum, v)
	}
	return sum
}

// Batched is Piped with batches of a size. The buffer is that of their channel.
func Batched[T any](list []T, size, buffer int, first func(T) T, second func(uint64, T) uint64) (sum uint64) {
	for batch := range send(buffer, func(out chan<- []T) {
		for part := range slices.Chunk(list, size) {
			made := make([]T, len(part))
			for i, v := range part {
				made[i] = first(v)
			}
			out <- made
		}
	}) {
		for _, v := range batch {
			sum = second(sum, v)
		}
	}
	return sum
}

// Streamed is Piped with the boundary of a stream.
func Streamed[T, R any](s stream.Stream[T], buffer int, first func(T) R, second func(uint64, R) uint64) uint64 {
	return bench.Must(stream.Reduce(context.Background(), stream.Buffer(stream.Map(s, first), buffer), 0, second))
}
