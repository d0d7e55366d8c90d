package stream_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/goroutine"
	"github.com/stint-go/stint/stream"
)

// A test body runs in a bubble, outside and in another bubble: no timer, channel or goroutine
// of one is used in the next. Fails: conc/stream, whose pooled channels crash in the second
// bubble.
func TestBubblesDoNotMix(t *testing.T) {
	outside := func(t *testing.T, f func(t *testing.T)) {
		f(t)
		goroutine.NoneLeft(t)
	}
	inside := func(t *testing.T, f func(t *testing.T)) {
		synctest.Test(t, func(t *testing.T) { f(t); noneLeft(t) })
	}
	for _, st := range stages {
		t.Run(st.name, func(t *testing.T) {
			for _, run := range []func(*testing.T, func(*testing.T)){inside, outside, inside, inside, outside, outside, inside} {
				run(t, func(t *testing.T) { everything(t, st) })
			}
		})
	}
}

// everything ends a stream in every way.
func everything(t *testing.T, st stage) {
	ctx := context.Background()
	s := st.add(stream.FromSeq(count(700)))
	gives(t, s, nil, indexes(700))
	out, _ := all(ctx, s, func(n int) bool { runtime.Gosched(); return n == 300 })
	same(t, "break", out, indexes(300))
	equal(t, "Each", stream.Each(ctx, s, func(int) error { return errBoom }), errBoom)
	raised(t, func() { stream.Each(ctx, s, func(int) error { panic("boom") }) })
	cancelled, cancel := context.WithCancelCause(ctx)
	equal(t, "cancel", stream.Each(cancelled, s, func(int) error { cancel(errGone); return nil }), errGone)
	gives(t, st.add(stream.MapErr(s, failAt(20))), errBoom, indexes(20))
	// A chunk waits for the ticker.
	slow := stream.Map(s, func(v int) int {
		if v < 3 {
			time.Sleep(2 * time.Millisecond)
		}
		return v
	})
	gives(t, stream.Take(st.add(slow), 10), nil, indexes(10))
	gives(t, flat(stream.Chunk(st.add(slow), 100, time.Millisecond)), nil, indexes(700))
}
