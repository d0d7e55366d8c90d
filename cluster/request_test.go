package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
)

// TestDenialOfBefore wants that a denial of an earlier call is not the error of a later call
// that the server answers late.
func TestDenialOfBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Client{life: t.Context()}
		c.denied.Store(&denial{nats.ErrPermissionViolation, time.Now()})
		time.Sleep(time.Second)
		n := 0
		late := func(context.Context) error {
			if n++; n < 3 {
				return nats.ErrTimeout
			}
			return nil
		}
		if err := c.request(t.Context(), late); err != nil || n != 3 {
			t.Errorf("asked %d times, and then %v; want the answer to the third", n, err)
		}
		err := c.request(t.Context(), func(context.Context) error {
			c.denied.Store(&denial{nats.ErrPermissionViolation, time.Now()})
			return nats.ErrTimeout
		})
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("%v; want the denial of this call", err)
		}
	})
}
