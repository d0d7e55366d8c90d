package advise

import (
	"context"
	"fmt"
	"runtime"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/measure"
	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/par"
)

// Names of models, as they stand in tables. A fixed limit is limit-8.
const (
	loopName = "loop"
	freeName = "stint.Range" // without an option
	autoName = "stint.Auto"  // with a limit that finds itself, but not above that of Most
	parName  = "par.Range"
)

// limitUnit is the limit that was found in a run.
const limitUnit measure.Unit = "limit"

// A model is one way to go through the list.
type model struct {
	result.Model
	limit int    // 0: none that is fixed
	call  string // the code

	// run is the list once. The last run of a sample may look at what it does, as
	// long as that costs no time.
	run func(ctx context.Context, last bool) error

	// after adds to a sample what is known at its end; nil: nothing.
	after func(m *measure.Meter)
}

// repeat runs the list so often. It looks at the context now and then only: a look
// takes longer than some lists.
func (m *model) repeat(ctx context.Context, reps int) error {
	some := max(1, reps/20)
	for done := 0; done < reps; done += some {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for rep := done; rep < min(done+some, reps); rep++ {
			if err := m.run(ctx, rep == reps-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// A list is the items of a run.
type list struct {
	n     int
	f     func(i int)
	piece int // how many items are begun between two looks at a context
}

// loop is what everybody begins with.
func (l *list) loop() *model {
	return &model{
		Model: result.Model{Name: loopName, Kind: result.Peer, Doc: "a plain loop"},
		call:  "for i := range n {\n\tf(i)\n}",
		run: func(ctx context.Context, _ bool) error {
			f := l.f
			for lo := 0; lo < l.n; lo += l.piece {
				if lo > 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				for i := lo; i < min(lo+l.piece, l.n); i++ {
					f(i)
				}
			}
			return nil
		},
	}
}

// limited is stint.Range with a fixed limit.
func (l *list) limited(k int) *model {
	option := fmt.Sprintf("stint.Limit(%d)", k)
	return &model{
		Model: result.Model{Name: fmt.Sprintf("limit-%d", k), Kind: result.Ours, Doc: "stint.Range with " + option, Sweep: "stint.Limit", At: float64(k)},
		limit: k,
		call:  rangeCall(option),
		run:   func(ctx context.Context, _ bool) error { return l.ranged(ctx, stint.Limit(k)) },
	}
}

// free is stint.Range without an option. The last run of a sample is given the
// limiter that such a call has, to see what that finds.
func (l *list) free(seen *stint.LimiterStats) *model {
	m := &model{Model: result.Model{Name: freeName, Kind: result.Ours, Doc: "stint.Range without an option"}, call: rangeCall("")}
	m.run = func(ctx context.Context, last bool) error {
		if !last {
			return l.ranged(ctx)
		}
		return l.found(ctx, max(usualMost, runtime.GOMAXPROCS(0)), seen)
	}
	m.after = reportLimit(seen)
	return m
}

// auto is stint.Range with a limit that finds itself between 1 and most.
func (l *list) auto(most int, seen *stint.LimiterStats) *model {
	option := fmt.Sprintf("stint.Auto(1, %d)", most)
	return &model{
		Model: result.Model{Name: autoName, Kind: result.Ours, Doc: "stint.Range with " + option},
		call:  rangeCall(option),
		run:   func(ctx context.Context, _ bool) error { return l.found(ctx, most, seen) },
		after: reportLimit(seen),
	}
}

// par is par.Range. It knows no context, so the pieces of a list that takes long
// look at it.
func (l *list) par() *model {
	return &model{
		Model: result.Model{Name: parName, Kind: result.Ours, Doc: "par.Range"},
		call:  "par.Range(n, func(lo, hi int) {\n\tfor i := lo; i < hi; i++ {\n\t\tf(i)\n\t}\n})",
		run: func(ctx context.Context, _ bool) error {
			f, long := l.f, l.piece < l.n
			par.Range(l.n, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					if long && (i-lo)%l.piece == 0 && ctx.Err() != nil {
						return
					}
					f(i)
				}
			})
			return nil
		},
	}
}

// ranged is a run of stint.Range.
func (l *list) ranged(ctx context.Context, opts ...stint.Option) error {
	f := l.f
	return stint.Range(ctx, l.n, func(_ context.Context, i int) error { f(i); return nil }, opts...)
}

// found is a run under a limit that finds itself, and what became of that.
func (l *list) found(ctx context.Context, most int, seen *stint.LimiterStats) error {
	limiter := stint.Auto(1, most)
	err := l.ranged(ctx, limiter)
	*seen = limiter.Stats()
	return err
}

func reportLimit(seen *stint.LimiterStats) func(*measure.Meter) {
	return func(m *measure.Meter) { m.Report(limitUnit, float64(seen.Limit)) }
}

// rangeCall is the code of a call of stint.Range.
func rangeCall(option string) string {
	if option != "" {
		option = ", " + option
	}
	return "err := stint.Range(ctx, n, func(ctx context.Context, i int) error {\n\tf(i)\n\treturn nil\n}" + option + ")"
}
