package local

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/console"
	"github.com/stint-go/stint/cmd/stint/internal/process"
	"github.com/stint-go/stint/cmd/stint/internal/run/output"
)

// TestAgain fails every attempt of a job, and wants the delays before the others.
func TestAgain(t *testing.T) {
	failed := func(status int) output.Result { return output.Result{Result: process.Result{Exit: status}} }
	late, refused, ended := failed(75), failed(75), failed(75)
	late.TimedOut, refused.Err, ended.Interrupted = true, errors.New("no disk"), true
	ten := []int{1, 2, 4, 8, 16, 32, 60, 60, 60, 60}
	for _, test := range []struct {
		what    string
		policy  Policy
		result  output.Result
		stopped int   // after so many attempts; 0: never
		want    []int // seconds
		says    int
	}{
		{"success", Policy{Retries: 3}, failed(0), 0, nil, 0},
		{"no retries", Policy{RetryDelay: time.Second}, failed(1), 0, nil, 0},
		{"no delay", Policy{Retries: 3}, failed(1), 0, []int{0, 0, 0}, 0},
		{"delays", Policy{Retries: 8, RetryDelay: time.Second}, failed(1), 0, ten[:8], 0},
		{"a long delay", Policy{Retries: 2, RetryDelay: 90 * time.Second}, failed(1), 0, []int{90, 90}, 0},
		{"a halted run", Policy{Retries: 3, RetryDelay: time.Second}, failed(1), 2, []int{1}, 0},
		{"overload", Policy{}, failed(75), 0, ten, 1},
		{"overload, a delay", Policy{RetryDelay: 20 * time.Second}, failed(75), 0, []int{20, 40, 60, 60, 60, 60, 60, 60, 60, 60}, 1},
		{"overload, --retries", Policy{NoOverload: true, Retries: 2}, failed(75), 0, []int{1, 2}, 0},
		{"overload, --retries 0", Policy{NoOverload: true}, failed(75), 0, nil, 0},
		{"a timeout", Policy{Retries: 1}, late, 0, []int{0}, 0},
		{"no start", Policy{Retries: 1}, refused, 0, []int{0}, 0},
		{"an end by a signal", Policy{Retries: 1}, ended, 0, nil, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			x, says := newExecutor(test.policy), 0
			j := &output.Job{}
			x.Stopped = func() bool { return j.Attempts == test.stopped }
			x.Say = func(string) { says++ }
			var got []int
			for began := time.Now(); ; began = time.Now() {
				test.result.Attempts++
				j.Result = test.result
				x.printer.Begin(j, false)
				if !x.again(t.Context(), j) {
					break
				}
				got = append(got, int(time.Since(began)/time.Second))
			}
			if !slices.Equal(got, test.want) || says != test.says {
				t.Errorf("%s: delays %v, want %v; %d messages, want %d", test.what, got, test.want, says, test.says)
			}
		})
	}
}

// newExecutor returns an Executor that runs no process.
func newExecutor(p Policy) *Executor {
	c := console.New(io.Discard)
	printer := output.New(output.Format{}, console.Streams{Stdout: io.Discard, Stderr: io.Discard}, c, func(error) {})
	return &Executor{Machine: &Machine{printer: printer, console: c}, Policy: p}
}

// TestAgainEnds ends a run in the delay: the job has no result then.
func TestAgainEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		x, j := newExecutor(Policy{Retries: 1, RetryDelay: time.Minute}), &output.Job{}
		x.Stopped, j.Attempts, j.Exit = func() bool { return false }, 1, 1
		if x.again(ctx, j) || !j.Interrupted {
			t.Errorf("another attempt, or not interrupted: %t", j.Interrupted)
		}
	})
}
