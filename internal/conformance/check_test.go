package conformance_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stint-go/stint/internal/testkit"
)

var (
	errBoom = errors.New("boom")
	errGone = errors.New("gone")
)

// sleep returns a task that takes d.
func sleep(d time.Duration) func(context.Context) error {
	return func(context.Context) error { time.Sleep(d); return nil }
}

// The helpers of all packages, under short names.
type gauge = testkit.Gauge

var (
	sinceBubble = testkit.SinceBubble
	took        = testkit.Took
	count       = testkit.Count
	indexes     = testkit.Indexes
	recovered   = testkit.Recovered
	noneLeft    = testkit.NoneLeft
)

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	testkit.Equal(t, what, got, want)
}
