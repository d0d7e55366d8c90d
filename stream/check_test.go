package stream_test

import (
	"errors"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
)

var (
	errBoom = errors.New("boom")
	errGone = errors.New("gone")
)

// sinceBubble is the time of a bubble, which begins with the year 2000.
func sinceBubble() time.Duration {
	return time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
}

// took fails the test if anything but want has passed since start, in the time
// of a bubble.
func took(t *testing.T, start time.Time, want time.Duration) {
	t.Helper()
	if got := time.Since(start); got != want {
		t.Errorf("took %v, want %v", got, want)
	}
}

// about fails the test if got is less than want, or some lingers more.
func about(t *testing.T, got, want time.Duration) {
	t.Helper()
	if got < want || got > want+50*linger {
		t.Errorf("took %v, want %v and a few ms", got, want)
	}
}

// equal fails the test if got is not want.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// same fails the test if got has other records than want, or in another order.
func same[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	t.Errorf("%s: %d records, want %d; they differ from record %d on: %v, want %v", what, len(got), len(want), i, head(got[i:]), head(want[i:]))
}

// head returns the first records.
func head[T any](s []T) []T { return s[:min(len(s), 5)] }

// sorted returns a sorted copy.
func sorted(s []int) []int { return slices.Sorted(slices.Values(s)) }

// count yields 0 to n-1.
func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// indexes returns 0 to n-1.
func indexes(n int) []int { return slices.Collect(count(n)) }

// recovered calls f and returns what it panicked with.
func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// usage is the limit, and how many places are taken and are waited for.
func usage(l *stint.Limiter) [3]int {
	s := l.Stats()
	return [3]int{s.Limit, s.Running, s.Waiting}
}

// noneLeft fails the test if the library has a goroutine.
func noneLeft(t *testing.T) {
	t.Helper()
	synctest.Wait()
	goroutine.NoneLeft(t)
}

// bubble runs a test in a bubble. No goroutine of the library may be left at its
// end.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			test(t)
			noneLeft(t)
		})
	})
}
