package hops

import (
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/trial"
)

func TestRun(t *testing.T) {
	trial.Run(t, run, sizes{divisor: 1000}, trial.Want{Processors: 2, Cases: 9, Verdicts: 18})
}

// A lost or duplicated record is detected.
func TestWrongSums(t *testing.T) {
	w := newWork(100)
	for name, last := range map[string]uint64{"lost": 0, "taken twice": w.in[98].key} {
		m := w.model(result.Peer.Model("wrong", ""), 0, func() uint64 { return w.sum - w.in[99].key + last })
		if err := m.Run(&measure.Meter{N: 200}); err == nil {
			t.Errorf("%s: not found", name)
		}
	}
	way := pipeline{run: func(iter.Seq[record], int, folder) uint64 { return 0 }}
	if err := (pace{atOnce: 1}).measure(&measure.Meter{N: 3}, way); err == nil {
		t.Error("without records: no error")
	}
}

// All models give the same result for any number of hops, records and processors.
func TestModels(t *testing.T) {
	for _, n := range []int{1, batchSize - 1, batchSize, 5000} {
		w := newWork(n)
		for hops := 1; hops <= 4; hops++ {
			for _, p := range append(prompt, batches) {
				if got, want := p.run(w.added(), hops, fold), w.sum+uint64(n); got != want {
					t.Errorf("%d records, %d hops: %s: got %d, want %d", n, hops, p.Name, got, want)
				}
			}
		}
		for procs := 1; procs <= 3; procs++ {
			for _, m := range w.mapped(procs, add) {
				if err := m.Run(&measure.Meter{N: n}); err != nil {
					t.Errorf("%d records, %d processors: %s: %v", n, procs, m.Name, err)
				}
			}
		}
	}
}

// A source yields bursts of records with the times of their start.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		p := pace{atOnce: 3, gap: time.Millisecond}
		var at []time.Duration
		for r := range p.source(7, began) {
			if got := time.Since(began); time.Duration(r.at) != got {
				t.Errorf("record %d says %v, want %v", len(at), time.Duration(r.at), got)
			}
			at = append(at, time.Since(began)/time.Millisecond)
		}
		if want := []time.Duration{1, 1, 1, 2, 2, 2, 3}; !slices.Equal(at, want) {
			t.Errorf("records after %v ms, want %v", at, want)
		}
	})
}

// Without delays of ours, latencies are those of the pipeline.
func TestQuantiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		way := pipeline{run: func(source iter.Seq[record], _ int, fold folder) (sum uint64) {
			delay := time.Duration(0)
			for r := range source {
				delay += time.Millisecond
				time.Sleep(delay)
				sum = fold(sum, r)
			}
			return sum
		}}
		m := &measure.Meter{N: 100}
		if err := (pace{atOnce: 1}).measure(m, way); err != nil {
			t.Fatal(err)
		}
		if got := m.Sample(); got[measure.P50] != 50e6 || got[measure.P99] != 99e6 {
			t.Errorf("of delays of 1 to 100 ms: got %v", got)
		}
	})
}
