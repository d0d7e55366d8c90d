package limit

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"
)

func TestAwaitMemory(t *testing.T) {
	errBoom := errors.New("boom")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errBoom)
	silent := func(int64) { t.Error("it says something") }
	for _, spare := range []int64{0, 1} {
		l := New(Fixed(2), spare, nil, nil)
		if err := l.AwaitMemory(t.Context(), silent); err != nil {
			t.Errorf("spare %d: %v", spare, err)
		}
		if err := l.AwaitMemory(ended, silent); err != errBoom {
			t.Errorf("spare %d: %v after the end of the context", spare, err)
		}
		l.Close()
	}
}

// TestAwaitMemoryWaits has jobs that wait for more memory than there is.
func TestAwaitMemoryWaits(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not say how much memory is available")
	}
	errBoom := errors.New("boom")
	l := New(Fixed(2), math.MaxInt64, nil, nil)
	defer l.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	said := 0
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			err := l.AwaitMemory(ctx, func(available int64) {
				if said++; available <= 0 {
					t.Errorf("%d bytes are available", available)
				}
				cancel(errBoom)
			})
			if err != errBoom {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if said != 1 {
		t.Errorf("it said so %d times", said)
	}
}
