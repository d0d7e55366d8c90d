package stream_test

import (
	"context"
	"testing"

	"github.com/stint-go/stint/stream"
)

// BenchmarkShort measures a run of one record. The package comment has the results.
func BenchmarkShort(b *testing.B) {
	one := stream.From([]int{1})
	for name, s := range map[string]stream.Stream[int]{
		"From":   one,
		"Buffer": stream.Buffer(one, 1000),
		"ParMap": stream.ParMap(one, func(_ context.Context, v int) (int, error) { return v, nil }),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				stream.Collect(context.Background(), s)
			}
		})
	}
}
