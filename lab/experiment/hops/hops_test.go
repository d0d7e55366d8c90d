package hops

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{divisor: 1000}, trial.Want{Processors: 2, Cases: 43, Verdicts: 45})
}

// A lost or duplicated record is detected.
func TestWrongSums(t *testing.T) {
	f := keys(100)
	for name, last := range map[string]uint64{"lost": 0, "taken twice": f.in[98]} {
		m := f.model(result.Peer.Model("wrong", ""), f.want, func(in []uint64) uint64 { return f.want - in[99] + last })
		if err := m.Run(&measure.Meter{N: 200}); err == nil || err.Error() != "2 of 2 runs over 100 records gave another sum" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// All models give the same result for any number of hops and any limit.
func TestCrossings(t *testing.T) {
	f := structs(sizes{divisor: 100})
	for hops := 1; hops <= 4; hops++ {
		for _, m := range append(perRecord(f, hops), batches(f, hops)) {
			if err := m.Run(&measure.Meter{N: len(f.in)}); err != nil {
				t.Errorf("%d hops: %s: %v", hops, m.Name, err)
			}
		}
	}
	k := keys(1000)
	twice := bodyOf(func(key uint64) uint64 { return 2 * key })
	for limit := 1; limit <= 3; limit++ {
		for _, m := range twice.models(k, 2*k.want, limit, slices.Concat([]mapper{sequential, static, counterWorkers}, streams, libraries)...) {
			if err := m.Run(&measure.Meter{N: len(k.in)}); err != nil {
				t.Errorf("limit %d: %s: %v", limit, m.Name, err)
			}
		}
	}
}

// A source yields bursts of records with the times of their start.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := arrivals{atOnce: 3, gap: time.Millisecond}
		var at []time.Duration
		for r := range p.source(7, began) {
			if got := time.Since(began); time.Duration(r.a) != got {
				t.Errorf("record %d says %v, want %v", len(at), time.Duration(r.a), got)
			}
			at = append(at, time.Since(began)/time.Millisecond)
		}
		if want := []time.Duration{1, 1, 1, 2, 2, 2, 3}; !slices.Equal(at, want) {
			t.Errorf("records after %v ms, want %v", at, want)
		}
	})
}

func TestQuantile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(i + 1)
	}
	for part, want := range map[float64]float64{0: 1, 0.5: 50, 0.985: 99, 0.99: 99, 1: 100} {
		if got := quantile(hundred, part); got != want {
			t.Errorf("%v of 1 to 100: got %v, want %v", part, got, want)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("of nothing: got %v", got)
	}
}

// A stream that leaves goroutines behind is detected: more of them than tests before this one may
// have left, which end meanwhile.
func TestLeft(t *testing.T) {
	stop := make(chan struct{})
	var left sync.WaitGroup
	defer left.Wait()
	defer close(stop)
	err := measureTake(&measure.Meter{N: 1}, 10, func(int) uint64 {
		for range 1000 {
			left.Go(func() { <-stop })
		}
		return 45
	})
	if err == nil {
		t.Error("goroutines that are left were not found")
	}
}
