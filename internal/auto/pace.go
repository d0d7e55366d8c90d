package auto

import (
	"math"
	"time"
)

// A pace tells whether tasks finish more slowly the more of them run. It compares how likely
// the times between finished tasks are if throughput is proportional to the number of running
// tasks, and if it is inversely proportional, with exponential times in both cases.
type pace struct {
	tasks, logs       float64 // finished, and the sum of the logarithms of how many ran then
	product, quotient float64 // sums of each time between two, times or divided by how many ran
	last              time.Duration
	running           float64
}

func (p *pace) add(now time.Duration, n, running int) {
	if gap := float64(now - p.last); gap > 0 {
		p.running = float64(max(1, running))
		p.product += gap * p.running
		p.quotient += gap / p.running
		p.last = now
	}
	if p.running > 0 {
		p.tasks += float64(n)
		p.logs += float64(n) * math.Log(p.running)
	}
}

// falls returns the logarithm of how much more likely the second case is.
func (p *pace) falls() float64 {
	if p.quotient == 0 {
		return 0
	}
	return p.tasks*math.Log(p.product/p.quotient) - 2*p.logs
}

// A latencies is how long tasks took, and how many ran when they finished.
type latencies struct {
	tasks, sum, squares, running float64
	limit                        float64 // that they started under
}

// add counts n tasks that took so long together, 0 if unknown.
func (l *latencies) add(n int, took time.Duration, running int) {
	if took > 0 {
		each := float64(took) / float64(n)
		l.tasks += float64(n)
		l.sum += float64(took)
		l.squares += each * float64(took)
		l.running += float64(n) * float64(running)
	}
}

func (l *latencies) merge(o latencies) {
	l.tasks += o.tasks
	l.sum += o.sum
	l.squares += o.squares
	l.running += o.running
}

func (l latencies) mean() float64 { return l.sum / l.tasks }

// spread returns the standard deviation as a share of the mean.
func (l latencies) spread() float64 {
	m := l.mean()
	return math.Sqrt(max(0, l.squares/l.tasks/m/m-1))
}

// crowd returns how many ran while the tasks did.
func (l latencies) crowd() float64 { return min(l.limit, l.running/l.tasks) }

// reading returns the throughput by Little's law.
func (l latencies) reading() reading {
	running := l.crowd()
	return reading{tasks: l.tasks, time: l.sum / running, running: running, latency: l.mean()}
}

// elasticity is that of throughput by Little's law, from before to l: 1 if the latency
// stayed. It is 0 unless clearly more tasks ran.
func (l latencies) elasticity(before latencies) (e, se float64) {
	span := math.Log(l.crowd() / before.crowd())
	if span < 0.5 {
		return 0, 1
	}
	a, b := l.spread(), before.spread()
	return 1 - math.Log(l.mean()/before.mean())/span, math.Sqrt(a*a/l.tasks+b*b/before.tasks) / span
}
