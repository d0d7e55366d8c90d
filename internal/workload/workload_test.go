package workload

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/internal/race"
)

// run runs the tasks of a workload with n workers in a bubble.
func (w *Workload) run(t *testing.T, n int) *Live {
	var l *Live
	synctest.Test(t, func(*testing.T) {
		l = NewLive(w, 1)
		until := time.Now().Add(time.Duration(w.Until * float64(time.Millisecond)))
		var begun atomic.Int64
		more := func() bool {
			return w.Total > 0 && int(begun.Add(1)) <= w.Total || w.Total == 0 && time.Now().Before(until)
		}
		var workers sync.WaitGroup
		work := func() {
			for more() {
				l.Task(context.Background())
			}
		}
		for range n {
			workers.Go(work)
		}
		workers.Wait()
		l.Stop()
	})
	return l
}

// TestBest has a limit that is large enough, and stays, on each workload whose best
// throughput is known: the simulation and the live tasks reach that. A quarter of the best
// limit is not enough.
func TestBest(t *testing.T) {
	for i, tr := range Trials() {
		if tr.Best == 0 || tr.Steps != nil || tr.Reject > 0 || race.Enabled && i%12 != 4 {
			continue
		}
		n := int(min(256, math.Ceil(1.3*tr.Knee)))
		for what, m := range map[string]*Meter{"simulated": Simulate(&tr.Workload, Fixed(n), 1), "live": &tr.run(t, n).Meter} {
			if x := m.Throughput() / tr.Best; math.Abs(x-1) > 0.06 || m.Peak > n {
				t.Errorf("%s, %s: %.3f of the best throughput with %d, %d at once", tr.Name, what, x, n, m.Peak)
			}
		}
		if tr.Knee >= 4 {
			if x := Simulate(&tr.Workload, Fixed(tr.Knee/4), 1).Throughput() / tr.Best; x > 0.75 {
				t.Errorf("%s: %.3f of the best throughput with a quarter of the best limit", tr.Name, x)
			}
		}
	}
}

// TestLiveIsTheSimulation compares the two where the order in which tasks start makes no
// difference: batches, and a server that rejects.
func TestLiveIsTheSimulation(t *testing.T) {
	for _, tr := range Trials() {
		for _, n := range []int{2, 5, 20, 24} {
			if tr.Total == 0 && tr.Reject == 0 || tr.Procs > 2 {
				continue
			}
			live, simulated := &tr.run(t, n).Meter, Simulate(&tr.Workload, Fixed(n), 1)
			if tr.Total > 0 && math.Abs(live.Now/simulated.Now-1) > 0.03 {
				t.Errorf("%s at %d: %.3f ms live, %.3f simulated", tr.Name, n, live.Now, simulated.Now)
			}
			if tr.Reject > 0 && (math.Abs(live.Throughput()/simulated.Throughput()-1) > 0.05 || (live.Failed > 0) != (n > 20)) {
				t.Errorf("%s at %d: %.3f live, %.3f simulated, %d failed", tr.Name, n, live.Throughput(), simulated.Throughput(), live.Failed)
			}
		}
	}
}
