package advise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/par"
)

// A list that takes less than handOver never gains by more goroutines. A list that takes worthIt
// gains a tenth: see https://github.com/stint-go/stint/blob/main/docs/which.md.
const (
	handOver = 100 * time.Microsecond
	worthIt  = 400 * time.Microsecond
)

// A function is one to measure.
type function = func(ctx context.Context, i int) error

// A model has the samples of a Model.
type model struct {
	Model
	code        string
	list        func(ctx context.Context, n int, f function) error
	alone, took []float64       // samples: a time alone, and that by the model
	walls       []time.Duration // of items, if they are measured one by one
	whole       float64         // the speedup of a list with a limit, if items are measured one by one; infinite if that list says nothing of the limit
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
		if ctx.Err() != nil { // for each item this would cost more than short items
			return
		}
		for i := lo; i < hi; i++ {
			if err := f(ctx, i); err != nil {
				fail(err)
				return
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

// add adds a sample.
func (m *model) add(alone, took time.Duration) {
	m.alone, m.took = append(m.alone, alone.Seconds()), append(m.took, took.Seconds())
}

// quantiles are those of Student's distribution that half a percent exceeds, by degrees of
// freedom. The last one is near those of all that follow.
var quantiles = [...]float64{1: 63.66, 9.92, 5.84, 4.60, 4.03, 3.71, 3.50, 3.36, 3.25, 3.17, 3.11, 3.05, 3.01, 2.98}

// estimate returns the ratio of two sums, and its interval: see W. G. Cochran, Sampling
// Techniques, chapter 6.
func estimate(alone, took []float64) Estimate {
	n, sumAlone, sumTook, squares := float64(len(took)), 0.0, 0.0, 0.0
	for i := range took {
		sumAlone, sumTook = sumAlone+alone[i], sumTook+took[i]
	}
	ratio := sumAlone / sumTook
	if n < 3 {
		return Estimate{Value: ratio}
	}
	for i := range took {
		squares += (alone[i] - ratio*took[i]) * (alone[i] - ratio*took[i])
	}
	half := quantiles[min(len(took), len(quantiles))-1] * math.Sqrt(squares/(n-1)*n) / sumAlone
	return Estimate{ratio, ratio * math.Exp(-half), ratio * math.Exp(half)}
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

// choose returns the first of some models that is nearly as fast as the fastest of them, or nil.
// The loop is none of them, nor, after a failure, what could run as many calls at once.
func (s *session) choose(of func(*model) bool) *model {
	best, models := 0.0, slices.DeleteFunc(slices.Clone(s.models[1:]), func(m *model) bool {
		return len(m.took) == 0 || s.failed > 0 && (m.Limit == 0 || m.Limit >= s.failed) || !of(m)
	})
	for _, m := range models {
		best = max(best, m.Speedup.Value)
	}
	for _, m := range models {
		if m.Speedup.Value >= near*best {
			return m
		}
	}
	return nil
}

func measured(*model) bool { return true }

func fixed(m *model) bool { return m.Limit > 1 }

// bound returns the largest speedup that a model can have: a limit, the CPUs if the items
// compute, and the time of the list in a loop, divided by that of its longest item.
func (s *session) bound(limit int) float64 {
	bound := float64(cmp.Or(limit, s.N))
	if s.Work == Computes || s.Work == Both {
		bound = min(bound, max(1, float64(runtime.GOMAXPROCS(0))/s.share))
	}
	return min(bound, s.longest())
}

// longest returns the time of the list in a loop, divided by that of its longest item.
func (s *session) longest() float64 {
	var sum, longest time.Duration
	for _, took := range s.shortest {
		sum, longest = sum+took, max(longest, took)
	}
	if longest == 0 || s.unit > 1 || s.stages {
		return math.Inf(1)
	}
	return sum.Seconds() / float64(len(s.shortest)) * float64(s.N) / longest.Seconds()
}
