package advise

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/par"
)

// Shorter calls are measured in lists. A round runs the first items by the loop and by each
// model, and so gives a sample of each speedup.
type lists struct {
	*session
	items, repeats int // items of a list, and lists of a sample
	err            error
}

const (
	shortCall = time.Millisecond
	pilotFor  = 5 * time.Millisecond
	listFor   = 20 * time.Millisecond // by the loop
	sampleFor = 2 * time.Millisecond  // or longer
	waitingOf = 512                   // items of a list that waits, for limits up to 256
	rounds    = 5                     // or more
)

var errClock = errors.New("advise: the clock stands still: a function that computes cannot be measured in a bubble of testing/synctest")

func (l *lists) over(ctx context.Context) bool {
	return l.err != nil || ctx.Err() != nil || !time.Now().Before(l.deadline)
}

// sample returns the seconds of a run of a list.
func (l *lists) sample(ctx context.Context, m *model, items, repeats int) float64 {
	before, began := l.use(), time.Now()
	for i := 0; i < repeats && l.err == nil && ctx.Err() == nil; i++ {
		l.err = m.run(ctx, items)
		l.Calls += items
	}
	took := time.Since(began)
	if m == l.models[0] && items == l.items {
		l.alone.add(before, l.use(), took, items*repeats)
	}
	if took == 0 && l.err == nil {
		l.err = errClock
	}
	return took.Seconds() / float64(repeats)
}

// pilot runs the loop for some milliseconds, and chooses the length of lists.
func (l *lists) pilot(ctx context.Context) {
	calls, before, began := 0, l.use(), time.Now()
	for calls < 1<<20 && time.Since(began) < pilotFor && l.err == nil && ctx.Err() == nil {
		items := max(1, min(calls, l.N))
		l.sample(ctx, l.models[0], items, 1)
		calls += items
	}
	var used usage
	took := time.Since(began)
	used.add(before, l.use(), took, calls)
	item := max(1, took/time.Duration(max(1, calls)))
	l.items = int(listFor / item)
	if used.work() != Computes {
		l.items = max(l.items, waitingOf)
	}
	l.items = min(l.items, l.N)
	l.repeats = int(sampleFor/(item*time.Duration(l.items))) + 1
}

// measure takes rounds until more cannot change the answer. It calls grow after each new model,
// which may add one.
func (l *lists) measure(ctx context.Context, grow func(*model)) {
	for round := 0; round < rounds || l.Answer == NotSure; round++ {
		loop := l.sample(ctx, l.models[0], l.items, l.repeats)
		for i := 1; i < len(l.models); i++ {
			m := l.models[i]
			if round == 0 {
				l.sample(ctx, m, l.items, 1) // warms up
			}
			took := l.sample(ctx, m, l.items, l.repeats)
			if l.over(ctx) {
				return
			}
			m.add(loop / took)
			if round == 0 {
				grow(m)
			}
		}
		l.judge()
	}
}

// findShortest looks for the shortest list for which a model pays.
func (l *lists) findShortest(ctx context.Context, m *model) {
	for items := 2; items < l.items; items *= 2 {
		repeats := int(sampleFor/10/max(1, l.Item.Wall*time.Duration(items))) + 1
		var speedups []float64
		for len(speedups) < 9 {
			loop := l.sample(ctx, l.models[0], items, repeats)
			speedups = append(speedups, loop/l.sample(ctx, m, items, repeats))
			if l.over(ctx) {
				return
			}
		}
		if estimate(speedups).Median >= MinSpeedup {
			l.shortest = items
			return
		}
	}
}

// measureLists measures f by lists.
func (s *session) measureLists(ctx context.Context) error {
	l := &lists{session: s}
	if l.pilot(ctx); l.over(ctx) {
		return l.err
	}
	if s.CPU == nil && l.alone.work() != Waits {
		l.model(parName, 0, parCode).run = l.parRange
	}
	auto := s.auto
	if l.items < l.N && auto == nil {
		auto = []stint.Option{stint.Auto(1, s.Most)} // one that has found its limit, as in a long list
	}
	l.free().run = func(ctx context.Context, n int) error { return stint.Range(ctx, n, s.f, auto...) }
	best, flat := 1.0, 0
	grow := func(m *model) {
		k := 2
		if m.Limit > 0 {
			flat++
			if m.Speedup.Median >= MinSpeedup*best {
				flat = 0
			}
			best, k = max(best, m.Speedup.Median), 2*m.Limit
		}
		if k = min(k, l.highest()); k > max(1, m.Limit) && flat < 2 {
			l.limit(k).run = func(ctx context.Context, n int) error { return stint.Range(ctx, n, s.f, stint.Limit(k)) }
		}
	}
	if l.measure(ctx, grow); l.Answer == Yes {
		l.findShortest(ctx, l.model(l.Best.Name, 0, ""))
		l.judge()
	}
	return l.err
}

func (s *session) loop(ctx context.Context, n int) error {
	for i := range n {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.f(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) parRange(ctx context.Context, n int) error {
	var failed atomic.Pointer[error]
	par.Range(n, func(lo, hi int) {
		for i := lo; i < hi && failed.Load() == nil; i++ {
			if err := s.f(ctx, i); err != nil {
				failed.Store(&err)
			}
		}
	})
	if err := failed.Load(); err != nil {
		return *err
	}
	return ctx.Err()
}
