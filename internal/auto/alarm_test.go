package auto

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// serveAtRandom finishes n tasks that take a random time, at a rate that depends on how many run.
// Tasks beyond the limit finish first.
func (d *fedSearch) serveAtRandom(n int, r *rand.Rand, running *int, perTask func(running int) float64) {
	for range n {
		*running = max(*running, d.limit)
		d.now += time.Duration(r.ExpFloat64() / perTask(*running) * float64(time.Millisecond))
		d.finished(batch{d.now, 1, time.Duration(r.ExpFloat64() * float64(10*time.Millisecond)), false, *running, true})
		*running = max(d.limit, *running-1)
		d.seen()
	}
}

// TestAlarm has a server whose throughput falls with the number of tasks: the limit comes down
// before slow start has doubled it, and stays down.
func TestAlarm(t *testing.T) {
	early := 0
	for seed := range uint64(20) {
		d, running := newFedSearch(usual), 0
		r := rand.New(rand.NewPCG(seed, 1))
		d.serveAtRandom(400, r, &running, func(n int) float64 { return 20 / float64(n) })
		if slices.ContainsFunc(d.notes, func(s string) bool { return strings.Contains(s, "more slowly the more run") }) && slices.Max(d.limits) <= 72 {
			early++
		}
		if d.limit > 20 {
			t.Errorf("seed %d: limit %d after 400 tasks, %q", seed, d.limit, d.notes)
		}
	}
	if early < 15 {
		t.Errorf("an alarm before the second doubling in %d of 20 runs", early)
	}
}

// TestFalseAlarm raises an alarm where throughput rises with the number of tasks: the drain
// shows that it was false, and the limit reaches the maximum.
func TestFalseAlarm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	d, running := newFedSearch(usual), 0
	perTask := func(n int) float64 { return float64(n) / 10 }
	d.serveAtRandom(40, r, &running, perTask)
	if d.phase != SlowStart {
		t.Fatalf("phase %v", d.phase)
	}
	before := d.limit
	d.alarm(d.now)
	if !d.alarmed || d.limit >= before/2 {
		t.Fatalf("alarmed %v, limit %d of %d", d.alarmed, d.limit, before)
	}
	d.serveAtRandom(before, r, &running, perTask)
	if d.alarmed || d.phase != SlowStart || !d.start.resumed {
		t.Errorf("alarmed %v, phase %v", d.alarmed, d.phase)
	}
	d.serveAtRandom(3000, r, &running, perTask)
	if d.held != usual.Max {
		t.Errorf("the limit is %d, %q", d.held, d.notes)
	}
}

// TestLateTasks has tasks that take about as long, and then some that take longer than a queue
// explains. One alone is no alarm.
func TestLateTasks(t *testing.T) {
	for _, late := range []int{1, lateTasks - 1, lateTasks} {
		d := newFedSearch(usual)
		serve := func(n int, took time.Duration) {
			d.now += took
			for range n {
				d.now += time.Millisecond
				d.finished(batch{d.now, 1, took, false, d.limit, true})
			}
		}
		serve(8, 10*time.Millisecond)
		serve(late, time.Second)
		serve(1, 2*time.Second) // after a pause
		if d.alarmed != (late >= lateTasks) {
			t.Errorf("%d late tasks: alarmed %v, %q", late, d.alarmed, d.notes)
		}
	}
}
