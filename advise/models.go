package advise

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/par"
)

// A list that takes less than handOver never gains by more goroutines, and one that takes
// worthIt gains a tenth: see docs/which.md.
const (
	handOver = 100 * time.Microsecond
	worthIt  = 400 * time.Microsecond
)

// A function is one to measure.
type function = func(ctx context.Context, i int) error

// A model has the samples of a Model.
type model struct {
	Model
	code     string
	list     func(ctx context.Context, n int, f function) error
	speedups []float64
	walls    []time.Duration // of items, if they are measured one by one
}

const parName = "par.Range"

// rangeModels returns the loop and the models without a fixed limit.
func rangeModels(code string, options ...stint.Option) []*model {
	return []*model{
		{Model: Model{Name: "loop", Limit: 1}, code: "for i := range n {\n\tif err := f(ctx, i); err != nil {\n\t\treturn err\n\t}\n}"},
		{Model: Model{Name: parName}, list: parRange, code: "par.Range(n, func(lo, hi int) {\n\tfor i := lo; i < hi; i++ {\n\t\tf(i) // without a context and an error\n\t}\n})"},
		{Model: Model{Name: "stint.Range"}, list: stintRange(options...), code: code},
	}
}

func loop(ctx context.Context, n int, f function) (err error) {
	for i := 0; i < n && err == nil && (i%256 > 0 || ctx.Err() == nil); i++ {
		err = f(ctx, i)
	}
	return err
}

func parRange(ctx context.Context, n int, f function) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	par.Range(n, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if err := f(ctx, i); err != nil {
				fail(err)
			}
		}
	})
	return context.Cause(ctx)
}

func stintRange(options ...stint.Option) func(context.Context, int, function) error {
	return func(ctx context.Context, n int, f function) error { return stint.Range(ctx, n, f, options...) }
}

// limited returns the model with a limit, and makes it if need be.
func (s *session) limited(k int) *model {
	for _, m := range s.models {
		if m.Limit == k {
			return m
		}
	}
	m := &model{Model: Model{Name: fmt.Sprintf("limit %d", k), Limit: k}, list: stintRange(stint.Limit(k)),
		code: fmt.Sprintf("err := stint.Range(ctx, n, f, stint.Limit(%d))", k)}
	s.models = append(s.models, m)
	slices.SortStableFunc(s.models[1:], func(a, b *model) int { return a.Limit - b.Limit })
	return m
}

// add adds a sample of the speedup.
func (m *model) add(speedup float64) {
	m.speedups = append(m.speedups, speedup)
	m.Speedup = estimate(m.speedups)
}

func (m *model) took(wall time.Duration) {
	m.walls = append(m.walls, wall)
	slices.Sort(m.walls)
	m.P50, m.P99 = m.walls[len(m.walls)/2], m.walls[len(m.walls)*99/100]
}

// quantiles are those of Student's distribution that half a percent exceeds, by degrees of
// freedom. The last one is near those of all that follow.
var quantiles = [...]float64{1: 63.66, 9.92, 5.84, 4.60, 4.03, 3.71, 3.50, 3.36, 3.25, 3.17, 3.11, 3.05, 3.01, 2.98}

// estimate returns the median, and an interval of the mean of the logarithms: samples of a
// ratio differ by factors.
func estimate(samples []float64) Estimate {
	n := float64(len(samples))
	sorted := slices.Sorted(slices.Values(samples))
	e := Estimate{Median: (sorted[(len(samples)-1)/2] + sorted[len(samples)/2]) / 2}
	if n < 3 {
		return e
	}
	var sum, squares float64
	for _, x := range samples {
		sum, squares = sum+math.Log(x), squares+math.Log(x)*math.Log(x)
	}
	variance := max(0, squares-sum*sum/n) / (n - 1)
	half := quantiles[min(len(samples), len(quantiles))-1] * math.Sqrt(variance/n)
	return Estimate{e.Median, min(e.Median, math.Exp(sum/n-half)), max(e.Median, math.Exp(sum/n+half))}
}

// highest returns the largest limit that can be useful. Items that compute for a part of their
// time keep all CPUs busy if there are so many of them; half as many again leave few idle by
// chance. More would only take CPUs from other programs.
func (s *session) highest() int {
	highest, busy := min(s.items, s.Most), float64(runtime.GOMAXPROCS(0))/max(0.01, s.share)
	switch s.Work {
	case Computes:
		return max(2, min(highest, int(math.Round(busy))))
	case Both:
		return max(2, min(highest, int(1.5*busy)))
	}
	return highest
}

// choose returns the first model that is nearly as fast as the fastest of them, or nil, of those
// with a limit of lowest or more; the loop is not one of them.
func (s *session) choose(lowest int) *model {
	models := slices.DeleteFunc(slices.Clone(s.models[1:]), func(m *model) bool { return m.Limit < lowest || len(m.speedups) == 0 })
	best := 0.0
	for _, m := range models {
		best = max(best, m.Speedup.Median)
	}
	for _, m := range models {
		if m.Speedup.Median >= near*best {
			return m
		}
	}
	return nil
}

// bound returns the largest speedup of the list: its time in a loop, divided by its longest item.
func (s *session) bound() float64 {
	var sum, longest time.Duration
	for _, took := range s.shortest {
		sum, longest = sum+took, max(longest, took)
	}
	if longest == 0 || s.unit > 1 || s.stages {
		return math.Inf(1)
	}
	return sum.Seconds() / float64(len(s.shortest)) * float64(s.N) / longest.Seconds()
}
