package conformance_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/goroutine"
)

var (
	stressSeed   = flag.Uint64("stint.seed", 1, "seed of the first round of the stress tests; a failure names the one to give")
	stressRounds = flag.Int("stint.rounds", 2000, "rounds of the stress tests")
)

// TestWakeups submits one task at a time to a pool whose workers park between
// two, waits for it in three ways, and changes the limit meanwhile: a lost wake-up
// stops the test.
func TestWakeups(t *testing.T) {
	r := rand.New(rand.NewPCG(*stressSeed, 0))
	for round := range rounds(*stressRounds / 2) {
		p := stint.NewPool(stint.Limit(1+r.IntN(3)), stint.Queue(r.IntN(2)))
		ran := 0
		done := make(chan struct{}, 1)
		for range 100 {
			equal(t, "error", p.Go(func(context.Context) { ran++; done <- struct{}{} }), nil)
			switch r.IntN(4) {
			case 0:
				equal(t, "Idle", p.Idle(bg), nil)
			case 1:
				p.SetLimit(1 + r.IntN(3))
			}
			<-done
			for park := r.IntN(8) == 0; park && p.Stats().Idle == 0; {
				runtime.Gosched()
			}
		}
		p.Close()
		if st := p.Stats(); ran != 100 || st.Completed != 100 || st.Workers != 0 {
			t.Fatalf("-stint.seed=%d: round %d: %d ran: %+v", *stressSeed, round, ran, st)
		}
	}
	goroutine.NoneLeft(t)
}
