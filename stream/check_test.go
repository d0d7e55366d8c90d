package stream_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/testkit"
)

var (
	errBoom = errors.New("boom")
	errGone = errors.New("gone")
)

// about fails the test if got is less than want, or 50 ms more.
func about(t *testing.T, got, want time.Duration) {
	t.Helper()
	if got < want || got > want+50*linger {
		t.Errorf("took %v, want %v and a few ms", got, want)
	}
}

// same fails the test unless got has the records of want, in order.
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

// naturals yields 0, 1, 2 and so on.
func naturals(yield func(int) bool) {
	for i := 0; yield(i); i++ {
	}
}

// filled returns a channel that has 0 to n-1.
func filled(n int) chan int {
	c := make(chan int, n)
	for i := range n {
		c <- i
	}
	return c
}

// usage is the limit of l, its permits in use, and how many goroutines wait for one.
func usage(l *stint.Limiter) [3]int {
	s := l.Stats()
	return [3]int{s.Limit, s.Running, s.Waiting}
}

// over runs a test in a bubble for each of the stages.
func over(t *testing.T, stages []stage, name string, test func(t *testing.T, b stage)) {
	for _, b := range stages {
		bubble(t, name+"/"+b.name, func(t *testing.T) { test(t, b) })
	}
}

// The helpers of all packages, under short names.
type gauge = testkit.Gauge

var (
	bubble      = testkit.Bubble
	sinceBubble = testkit.SinceBubble
	took        = testkit.Took
	count       = testkit.Count
	indexes     = testkit.Indexes
	recovered   = testkit.Recovered
	leaving     = testkit.Leaving
	noneLeft    = testkit.NoneLeft
)

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	testkit.Equal(t, what, got, want)
}
