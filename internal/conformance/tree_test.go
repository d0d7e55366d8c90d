package conformance_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A tree of calls without a limit has one search: never more tasks run than it allows, and it
// finds the limit.
func TestTreeOfSleepers(t *testing.T) {
	const outer, inner, most, nap = 300, 300, 256, 10 * time.Millisecond
	for _, p := range searching() {
		for _, q := range searching() {
			t.Run(p.name+"/"+q.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var g gauge
					start := time.Now()
					err := p.run(context.Background(), outer, func(ctx context.Context, _ int) error {
						return q.run(ctx, inner, func(context.Context, int) error { g.Hold(nap); return nil })
					})
					ideal := outer * inner * nap / most
					now, reached, total := g.Read()
					if err != nil || now != 0 || total != outer*inner || reached > most {
						t.Errorf("%v, %d are left, %d ran at once, %d in total", err, now, reached, total)
					}
					took := time.Since(start)
					t.Logf("%d at once, %.2f of the ideal", reached, took.Seconds()/ideal.Seconds())
					if took > ideal*13/10 {
						t.Errorf("took %v, the ideal is %v", took, ideal)
					}
				})
			})
		}
	}
}
