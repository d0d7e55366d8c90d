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

// handOver is the time of the shortest list that gains by starting goroutines: see package par.
const handOver = 100 * time.Microsecond

const parName = "par.Range"

// A model has the samples of a Model.
type model struct {
	Model
	code     string
	list     func(ctx context.Context, n int, f function) error
	speedups []float64
	walls    []time.Duration // of items
}

func (m *model) add(speedup float64) {
	m.speedups = append(m.speedups, speedup)
	m.Speedup = estimate(m.speedups)
}

func (m *model) took(d time.Duration) {
	m.walls = append(m.walls, d)
	slices.Sort(m.walls)
	m.P50, m.P99 = m.walls[len(m.walls)/2], m.walls[len(m.walls)*99/100]
}

// estimate returns the median, and an interval for the mean of the logarithms by Student's
// distribution: samples of a ratio differ by factors.
func estimate(samples []float64) Estimate {
	// by degrees of freedom: half a percent is above
	quantiles := [...]float64{1: 63.66, 9.92, 5.84, 4.60, 4.03, 3.71, 3.50, 3.36, 3.25, 3.17, 3.11, 3.05, 3.01, 3}
	n := len(samples)
	sorted := slices.Sorted(slices.Values(samples))
	e := Estimate{Median: (sorted[(n-1)/2] + sorted[n/2]) / 2}
	if n < 3 {
		return e
	}
	var sum, squares float64
	for _, x := range samples {
		sum, squares = sum+math.Log(x), squares+math.Log(x)*math.Log(x)
	}
	mean := sum / float64(n)
	variance := max(0, squares/float64(n)-mean*mean) / float64(n-1)
	half := quantiles[min(n, len(quantiles))-1] * math.Sqrt(variance)
	return Estimate{e.Median, min(e.Median, math.Exp(mean-half)), max(e.Median, math.Exp(mean+half))}
}

// A function is one to measure.
type function = func(ctx context.Context, i int) error

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

