package stream_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// Beside a ParMap of low priority a task waits no longer than one call of it.
func TestLowPriority(t *testing.T) {
	for name, open := range map[string]func() (stint.Option, func()){
		"Limiter": func() (stint.Option, func()) { return stint.Limit(8), func() {} },
		"Pool":    func() (stint.Option, func()) { p := stint.NewPool(stint.Limit(8)); return p, p.Close },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shared, shut := open()
				defer shut()
				const call = 10 * time.Millisecond
				ended := make(chan error)
				go func() {
					s := stream.ParMap(stream.From(make([]int, 2000)), func(_ context.Context, i int) (int, error) {
						time.Sleep(call)
						return i, nil
					}, shared, stint.LowPriority())
					_, err := stream.Collect(t.Context(), s)
					ended <- err
				}()
				for i := range 100 {
					time.Sleep(time.Duration(i) * 77 * time.Microsecond)
					came := time.Now()
					if err := stint.Range(t.Context(), 1, func(context.Context, int) error {
						if waited := time.Since(came); waited > call {
							t.Errorf("a task waits for %v, want at most %v", waited, call)
						}
						return nil
					}, shared); err != nil {
						t.Error(err)
					}
				}
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}
