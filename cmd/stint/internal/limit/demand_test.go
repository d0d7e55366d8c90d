package limit

import (
	"math"
	"testing"
	"time"

	"github.com/stint-go/stint/cmd/stint/internal/process"
)

const ms = time.Millisecond

// near reports whether two sums are the same but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// demandCases have what jobs wanted in 10 s, and which part of the CPUs they have used since the
// last look and before.
var demandCases = []struct {
	name       string
	cpus       float64
	want       float64 // of 10 s
	used, long float64
	now, limit int
	reason     string
}{
	{"compute", 2, 10, 1, 1, 2, 2, ""},
	{"compute, with starts between", 2, 9.6, 0.94, 0.94, 2, 2, ""},
	{"compute, many CPUs", 64, 10, 1, 1, 64, 64, ""},
	{"compute, a bit idle", 64, 9.8, 0.9, 0.89, 64, 66, "a job wants a CPU 98 % of its time"},
	{"several threads", 8, 35, 1, 1, 8, 8, ""},
	{"several threads, too many jobs", 8, 35, 1, 1, 30, 8, "a job wants a CPU 350 % of its time"},
	{"sleep", 2, 0.04, 0, 0, 2, 8, "a job wants a CPU 0.4 % of its time"},
	{"sleep, higher", 2, 0.04, 0.01, 0.01, 64, 256, "a job wants a CPU 0.4 % of its time"},
	{"sleep, highest", 2, 0.04, 0.1, 0.1, 256, 853, "a job wants a CPU 0.4 % of its time"},
	{"nothing used", 2, 0, 0, 0, 3, 12, "a job wants a CPU 0.01 % of its time"},
	{"half", 2, 5, 0.6, 0.6, 2, 6, "a job wants a CPU 50 % of its time"},
	{"half, enough", 2, 5, 0.8, 0.8, 6, 6, ""},
	{"half, nearly enough", 2, 5, 0.91, 0.91, 5, 6, "a job wants a CPU 50 % of its time"},
	{"half, busy", 2, 5, 0.95, 0.9, 4, 4, "the CPUs are busy"},
	{"half, busy before", 2, 5, 0.7, 0.99, 4, 6, "a job wants a CPU 50 % of its time"},
	{"half, a few too many", 2, 5, 1, 1, 7, 7, ""},
	{"half, too many", 2, 5, 1, 1, 9, 6, "a job wants a CPU 50 % of its time"},
	{"half, too many, but idle", 2, 5, 0.8, 0.8, 8, 8, ""},
	{"half, far too many, though idle", 2, 5, 0.8, 0.8, 13, 6, "a job wants a CPU 50 % of its time"},
	{"half, 64 CPUs", 64, 5, 0.5, 0.5, 64, 139, "a job wants a CPU 50 % of its time"},
	{"falls to the CPUs", 8, 10, 1, 1, 256, 8, "a job wants a CPU 100 % of its time"},
	{"one CPU", 1, 5, 0.5, 0.5, 1, 3, "a job wants a CPU 50 % of its time"},
}

func TestDemandLimit(t *testing.T) {
	const elapsed = 100 * ms
	for _, c := range demandCases {
		d := demand{cpus: c.cpus, want: c.want, wall: 10, used: c.used * c.cpus * elapsed.Seconds()}
		d.had = 1000 * c.cpus
		d.worked = c.long * d.had
		if got, reason := d.limit(c.now, c.cpus, elapsed); got != c.limit || reason != c.reason {
			t.Errorf("%s: %d, %q, want %d, %q", c.name, got, reason, c.limit, c.reason)
		}
	}
}

