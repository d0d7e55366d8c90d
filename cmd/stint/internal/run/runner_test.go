package run

import (
	"bytes"
	"context"
	"slices"
	"strings"
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
			stop := r.reportWaiting(ctx)
			time.Sleep(time.Minute)
			if test.signal {
				signal()
			}
			if test.cause != nil {
				cancel(test.cause)
			}
			time.Sleep(test.lasts)
			stop()
			if errs.String() != test.want {
				t.Errorf("%s: %q, want %q", test.what, errs.String(), test.want)
			}
		})
	}
}

// TestJobsHaveNoSecrets wants an environment of jobs, here and on a worker, without what lets
// a client in.
func TestJobsHaveNoSecrets(t *testing.T) {
	for url, want := range map[string]string{
		"nats://s3cret@h:1": "nats://h:1", "nats://ann:s3cret@h:1,tls://s3cret@i": "nats://h:1,tls://i", "ann:s3cret@h": "h", "nats://h:1": "nats://h:1",
	} {
		t.Setenv("STINT_TOKEN", "s3cret")
		t.Setenv("STINT_CLUSTER", url)
		t.Setenv("STINT_OTHER", "kept")
		env := newCommand(&Options{Command: []string{"a"}}).env
		if !slices.Contains(env, "STINT_CLUSTER="+want) || !slices.Contains(env, "STINT_OTHER=kept") || strings.Contains(strings.Join(env, "\n"), "s3cret") {
			t.Errorf("%s: %q; want no secret, and all else", url, env)
		}
	}
}
