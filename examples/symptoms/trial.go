package main

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http/httptest"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/debug"
)

// A trial is one run of a program.
type trial struct {
	n          int            // tasks
	state      *debug.Handler // of the program's pools and limiters; nil if it has none
	goroutines io.Writer      // for their profile; may be nil
	finished   atomic.Int64   // tasks
	figures    []figure

	// Taken half way:
	gauges    []float64
	shown     string // by state
	unwritten error
}

// A figure is something that was measured.
type figure struct {
	name  string
	value any
}

func (t *trial) result(name string, value any) {
	t.figures = append(t.figures, figure{name, value})
}

// Counters are shown as their rise in a run, gauges as they were half way.
var (
	counters = []string{"/cpu/classes/user:cpu-seconds", "/cpu/classes/idle:cpu-seconds", "/sched/latencies:seconds"}
	gauges   = []string{"/sched/goroutines:goroutines", "/sched/goroutines/runnable:goroutines", "/memory/classes/heap/objects:bytes", "/memory/classes/heap/stacks:bytes"}
)

// measure runs p and collects figures.
func (t *trial) measure(p program) error {
	runtime.GC() // brings /cpu/classes up to date
	before, start := read(counters), time.Now()
	err := p(context.Background(), t)
	t.result("time", time.Since(start).Round(time.Millisecond))
	runtime.GC()
	for i, now := range read(counters) {
		t.result(counters[i], number(now-before[i]))
	}
	for i, then := range t.gauges {
		t.result(gauges[i], number(then))
	}
	return errors.Join(err, t.unwritten)
}

// watch adds a pool, or nil, and a limiter to what is shown.
func (t *trial) watch(name string, pool *stint.Pool, limit *stint.Limiter) {
	if t.state == nil {
		t.state = new(debug.Handler)
	}
	if pool != nil {
		t.state.AddPool(name, pool)
	}
	t.state.AddLimiter(name, limit)
}

// step counts a finished task.
func (t *trial) step() {
	if t.finished.Add(1) == int64(t.n/2) {
		t.look()
	}
}

// look takes the state of the program. It is called once, half way.
func (t *trial) look() {
	t.gauges = read(gauges)
	if t.state != nil {
		w := httptest.NewRecorder()
		t.state.ServeHTTP(w, httptest.NewRequest("GET", "/debug/stint?format=text", nil))
		t.shown = w.Body.String()
	}
	if t.goroutines != nil {
		t.unwritten = pprof.Lookup("goroutine").WriteTo(t.goroutines, 0)
	}
}

// read returns metrics. Of a histogram that is the number of its values.
func read(names []string) []float64 {
	samples, values := make([]metrics.Sample, len(names)), make([]float64, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	for i, s := range samples {
		switch s.Value.Kind() {
		case metrics.KindUint64:
			values[i] = float64(s.Value.Uint64())
		case metrics.KindFloat64:
			values[i] = s.Value.Float64()
		case metrics.KindFloat64Histogram:
			for _, n := range s.Value.Float64Histogram().Counts {
				values[i] += float64(n)
			}
		}
	}
	return values
}

// number formats v with at most two decimals.
func number(v float64) string { return strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64) }