func stintRange(options ...stint.Option) func(context.Context, int, function) error {
	return func(ctx context.Context, n int, f function) error { return stint.Range(ctx, n, f, options...) }
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

// choose returns the first of the models that is nearly as fast as the fastest of them, or nil.
func (s *session) choose(limit bool) (chosen *model) {
	best := 0.0
	for _, m := range s.models[1:] {
		if x := m.Speedup.Median; x > best && (!limit || m.Limit > 0) {
			best = x
		}
	}
	for _, m := range slices.Backward(s.models[1:]) {
		if x := m.Speedup.Median; x > 0 && x >= near*best && (!limit || m.Limit > 0) {
			chosen = m
		}
	}
	return chosen
}

// highest returns the largest limit that can be useful. Items that compute for a part of their
// time keep all CPUs busy if there are so many of them; half as many again leave few idle by
// chance. More would only take CPUs from other programs.
func (s *session) highest() int {
	highest, cpus, share := min(s.N, s.Most), float64(runtime.GOMAXPROCS(0)), s.alone.share()
	switch {
	case s.Work == Computes:
		highest = min(highest, int(math.Round(cpus/max(1, share))))
	case share > 0:
		highest = min(highest, int(1.5*cpus/share))
	}
	return max(2, highest)
}

// judge brings the report up to date.
func (s *session) judge() {
	r, loop := s.Report, s.models[0]
	r.Took, r.Work = time.Since(s.began), s.alone.work()
	if n := s.alone.items; n > 0 {
		loop.Speedup = Estimate{1, 1, 1}
		r.Item = Item{n, loop.P50, loop.P99, s.alone.cpu / time.Duration(n), s.alone.memory / uint64(n)}
	}
	r.Models = nil
	for _, m := range s.models {
		if m.Speedup.Median > 0 {
			m.PerSecond = m.Speedup.Median * float64(s.alone.items) / s.alone.wall.Seconds()
			r.Models = append(r.Models, m.Model)
		}
	}
	limit, best := s.choose(true), s.choose(false)
	if r.Answer = s.pays(); r.Answer == No || best == nil || best.Speedup.Median < MinSpeedup {
		best = loop
	}
	r.Best, r.Code, r.Limit = &best.Model, best.code, 0
	switch {
	case r.Answer == No:
		r.Limit = 1
	case r.Answer == Yes && limit != nil:
		r.Limit = limit.Limit
	}
	r.Reason, r.Notes = s.reason(best), s.notes(limit)
	if s.Progress != nil {
		s.Progress(r)
	}
}

// pays returns whether a model is faster than the loop.
func (s *session) pays() Answer {
	if s.N < 2 || s.Most < 2 || s.tiny() {
		return No
	}
	sure, unsure := false, false
	for _, m := range s.models[1:] {
		e := m.Speedup
		if e.Lo >= MinSpeedup {
			return Yes
		}
		sure, unsure = sure || e.Hi > 0, unsure || e.Hi >= MinSpeedup
	}
	if sure && !unsure && s.others() == 0 {
		return No
	}
	return NotSure
}

// tiny reports that the whole list is too short to start goroutines.
func (s *session) tiny() bool {
	return s.alone.items > 0 && float64(s.N)*s.alone.wall.Seconds() < handOver.Seconds()*float64(s.alone.items)
}

// others returns how many CPUs other programs use of those that the items need, or 0 if one is
// idle.
func (s *session) others() float64 {
	took := time.Since(s.began).Seconds()
	now := machine()
	used := (now.cpu - s.machine.cpu - s.use().cpu + s.first.cpu).Seconds() / took
	if now.cpu == 0 || s.Work == Waits || used < 0.3 || (now.wall-s.machine.wall).Seconds() > 0.5*took {
		return 0
	}
	return used
}

// reason returns the reason of the answer.
func (s *session) reason(best *model) string {
	e := best.Speedup
	measured := fmt.Sprintf("%s is %s times as fast as a plain loop", best.Name, times(e.Median))
	if e.Lo > 0 {
		measured += fmt.Sprintf(" (%s to %s)", times(e.Lo), times(e.Hi))
	}
	switch share := s.alone.share(); {
	case s.N == 0:
		return "There is nothing to do."
	case s.N == 1 || s.Most == 1:
		return "One item at a time cannot run concurrently."
	case s.Answer == Yes:
		return measured + "."
	case len(s.Models) < 2 && s.Answer == NotSure:
		return "Nothing was measured but the loop."
	case s.others() > 0:
		return fmt.Sprintf("Other programs use %.1f CPUs, which concurrent items would need.", s.others())
	case s.Answer == NotSure && best.Limit != 1:
		return measured + ". More time or more items may decide."
	case s.Answer == NotSure:
		return "The times of the items differ too much. More time or more items may decide."
	case s.tiny():
		return fmt.Sprintf("All items take %s together. Concurrency pays from about %s.", short(time.Duration(s.N)*s.Item.Wall), handOver)
	case s.Work == Computes && share > 1.5:
		return fmt.Sprintf("An item keeps %.1f CPUs busy by itself.", share)
	case s.Work == Computes && runtime.GOMAXPROCS(0) == 1:
		return "It computes, and there is one CPU."
	}
	return "Concurrent items do not finish sooner: they may share a lock, a connection, a disk, or memory."
}

// notes returns what is not known, and when not to follow the answer.
func (s *session) notes(limit *model) (notes []string) {
	note := func(when bool, format string, args ...any) {
		if when {
			notes = append(notes, fmt.Sprintf(format, args...))
		}
	}
	note(s.Work == Unknown && s.Calls > 0, "The CPU time is not known.")
	note(s.again, "The first call of an item took longer than the next ones, which were measured.")
	note(s.Answer == Yes && s.others() > 0, "Other programs used %.1f CPUs. Without them the speedup may be larger.", s.others())
	if s.Answer != Yes || limit == nil {
		return notes
	}
	loop, highest := s.models[0], min(s.N, s.Most)
	note(s.Once, "Each item was called once, so different items were compared.")
	note(s.Work != Computes && limit.Limit == highest, "A limit above %d was not measured.", highest)
	note(s.unit > 1, "A list of fewer than about %d items is as fast in a plain loop.", handOver/max(1, s.Item.Wall))
	note(limit.P50 > loop.P50*5/4, "An item takes %s times as long at limit %d as alone. If its latency matters more than throughput, take a smaller limit.",
		times(limit.P50.Seconds()/loop.P50.Seconds()), limit.Limit)
	note(true, "A plain loop does %s items a second. If fewer arrive, concurrency gains nothing.", times(loop.PerSecond))
	note(true, "Items that depend on each other must not run concurrently, whatever their speedup.")
	return notes
}
