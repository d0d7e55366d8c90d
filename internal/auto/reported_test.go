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
	case "throughput rose", "throughput rose until all tasks run",
		"a higher limit is better":
		return y <= x
	case "throughput fell":
		return y >= x
	case "throughput did not rise enough": // for so many more tasks
		return to > 0 && y/x > float64(to)/float64(from)
	case "a lower limit is as good":
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
	again := g.searched.Done(now, took, running, full, overloaded)
	g.check(g.throughput, g.peak, "throughput")
	return again
}

// TestReportedIsPossible checks what the search reports of each workload: by Little's
// law n workers with tasks of d finish n / d tasks in a unit of time, and no more. Figures agree
// with the words of their reason.
func TestReportedIsPossible(t *testing.T) {
	workloads, seeds, randoms := []*workload.Workload{}, 2, uint64(50)
	if race.Enabled {
		seeds, randoms = 1, 5
	}
	randoms *= uint64(*rounds)
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
