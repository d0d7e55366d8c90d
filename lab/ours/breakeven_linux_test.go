package ours

import (
	"context"
	"maps"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/bench"
	"github.com/stint-go/stint/lab/models"
	"golang.org/x/sys/unix"
)

// BenchmarkBreakEven runs lists of 2 to 100,000 items, of at most 10 ms, in a plain loop and in a model, in turn. items is the shortest list from which on the
// model is 1.1 times as fast, 0 if none is; speedup is the greatest. Both are from medians over the ops, of which it takes 21:
// -benchtime=21x. Items that compute have a limit of the CPUs, others of 16. Of "stages", an item has two of half the cost.
func BenchmarkBreakEven(b *testing.B) {
	for _, cost := range []time.Duration{50, 1000, 20_000, ms} {
		whole, half := bench.Steps(cost), bench.Steps(cost/2)
		breakEven(b, "item=compute-"+cost.String(), cost, runtime.GOMAXPROCS(0),
			func(i float64) uint64 { return bench.Spin(whole + int(i)%2) }, func(i float64) uint64 { return bench.Spin(half + int(i)%2) })
	}
	for _, cost := range []time.Duration{ms / 10, ms, 10 * ms} {
		breakEven(b, "item=wait-"+cost.String(), cost, 16, timers(b, cost), timers(b, cost/2))
	}
}

func breakEven(b *testing.B, prefix string, cost time.Duration, limit int, whole, half models.Item) {
	all := []models.Named{{Name: "stint.Range-limit", Model: models.ByIndex(func(n int, f func(i int)) {
		bench.Check(stint.Range(context.Background(), n, func(_ context.Context, i int) error { f(i); return nil }, stint.Limit(limit)))
	})}, {Name: "stint.Group", Model: models.ByIndex(func(n int, f func(i int)) {
		g := stint.NewGroup(context.Background(), stint.Limit(limit))
		for i := range n {
			g.Go(func(context.Context) error { f(i); return nil })
		}
		bench.Check(g.Wait())
	})}}
	for _, m := range models.Computing(limit) {
		switch m.Name {
		case "par.Reduce", "stint.Range", "goroutines", "errgroup":
			all = append(all, m)
		}
	}
	models.Each(b, prefix+"/model=", bench.Order(all), func(b *testing.B, m models.Model) { search(b, cost, whole, models.Sequential, m) })
	stages := models.Stages(func(i float64) float64 { half(i); return i })
	models.Each(b, prefix+"/stages=", stages[1:], func(b *testing.B, m models.Model) { search(b, cost, half, stages[0].Model, m) })
}

func search(b *testing.B, cost time.Duration, f models.Item, loop, model models.Model) {
	ratios := map[int][]float64{} // by the number of items
	bench.Run(b, true, func() bool {
		same := true
		for _, n := range []int{2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 3000, 5000, 10_000, 20_000, 50_000, 100_000} {
			if n <= 5 || time.Duration(n)*cost <= 10*ms {
				list, began := models.Indexes(n), time.Now()
				want, middle := loop(list, f), time.Now()
				same = model(list, f) == want && same
				ratios[n] = append(ratios[n], float64(middle.Sub(began))/float64(time.Since(middle)))
			}
		}
		return same
	}, func(b *testing.B) {
		items, speedup := 0, 0.0
		for _, n := range slices.Sorted(maps.Keys(ratios)) {
			slices.Sort(ratios[n])
			median := ratios[n][len(ratios[n])/2]
			if speedup = max(speedup, median); median < 1.1 {
				items = 0
			} else if items == 0 {
				items = n
			}
		}
		b.ReportMetric(float64(items), "items")
		b.ReportMetric(speedup, "speedup")
	})
}

// timers returns an item that waits for a timer of the kernel. A time.Sleep of less than a millisecond takes one.
func timers(b *testing.B, d time.Duration) models.Item {
	files, fds := make([]*os.File, 100), make([]int, 100)
	for i := range files {
		fds[i] = bench.Must(unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK))
		files[i] = os.NewFile(uintptr(fds[i]), "timer")
		b.Cleanup(func() { files[i].Close() })
	}
	return func(i float64) uint64 {
		bench.Check(unix.TimerfdSettime(fds[int(i)], 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil))
		return uint64(bench.Must(files[int(i)].Read(make([]byte, 8))))
	}
}
