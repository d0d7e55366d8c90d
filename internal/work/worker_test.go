package work

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// The five outcomes are told apart, and none costs a worker or its permit.
func TestOutcomes(t *testing.T) {
	bubble(t, 1, func(t *testing.T, e *Engine) {
		s, r := source(e, 100)
		boom := errors.New("boom")
		ran := 0
		for range 3 {
			s.Offer(func(context.Context) error { return boom }, nil)
			s.Offer(does(func() { panic("x") }), nil)
			s.Offer(does(runtime.Goexit), nil)
			s.Offer(does(func() { defer runtime.Goexit(); panic("overtaken") }), nil)
			s.Offer(does(func() { ran++ }), nil)
		}
		s.Wait()
		var errs, panics, exits int
		for _, o := range r.failed {
			switch {
			case o.Err == boom && o.Panic == nil && !o.Goexit:
				errs++
			case o.Panic != nil && o.Panic.Value == "x" && o.Err == nil && !o.Goexit:
				panics++
			case o.Goexit && o.Err == nil && o.Panic == nil:
				exits++
			}
		}
		if errs != 3 || panics != 3 || exits != 6 || ran != 3 || len(r.failed) != 12 {
			t.Errorf("%d errors, %d panics, %d exits, %d ran, %d in all", errs, panics, exits, ran, len(r.failed))
		}
		if c := e.Counts(); c.Completed != 15 || c.Workers != 1 {
			t.Errorf("%+v", c)
		}
	})
}

// Workers that have nothing to do end after the expiry, each by its own clock,
// and the next task starts a new one.
func TestWorkersExpire(t *testing.T) {
	bubble(t, 4, func(t *testing.T, e *Engine) {
		s, _ := source(e, 100)
		for i := range 4 {
			s.Offer(does(func() { time.Sleep(time.Duration(i+1) * 300 * time.Millisecond) }), nil)
		}
		for i, want := range []int{4, 4, 4, 4, 4, 3, 2, 1, 0} { // at 0, 0.3, .. s: they park at 0.3, 0.6, 0.9 and 1.2
			synctest.Wait()
			if c := e.Counts(); c.Workers != want {
				t.Errorf("%d ms: %d workers, want %d", i*300, c.Workers, want)
			}
			time.Sleep(300 * time.Millisecond)
		}
		s.Offer(nothing, nil)
		synctest.Wait()
		if c := e.Counts(); c.Workers != 1 || c.Idle != 1 || c.Completed != 5 {
			t.Errorf("%+v", c)
		}
	})
}
