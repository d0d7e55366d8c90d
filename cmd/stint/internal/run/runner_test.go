package run

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
)

// TestReportWaiting has jobs run on after a signal, for a while.
func TestReportWaiting(t *testing.T) {
	for _, test := range []struct {
		what    string
		running int
		signal  bool
		cause   error         // of the end instead of a signal
		lasts   time.Duration // after the signal
		want    string
	}{
		{"no signal", 2, false, nil, time.Hour, ""},
		{"jobs that end at once", 2, true, nil, waitInterval - 1, ""},
		{"no job", 0, true, nil, time.Hour, ""},
		{"a halted run", 2, false, errHalted, time.Hour, ""},
		{"two jobs", 2, true, nil, time.Hour, "stint: waiting for running jobs: 2; a second signal kills them\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var errs bytes.Buffer
			r := &Runner{console: console.New(&errs), counts: counts{running: test.running}}
			signalled, signal := context.WithCancel(t.Context())
			defer signal()
			ctx, cancel := context.WithCancelCause(signalled)
			defer cancel(nil)
			defer r.reportWaiting(ctx)()
			time.Sleep(time.Minute)
			if test.signal {
				signal()
			}
			if test.cause != nil {
				cancel(test.cause)
			}
			time.Sleep(test.lasts)
			r.mu.Lock()
			r.counts.running = 0
			r.mu.Unlock()
			time.Sleep(time.Hour)
			synctest.Wait()
			if errs.String() != test.want {
				t.Errorf("%s: %q, want %q", test.what, errs.String(), test.want)
			}
		})
	}
}
