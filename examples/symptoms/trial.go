package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net/http/httptest"
	"os"
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
	n          int           // tasks
	goroutines string        // file for a profile
	state      debug.Handler // of the pools and limiters of the program
	watched    bool          // it has some
	figures    []figure

	finished  atomic.Int64 // tasks
	gauges    []float64    // half way
	shown     string       // by state, half way
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

// counters are metrics that are shown as the rise over a run, and gauges those that are shown
// as they were half way.
var (
	counters = []string{"/cpu/classes/user:cpu-seconds", "/cpu/classes/idle:cpu-seconds", "/sched/latencies:seconds", "/gc/heap/allocs:bytes"}
	gauges   = []string{"/sched/goroutines:goroutines", "/sched/goroutines/runnable:goroutines", "/memory/classes/heap/objects:bytes", "/memory/classes/heap/stacks:bytes"}
)

// measure runs p and collects figures.
func (t *trial) measure(ctx context.Context, p program) error {
	runtime.GC() // brings /cpu/classes up to date
	before, start := read(counters), time.Now()
	err := p(ctx, t)
	took := time.Since(start)
	runtime.GC()
	results := t.figures
	t.figures = []figure{{"time", took.Round(time.Millisecond)}}
	for i, now := range read(counters) {
		t.result(counters[i], number(now-before[i]))
	}
	for i, then := range t.gauges {
		t.result(gauges[i], number(then))
	}
	t.figures = append(t.figures, results...)
	return errors.Join(err, t.unwritten)
}

// watch adds a pool, or nil, and a limiter to what is shown.
func (t *trial) watch(name string, pool *stint.Pool, limit *stint.Limiter) {
	if pool != nil {
		t.state.AddPool(name, pool)
	}
	t.state.AddLimiter(name, limit)
	t.watched = true
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
	if t.watched {
		w := httptest.NewRecorder()
		t.state.ServeHTTP(w, httptest.NewRequest("GET", "/debug/stint?format=text", nil))
		t.shown = w.Body.String()
	}
	if t.goroutines != "" {
		var b bytes.Buffer
		err := pprof.Lookup("goroutine").WriteTo(&b, 0)
		t.unwritten = errors.Join(err, os.WriteFile(t.goroutines, b.Bytes(), 0o666))
	}
}

// read returns metrics. Of a histogram that is the number of its values.
func read(names []string) []float64 {
	samples, out := make([]metrics.Sample, len(names)), make([]float64, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	for i, s := range samples {
		switch s.Value.Kind() {
		case metrics.KindUint64:
			out[i] = float64(s.Value.Uint64())
		case metrics.KindFloat64:
			out[i] = s.Value.Float64()
		case metrics.KindFloat64Histogram:
			for _, n := range s.Value.Float64Histogram().Counts {
				out[i] += float64(n)
			}
		}
	}
	return out
}

// number formats seconds with two decimals, and what is whole without.
func number(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
