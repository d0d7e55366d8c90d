package loop

import (
	"context"
	"fmt"
	"sync"
	"testing"
)

// empty is a job of calls that do nothing.
type empty struct{ testJob }

func (*empty) Calls(ctx context.Context, s *Batch) error {
	for i, ok := s.At, true; ok; ok = s.Begin(i) {
		i++
	}
	return nil
}

// What a loop costs beside its items and its context. A goroutine and the wait
// for its end is the floor for two items and more.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1, 2, 10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			j := new(empty)
			for b.Loop() {
				l := &Loop{N: n, Context: context.Background(), Body: j, Limit: 2, Procs: 2}
				l.Run()
			}
		})
	}
	b.Run("goroutine", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l := new(struct {
				wg sync.WaitGroup
				_  [400]byte
			})
			l.wg.Add(1)
			go func() { l.wg.Done() }()
			l.wg.Wait()
		}
	})
}
