package advise

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/stint-go/stint"
)

// handOver is the time of a list for which starting goroutines pays.
const handOver = 60 * time.Microsecond

// near is the part of the best throughput that is as good: of two such limits the smaller one
// is better, as it takes less of what others need.
const near = 0.9

// Names of models. That of a limit is "limit 8".
const (
	loopName  = "loop"
	parName   = "par.Range"
	rangeName = "stint.Range"
)

const (
	loopCode = "for i := range n {\n\tif err := f(ctx, i); err != nil {\n\t\treturn err\n\t}\n}"
	parCode  = "par.Range(n, func(lo, hi int) {\n\tfor i := lo; i < hi; i++ {\n\t\tf(i) // without a context or an error\n\t}\n})"
)

// A model has the samples of a Model.
type model struct {
	Model
	code     string
	run      func(ctx context.Context, n int) error // a list
	speedups []float64
	walls    []time.Duration // of items, if they are measured one by one
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

// A session is one call of Run or Stages.
type session struct {
	Options
	*Report
	f               func(context.Context, int) error
	began, deadline time.Time
	busy, idle      time.Duration  // of the machine when the session began
	first           usage          // when the session began
	auto            []stint.Option // of stint.Range without a number
	models          []*model       // the loop first
	alone           usage          // of the items that ran alone
	again           bool           // the first call of an item takes longer than later ones
	shortest        int            // items of the shortest list that pays; 0: not known
}

// model returns the model with a name, and makes it if need be.
func (s *session) model(name string, limit int, code string) *model {
	for _, m := range s.models {
		if m.Name == name {
			return m
		}
	}
	m := &model{Model: Model{Name: name, Limit: limit}, code: code}
	s.models = append(s.models, m)
	return m
}

func (s *session) limit(k int) *model {
	return s.model(fmt.Sprintf("limit %d", k), k, fmt.Sprintf("err := stint.Range(ctx, n, f, stint.Limit(%d))", k))
}

func (s *session) free() *model {
	option := ""
	if s.auto != nil {
		option = fmt.Sprintf(", stint.Auto(1, %d)", s.Most)
	}
	return s.model(rangeName, 0, "err := stint.Range(ctx, n, f"+option+")")
}

// limits returns the models with a limit, in ascending order, and the others but the loop.
func (s *session) limits() (limits, others []*model) {
	for _, m := range s.models[1:] {
		if m.Limit > 0 {
			limits = append(limits, m)
		} else {
			others = append(others, m)
		}
	}
	slices.SortFunc(limits, func(a, b *model) int { return a.Limit - b.Limit })
	return limits, others
}

// choose returns the first of the models that is nearly as fast as the fastest of them, or nil.
func choose(models []*model) *model {
	var best float64
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

// cpus returns how many items at once keep all CPUs busy if they only compute.
func (s *session) cpus() int {
	return max(2, int(math.Round(float64(runtime.GOMAXPROCS(0))/max(1, s.alone.share()))))
}

// highest returns the largest limit that can be useful. Items that compute for a part of their
// time keep all CPUs busy if there are so many of them; half as many again leave few idle by
// chance. More would only take CPUs from other programs.
func (s *session) highest() int {
	highest := min(s.N, s.Most)
	switch share := s.alone.share(); {
	case s.alone.work() == Computes:
		highest = min(highest, s.cpus())
	case share > 0:
		highest = min(highest, max(2, int(1.5*float64(runtime.GOMAXPROCS(0))/share)))
	}
	return highest
}

// judge brings the report up to date.
func (s *session) judge() {
	r, loop := s.Report, s.models[0]
	limits, others := s.limits()
	r.Took, r.Work, r.Item = time.Since(s.began), s.alone.work(), Item{Measured: s.alone.items}
	if n := s.alone.items; n > 0 {
		loop.Speedup = Estimate{1, 1, 1}
		if r.Item.Wall, r.Item.P99 = loop.P50, loop.P99; loop.P50 == 0 {
			r.Item.Wall = s.alone.wall / time.Duration(n)
		}
		r.Item.CPU, r.Item.Memory = s.alone.cpu/time.Duration(n), s.alone.memory/uint64(n)
	}
	r.Models = nil
	for _, m := range slices.Concat(s.models[:1], others, limits) {
		if m.PerSecond = 0; s.alone.wall > 0 {
			m.PerSecond = m.Speedup.Median * float64(s.alone.items) / s.alone.wall.Seconds()
		}
		r.Models = append(r.Models, m.Model)
	}
	if r.Work == Computes && len(limits) > 1 {
		limits = limits[len(limits)-1:]
	}
	limit, best := choose(limits), choose(slices.Concat(others, limits))
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
	sure, unsure := s.N < 2, false
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

// others returns how many CPUs other programs used of those that the items need, if none was
// idle.
func (s *session) others() float64 {
	busy, idle := machine()
	took, share := time.Since(s.began).Seconds(), s.alone.share()
	used := (busy - s.busy - s.use().cpu + s.first.cpu).Seconds() / took
	if busy == 0 || share <= 0.2 || used < 0.3 || (idle-s.idle).Seconds()/took > 0.5 {
		return 0
	}
	return used
}

// reason returns the reason of the answer.
func (s *session) reason(best *model) string {
	e := best.Speedup
	measured := fmt.Sprintf("%s is %s times as fast as a plain loop", best.Name, times(e.Median))
	if e.Hi > e.Lo {
		measured += fmt.Sprintf(" (%s to %s)", times(e.Lo), times(e.Hi))
	}
	switch share := s.alone.share(); {
	case s.N == 0:
		return "There is nothing to do."
	case s.N == 1:
		return "One item cannot run concurrently."
	case s.Answer == Yes:
		return measured + "."
	case s.Answer == NotSure && len(s.models) == 1:
		return "Nothing was measured but the loop."
	case s.Answer == NotSure && s.others() > 0:
		return fmt.Sprintf("Other programs use %.1f CPUs, which concurrent items would need.", s.others())
	case s.Answer == NotSure && best.Name != loopName:
		return measured + ": it may pay, or not. More time or more items may decide."
	case s.Answer == NotSure:
		return "The times of the items differ too much. More time or more items may decide."
	case s.Work == Computes && share > 1.5:
		return fmt.Sprintf("An item keeps %.1f CPUs busy by itself.", share)
	case s.Work == Computes && runtime.GOMAXPROCS(0) == 1:
		return "It computes, and there is one CPU."
	case time.Duration(s.N)*s.Item.Wall < handOver:
		return fmt.Sprintf("All items take %s together: a goroutine pays from about %s.", short(time.Duration(s.N)*s.Item.Wall), short(handOver))
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
	note(s.Answer != NotSure && s.others() > 0, "Other programs used %.1f CPUs. Without them the speedup may be larger.", s.others())
	if s.Answer != Yes || limit == nil {
		return notes
	}
	loop, highest := s.models[0], min(s.N, s.Most)
	note(s.Once, "Each item was called once, so different items were compared.")
	note(s.Work != Computes && limit.Limit == highest, "A limit above %d was not measured.", highest)
	note(s.shortest > 8, "A list of fewer than about %d items is as fast in a plain loop.", s.shortest)
	note(limit.P50 > loop.P50*5/4, "An item takes %s times as long at limit %d as alone. If its latency matters more than throughput, take a smaller limit.",
		times(limit.P50.Seconds()/loop.P50.Seconds()), limit.Limit)
	note(true, "A plain loop does %s items a second. If fewer arrive, concurrency gains nothing.", times(loop.PerSecond))
	note(true, "Items that depend on each other must not run concurrently, whatever their speedup.")
	return notes
}
