package auto

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint/internal/race"
	"github.com/stint-go/stint/internal/workload"
)

// throughputs matches the throughputs in a reason, and the number of running tasks.
var throughputs = regexp.MustCompile(`([0-9.,]+)/s at ([0-9]+)`)

// An audited governor is a search whose reported throughputs are checked.
type audited struct {
	*searched
	slots    float64 // of the workload; 0: unknown
	capacity float64 // of these, in tasks a millisecond
	shortest float64 // finished task, in milliseconds
	peak     int     // tasks that ran at once
	figures  int     // that were checked
	wrong    string  // the last impossible figure
}

func newAudited(w *workload.Workload) *audited {
	g := &audited{searched: newSearched(w), shortest: math.Inf(1)}
	g.note = func(_ time.Duration, throughput float64, reason string) {
		g.check(throughput, g.peak, reason)
		if contradicts(reason) {
			g.wrong = reason
		}
		for _, m := range throughputs.FindAllStringSubmatch(reason, -1) {
			x, _ := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
			n, _ := strconv.Atoi(m[2])
			g.check(x, n, reason)
		}
	}
	return g
}

// contradicts reports whether the figures of a reason say something else than its words.
func contradicts(reason string) bool {
	m := throughputs.FindAllStringSubmatch(reason, -1)
	if len(m) != 2 {
		return len(m) > 0
	}
	x, _ := strconv.ParseFloat(strings.ReplaceAll(m[0][1], ",", ""), 64)
	y, _ := strconv.ParseFloat(strings.ReplaceAll(m[1][1], ",", ""), 64)
	words, _, _ := strings.Cut(reason, ":")
	from, _ := strconv.Atoi(m[0][2])
	to, _ := strconv.Atoi(m[1][2])
	if strings.HasPrefix(words, "a higher limit") && to < from || strings.HasPrefix(words, "a lower limit") && to > from {
		return true
	}
	switch words {
	case "throughput rose", "throughput rose until all tasks run", "throughput rose too little for so many more tasks",
		"a higher limit is better", "a lower limit is better", "another limit was better":
		return y <= x
	case "throughput fell", "a lower limit is worse", "a higher limit is worse":
		return y >= x
	case "throughput did not rise", "a higher limit is no better", "a lower limit is no better": // by a twentieth
		return y > 1.06*x
	case "a lower limit is as good", "a higher limit is as good":
		return y < 0.75*x // after an alarm less evidence is enough
	}
	return true
}

// check notes when n workers cannot have finished x tasks a second. Figures in reasons
// are rounded to three digits.
func (g *audited) check(x float64, n int, what string) {
	if x == 0 {
		return
	}
	g.figures++
	if x/1000*g.shortest > float64(n)*1.005 {
		g.wrong = fmt.Sprintf("%s: %.0f a second with %d, none of less than %v ms", what, x, n, g.shortest)
	}
}

func (g *audited) Done(now, took float64, running int, full, overloaded bool) float64 {
	g.shortest = min(g.shortest, took)
	g.peak = max(g.peak, running)
	before, w := g.throughput, g.window
	again := g.searched.Done(now, took, running, full, overloaded)
	g.check(g.throughput, g.peak, "throughput")
	// Each slot may have started one task of the window before it.
	time := w.time/1e6 + now - float64(w.last)/1e6
	if bound := g.capacity + g.slots/time; g.throughput != before && g.slots > 0 && g.throughput/1000 > bound*1.001 {
		g.wrong = fmt.Sprintf("%.0f a second in a window of %.3f ms, of a workload that can do %.0f", g.throughput, time, bound*1000)
	}
	return again
}

// TestReportedIsPossible checks what the search reports of each workload: by Little's
// law n workers with tasks of d finish n / d tasks in a unit of time, and no more. Figures agree
// with the words of their reason.
func TestReportedIsPossible(t *testing.T) {
	workloads, seeds, randoms := []*workload.Workload{}, 2, uint64(100)
	if race.Enabled {
		seeds, randoms = 1, 5
	}
	for _, tr := range workload.Trials() {
		workloads = append(workloads, &tr.Workload)
	}
	for seed := range randoms {
		for _, draw := range []func(uint64) *workload.Workload{workload.Random, workload.Steep, workload.Trap, workload.Slow} {
			workloads = append(workloads, draw(10_000+seed))
		}
	}
	spread(len(workloads)*seeds, func(i int) {
		w, seed := workloads[i/seeds], uint64(i%seeds)
		g := newAudited(w)
		workload.Simulate(w, g, seed)
		if g.wrong != "" {
			t.Errorf("%s, seed %d: %s", w.Name, seed, g.wrong)
		}
	})
}

// TestReportedIsWithinCapacity checks workloads of known capacity. No figure exceeds it
// where tasks finish one by one, or in swarms. Where a swarm is scattered, a window may
// count one task too many per slot.
func TestReportedIsWithinCapacity(t *testing.T) {
	exact := map[string]bool{
		"5 slots k=4 always": true, "5 slots k=20 always": true, "6 shared": true,
		"8 rate and latency": true, "11 latency step": true, "20 lock": true,
	}
	for _, tr := range workload.Trials() {
		if !exact[tr.Name] {
			continue
		}
		g := newAudited(&tr.Workload)
		workload.Simulate(&tr.Workload, &within{g, t, tr.Best}, 1)
		if g.figures == 0 {
			t.Errorf("%s: nothing is told", tr.Name)
		}
	}
	for _, k := range []int{7, 20, 64} {
		for _, by := range []float64{1, 3, 5} {
			w := workload.Scattered(k, by)
			g := newAudited(w)
			g.slots, g.capacity = float64(k), w.Best
			workload.Simulate(w, g, 1)
			if g.wrong != "" || g.figures == 0 {
				t.Errorf("%s: %d figures, %s", w.Name, g.figures, g.wrong)
			}
		}
	}
}

// within fails the test for a throughput beyond capacity.
type within struct {
	*audited
	t        *testing.T
	capacity float64
}

func (g *within) Done(now, took float64, running int, full, overloaded bool) float64 {
	before := g.throughput
	again := g.audited.Done(now, took, running, full, overloaded)
	if g.throughput != before && g.throughput/1000 > g.capacity*1.002 {
		g.t.Errorf("%.0f a second at %v ms, of %v a millisecond", g.throughput, now, g.capacity)
	}
	return again
}
