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

// TestDemandLimit has what jobs wanted in 10 s, and which part of the CPUs they have used since the
// last look.
func TestDemandLimit(t *testing.T) {
	const elapsed = 100 * ms
	for _, c := range []struct {
		name       string
		cpus       float64
		want, used float64
		now, limit int
		reason     string
	}{
		{"compute", 2, 10, 1, 2, 2, ""},
		{"compute, many CPUs", 64, 10, 1, 64, 64, ""},
		{"several threads, too many jobs", 8, 35, 1, 30, 8, "a job wants a CPU 350 % of its time"},
		{"sleep", 2, 0.04, 0, 2, 8, "a job wants a CPU 0.4 % of its time"},
		{"nothing used", 2, 0, 0, 3, 12, "a job wants a CPU 0.01 % of its time"},
		{"half", 2, 5, 0.6, 2, 6, "a job wants a CPU 50 % of its time"},
		{"half, busy", 2, 5, 0.95, 4, 4, "the CPUs are busy"},
		{"half, a few too many", 2, 5, 1, 7, 7, ""},
		{"half, too many", 2, 5, 1, 9, 6, "a job wants a CPU 50 % of its time"},
	} {
		d := demand{cpus: c.cpus, want: c.want, wall: 10, used: c.used * c.cpus * elapsed.Seconds()}
		if got, reason := d.limit(c.now, c.cpus, elapsed); got != c.limit || reason != c.reason {
			t.Errorf("%s: %d, %q, want %d, %q", c.name, got, reason, c.limit, c.reason)
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
	{"start of a sleeper", []step{{10 * ms, 2 * ms, ms, false, false}}, 0, 0.01, 0.002},
	{"start of a sleeper that goes on", []step{{10 * ms, 2 * ms, ms, false, false}, {100 * ms, 2 * ms, ms, false, false}}, 0.002 / 0.99, 0.1, 0.002},
	{"waits for a CPU to the end", []step{{10 * ms, 5 * ms, 5 * ms, false, false}, {30 * ms, 15 * ms, 0, true, false}}, 0.03, 0.03, 0.015},
	{"half, on half a CPU", []step{{100 * ms, 30 * ms, 40 * ms, false, false}}, 0.05, 0.1, 0.03},
	{"several threads that have little to do", []step{{100 * ms, 10 * ms, 150 * ms, false, false}}, 0.1, 0.1, 0.01},
	{"waits, and has had none", []step{{10 * ms, 0, 0, false, true}, {20 * ms, 2 * ms, 0, false, true}}, 0, 0, 0},
	{"computes, then sleeps", []step{{10 * ms, 5 * ms, 5 * ms, false, false}, {70 * ms, 50 * ms, 20 * ms, false, false}, {120 * ms, 50 * ms, 20 * ms, false, false}}, 0.06, 0.12, 0.05},
	{"computes for long, then sleeps", []step{{time.Second, time.Second, 0, false, false}, {2 * time.Second, time.Second, 0, false, false}}, 1, 2, 1},
	{"less than before", []step{{10 * ms, 10 * ms, 10 * ms, false, false}, {20 * ms, 5 * ms, 0, false, false}}, 0.02, 0.02, 0.01},
	{"end is earlier", []step{{30 * ms, 20 * ms, 0, false, false}, {20 * ms, 20 * ms, 0, true, false}}, 0.02, 0.03, 0.02},
}

// TestDemandAccounts counts the steps of one job.
func TestDemandAccounts(t *testing.T) {
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