// TestDemandFades looks for ever longer at jobs that have ended, and then at others.
func TestDemandFades(t *testing.T) {
	for _, life := range []float64{0, 0.001, 0.1, 3, 1000} {
		d := demand{cpus: 2, life: life}
		d.want, d.wall = 50, 100
		for range 100000 {
			n, reason := d.limit(6, 2, 100*ms)
			if n != 6 || math.IsNaN(d.worked) {
				t.Fatalf("life %v: %d, %q with %+v", life, n, reason, d)
			}
		}
		d.want, d.wall, d.used, d.worked = d.want+10, d.wall+10, 0.2, d.had
		if n, reason := d.limit(6, 2, 100*ms); n != 2 {
			t.Errorf("life %v: %d, %q with %+v", life, n, reason, d)
		}
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{
		0: "0 %", 0.0001: "0.01 %", 0.00123: "0.1 %", 0.004: "0.4 %", 0.0096: "1 %", 0.01: "1 %", 0.21: "21 %", 0.999: "100 %", 1: "100 %", 1.1: "110 %", 12.34: "1234 %",
	} {
		if got := percent(share); got != want {
			t.Errorf("%v: %q, want %q", share, got, want)
		}
	}
}

func TestWanted(t *testing.T) {
	for _, c := range []struct {
		name                     string
		wall, used, waited, want float64
	}{
		{"computes", 1, 1, 0, 1},
		{"sleeps", 1, 0, 0, 0},
		{"half", 1, 0.5, 0, 0.5},
		{"computes on half a CPU", 1, 0.5, 0.5, 1},
		{"half, on half a CPU", 1.5, 0.5, 0.5, 0.75},
		{"has none", 1, 0, 1, 1},
		{"several threads", 1, 2, 2, 2},
		{"several threads that have little to do", 1, 0.1, 1.5, 1},
		{"more than the time, by another clock", 1, 1.1, 0.1, 1.2},
	} {
		if got := wanted(c.wall, c.used, c.waited); !near(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A step of a job is a sample, or its end.
type step struct {
	at, cpu, wait time.Duration // since the start
	end, ready    bool
}

var accountCases = []struct {
	name             string
	steps            []step
	want, wall, used float64
}{
	{"ended before a sample", []step{{80 * ms, 20 * ms, 0, true, false}}, 0.02, 0.08, 0.02},
	{"too early", []step{{4 * ms, 4 * ms, 0, false, false}}, 0, 0, 0},
	{"too early twice", []step{{4 * ms, 4 * ms, 0, false, false}, {100 * ms, 100 * ms, 0, false, false}, {104 * ms, 104 * ms, 0, false, false}}, 0.1, 0.1, 0.1},
	{"start of a sleeper", []step{{10 * ms, 2 * ms, ms, false, false}}, 0, 0.01, 0.002},
	{"start of a sleeper that goes on", []step{{10 * ms, 2 * ms, ms, false, false}, {100 * ms, 2 * ms, ms, false, false}}, 0.002 / 0.99, 0.1, 0.002},
	{"start of a sleeper that ends", []step{{10 * ms, 2 * ms, ms, false, false}, {100 * ms, 3 * ms, 0, true, false}}, 0.003 / 0.99, 0.1, 0.003},
	{"computes", []step{{10 * ms, 10 * ms, 0, false, false}, {20 * ms, 20 * ms, 0, false, false}, {50 * ms, 50 * ms, 0, true, false}}, 0.05, 0.05, 0.05},
	{"waits for a CPU", []step{{10 * ms, 5 * ms, 5 * ms, false, false}, {20 * ms, 10 * ms, 10 * ms, false, false}}, 0.02, 0.02, 0.01},
	{"waits for a CPU to the end", []step{{10 * ms, 5 * ms, 5 * ms, false, false}, {30 * ms, 15 * ms, 0, true, false}}, 0.03, 0.03, 0.015},
	{"waits, and has had none", []step{{10 * ms, 0, 0, false, true}, {20 * ms, 2 * ms, 0, false, true}}, 0, 0, 0},
	{"waits, and gets one later", []step{{10 * ms, 2 * ms, 0, false, true}, {100 * ms, 20 * ms, 80 * ms, false, true}}, 0.1, 0.1, 0.02},
	{"computes, then sleeps", []step{{10 * ms, 5 * ms, 5 * ms, false, false}, {70 * ms, 50 * ms, 20 * ms, false, false}, {120 * ms, 50 * ms, 20 * ms, false, false}}, 0.06, 0.12, 0.05},
	{"computes for long, then sleeps", []step{{time.Second, time.Second, 0, false, false}, {2 * time.Second, time.Second, 0, false, false}}, 1, 2, 1},
	{"less than before", []step{{10 * ms, 10 * ms, 10 * ms, false, false}, {20 * ms, 5 * ms, 0, false, false}}, 0.02, 0.02, 0.01},
	{"end is earlier", []step{{30 * ms, 20 * ms, 0, false, false}, {20 * ms, 20 * ms, 0, true, false}}, 0.02, 0.03, 0.02},
}

// TestDemandAccounts counts the steps of one job.
func TestDemandAccounts(t *testing.T) {
	start := time.Unix(1e9, 0)
	for _, c := range accountCases {
		d, s := demand{cpus: 2}, newSample(start)
		for _, step := range c.steps {
			if step.end {
				d.finished(s, process.Result{Start: start, Elapsed: step.at, CPU: step.cpu})
			} else {
				d.sampled(s, start.Add(step.at), step.cpu, step.wait, step.ready)
			}
		}
		if !near(d.want, c.want) || !near(d.wall, c.wall) || !near(d.used, c.used) {
			t.Errorf("%s: want %v of %v, used %v; want %v of %v, used %v", c.name, d.want, d.wall, d.used, c.want, c.wall, c.used)
		}
	}
}

func TestDemandLife(t *testing.T) {
	d, start := demand{cpus: 2}, time.Unix(1e9, 0)
	end := func(elapsed time.Duration) {
		d.finished(newSample(start), process.Result{Start: start, Elapsed: elapsed})
	}
	if end(8 * time.Second); d.life != 8 {
		t.Errorf("%v s after a job of 8 s", d.life)
	}
	if end(16 * time.Second); d.life != 9 {
		t.Errorf("%v s after another one of 16 s", d.life)
	}
	if d.finished(nil, process.Result{Start: start, Elapsed: time.Hour}); d.life != 9 || d.wall != 24 {
		t.Errorf("%+v after the end of a job that was not known", d)
	}
}
