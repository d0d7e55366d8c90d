package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
)

// TestDenialOfBefore wants that what was not permitted to a call is not said to a later
// one, which the server does not answer at first.
func TestDenialOfBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &Engine{life: t.Context()}
		e.denied.Store(&denial{nats.ErrPermissionViolation, time.Now()})
		time.Sleep(time.Second)
		n := 0
		late := func(context.Context) error {
			if n++; n < 3 {
				return nats.ErrTimeout
			}
			return nil
		}
		if err := e.ask(t.Context(), late); err != nil || n != 3 {
			t.Errorf("asked %d times, and then %v; want the answer to the third", n, err)
		}
		err := e.ask(t.Context(), func(context.Context) error {
			e.denied.Store(&denial{nats.ErrPermissionViolation, time.Now()})
			return nats.ErrTimeout
		})
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("%v; want the denial of this call", err)
		}
	})
}
