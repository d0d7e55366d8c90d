package conformance_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/testkit"
)

var (
	bg      = context.Background()
	errBoom = errors.New("boom")
	errGone = errors.New("gone")
)

// Tasks of tests: one that does nothing, one that takes d, and one that stays in a gauge for d.
func nothing(context.Context, int) error { return nil }

func sleep(d time.Duration) func(context.Context) error {
	return func(context.Context) error { time.Sleep(d); return nil }
}

func sleeps(d time.Duration) body {
	return func(context.Context, int) error { time.Sleep(d); return nil }
}

func holds(g *gauge, d time.Duration) body {
	return func(context.Context, int) error { g.Hold(d); return nil }
}

// unwanted is a task that must not run.
func unwanted(t *testing.T) body {
	return func(context.Context, int) error { t.Error("was run"); return nil }
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

// begin makes a call on a goroutine of its own. Its error is sent to the channel.
func begin(call func() error) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- call() }()
	return ended
}

// raises returns the *PanicError that f panics with. Its value must be want.
func raises(t *testing.T, want any, f func()) *stint.PanicError {
	t.Helper()
	v := recovered(f)
	p, ok := v.(*stint.PanicError)
	if !ok || p.Value != want {
		t.Fatalf("recovered %v, want a *PanicError with the value %v", v, want)
	}
	return p
}

// onlySearches skips a test of what the search decides in virtual time under the race detector,
// which sees all that the search shares in TestAutoFindsTheLimit.
func onlySearches(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector has nothing to see that is not in TestAutoFindsTheLimit")
	}
}
