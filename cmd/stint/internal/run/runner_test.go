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
		halting bool
		lasts   time.Duration // after the signal
		want    string
	}{
		{"no signal", 2, false, false, time.Hour, ""},
		{"jobs that end at once", 2, true, false, waitInterval - 1, ""},
		{"no job", 0, true, false, time.Hour, ""},
		{"a halted run, whose jobs are killed", 2, true, true, time.Hour, ""},
		{"two jobs", 2, true, false, time.Hour, "stint: waiting for running jobs: 2; a second signal kills them\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var errs bytes.Buffer
			r := &Runner{console: console.New(&errs), counts: counts{running: test.running, halting: test.halting}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stop := r.reportWaiting(ctx)
			time.Sleep(time.Minute)
			if test.signal {
				cancel()
			}
			time.Sleep(test.lasts)
			stop()
			if errs.String() != test.want {
				t.Errorf("%s: %q, want %q", test.what, errs.String(), test.want)
			}
		})
	}
}
