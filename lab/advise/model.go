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

// Model names. A fixed limit is limit-8.
const (
	loopName = "loop"
	freeName = "stint.Range" // without an option
	autoName = "stint.Auto"  // adaptive limit up to Most
	parName  = "par.Range"
)

// limitUnit is the adaptive limit at the end of a run.
const limitUnit measure.Unit = "limit"

// A model is one way to process the list.
type model struct {
	result.Model
	limit int    // 0: no fixed limit
	call  string // the code

	// run processes the list once. The last run of a sample may record what it
	// does, if that takes no time.
	run func(ctx context.Context, last bool) error

	// after adds values to a sample at its end; it may be nil.
	after func(m *measure.Meter)
}

// repeat runs the list reps times. It checks the context only now and then,
// since a check takes longer than some lists.
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

// A list holds the items of a run.
type list struct {
	n     int
	f     func(i int)
	chunk int // items between two checks of the context
}

// loop is a plain loop.
func (l *list) loop() *model {
	return &model{
		Model: result.Peer.Model(loopName, "a plain loop"),
		call:  "for i := range n {\n\tf(i)\n}",
		run: func(ctx context.Context, _ bool) error {
			f := l.f
			for lo := 0; lo < l.n; lo += l.chunk {
				if lo > 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				for i := lo; i < min(lo+l.chunk, l.n); i++ {
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

// free is stint.Range without an option. The last run of a sample has an equal
// limiter of its own, whose statistics it records.
func (l *list) free(seen *stint.LimiterStats) *model {
	m := &model{Model: result.Ours.Model(freeName, "stint.Range without an option"), call: rangeCall("")}
	m.run = func(ctx context.Context, last bool) error {
		if !last {
			return l.ranged(ctx)
		}
		return l.found(ctx, max(usualMost, runtime.GOMAXPROCS(0)), seen)
	}
	m.after = reportLimit(seen)
	return m
}

// auto is stint.Range with an adaptive limit from 1 to most.
func (l *list) auto(most int, seen *stint.LimiterStats) *model {
	option := fmt.Sprintf("stint.Auto(1, %d)", most)
	return &model{
		Model: result.Ours.Model(autoName, "stint.Range with "+option),
		call:  rangeCall(option),
		run:   func(ctx context.Context, _ bool) error { return l.found(ctx, most, seen) },
		after: reportLimit(seen),
	}
}

// par is par.Range. It takes no context, so long lists check it themselves.
func (l *list) par() *model {
	return &model{
		Model: result.Ours.Model(parName, "par.Range"),
		call:  "par.Range(n, func(lo, hi int) {\n\tfor i := lo; i < hi; i++ {\n\t\tf(i)\n\t}\n})",
		run: func(ctx context.Context, _ bool) error {
			f, long := l.f, l.chunk < l.n
			par.Range(l.n, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					if long && (i-lo)%l.chunk == 0 && ctx.Err() != nil {
						return
					}
					f(i)
				}
			})
			return nil
		},
	}
}

// ranged runs stint.Range.
func (l *list) ranged(ctx context.Context, opts ...stint.Option) error {
	f := l.f
	return stint.Range(ctx, l.n, func(_ context.Context, i int) error { f(i); return nil }, opts...)
}

// found runs stint.Range under an adaptive limit and records its statistics.
func (l *list) found(ctx context.Context, most int, seen *stint.LimiterStats) error {
	limiter := stint.Auto(1, most)
	err := l.ranged(ctx, limiter)
	*seen = limiter.Stats()
	return err
}

func reportLimit(seen *stint.LimiterStats) func(*measure.Meter) {
	return func(m *measure.Meter) { m.Report(limitUnit, float64(seen.Limit)) }
}

// rangeCall returns the code of a call of stint.Range.
func rangeCall(option string) string {
	if option != "" {
		option = ", " + option
	}
	return "err := stint.Range(ctx, n, func(ctx context.Context, i int) error {\n\tf(i)\n\treturn nil\n}" + option + ")"
}
