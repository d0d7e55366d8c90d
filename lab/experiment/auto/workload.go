package auto

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/stint-go/stint/lab/engine"
	"github.com/stint-go/stint/lab/experiment"
	"github.com/stint-go/stint/lab/load"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
)

// A spread is the distribution of times, as its quantile function.
type spread func(q float64) float64

func alike(float64) float64         { return 1 }
func uniform(q float64) float64     { return q }
func exponential(q float64) float64 { return -math.Log(1 - q) }

// times returns n times with the given mean: the quantiles of the distribution in
// random but fixed order.
func (s spread) times(n int, mean time.Duration, seed uint64) []time.Duration {
	sum, out := 0.0, make([]time.Duration, n)
	at := func(k int) float64 { return s((float64(k) + 0.5) / float64(n)) }
	for k := range n {
		sum += at(k)
	}
	for i, k := range rand.New(rand.NewPCG(seed, 2)).Perm(n) {
		out[i] = time.Duration(at(k) / sum * float64(n) * float64(mean))
	}
	return out
}

// tasks compute and then wait, for times with the given means.
type tasks struct {
	spread        spread
	compute, wait time.Duration
	locked        bool // they compute as long again under one lock
	slots         int  // that wait concurrently, first come, first served; 0: all
	neighbour     bool // another goroutine computes meanwhile
}

// make returns n tasks.
func (t tasks) make(n int) func(i int) {
	var steps []int
	for _, d := range t.spread.times(n, t.compute, 1) {
		steps = append(steps, load.Steps(d))
	}
	waits, slots := t.spread.times(n, t.wait, 3), make(chan struct{}, max(t.slots, 1))
	var mu sync.Mutex
	return func(i int) {
		runtime.KeepAlive(load.Spin(steps[i]))
		if t.locked {
			mu.Lock()
			runtime.KeepAlive(load.Spin(steps[i]))
			mu.Unlock()
		}
		if t.slots > 0 {
			slots <- struct{}{}
			defer func() { <-slots }()
		}
		time.Sleep(waits[i])
	}
}

// A workload has a known best limit.
type workload struct {
	name   string
	tasks  tasks
	n      int   // tasks
	best   int   // the best limit
	others []int // limits
	bar    float64
	atOnce int  // bar for concurrent tasks; 0: none
	whole  bool // an op is all tasks
}

// nearBest is the conclusion about all workloads.
const nearBest = "The adaptive limit is nearly as fast as the best fixed limit, with not many more concurrent tasks."

// study compares the limits, no option, and goroutines.
func (w workload) study() experiment.Study {
	name := func(limit int) string { return fmt.Sprintf("limit-%d", limit) }
	c := experiment.Case{Name: w.name, Doc: "an op is a task", Reference: name(w.best), Ops: w.n, Count: samples}
	if w.whole {
		c.Doc, c.Ops, c.Main = fmt.Sprintf("an op is all %d tasks", w.n), 1, true
	}
	limits := append(w.others, w.best)
	slices.Sort(limits)
	for _, limit := range slices.Compact(limits) {
		m := result.Model{Name: name(limit), Kind: result.Peer, Doc: fmt.Sprintf("Range with Limit(%d)", limit), Sweep: "limit", At: float64(limit)}
		c.Models = append(c.Models, w.model(m, engine.Range(), limit))
	}
	each, adaptive := engine.GoroutineEach(), result.Ours.Model("stint.Range", "Range, without an option")
	c.Models = append(c.Models, w.model(each.Model, each, 0), w.model(adaptive, engine.Range(), 0))
	claims := []result.Claim{experiment.AtMost(w.bar, w.name, adaptive.Name, c.Reference, "")}
	if w.atOnce > 0 {
		claims = append(claims, result.Claim{Case: w.name, Model: adaptive.Name, Unit: measure.AtOnce, Form: result.Value, Bar: float64(w.atOnce)})
	}
	return experiment.One(c, experiment.Concludes("", nearBest, claims...)...)
}

// model runs the workload with a loop.
func (w workload) model(m result.Model, l engine.Loop, limit int) experiment.Model {
	return experiment.Model{Model: m, Run: func(m *measure.Meter) error {
		if w.tasks.neighbour {
			defer burn()()
		}
		var g engine.Gauge
		task, ends := w.tasks.make(w.n), make([]time.Time, w.n)
		body := engine.BodyOf(func(i int) {
			g.Enter()
			task(i)
			g.Leave()
			ends[i] = time.Now()
		})
		m.Start()
		l.Run(w.n, limit, body)
		m.Stop()
		slices.SortFunc(ends, time.Time.Compare)
		if ends[0].IsZero() {
			return errors.New("a task did not run")
		}
		if rest := ends[w.n/4:]; !w.whole {
			m.Report(measure.Time, float64(rest[len(rest)-1].Sub(rest[0]).Nanoseconds())/float64(len(rest)-1))
		}
		m.Report(measure.AtOnce, float64(g.Peak()))
		return nil
	}}
}

// burn keeps a processor busy until stop is called.
func burn() (stop func()) {
	quit := make(chan struct{})
	go func() {
		for {
			select {
			case <-quit:
				return
			default:
				runtime.KeepAlive(load.Spin(10_000))
			}
		}
	}()
	return func() { close(quit) }
}
