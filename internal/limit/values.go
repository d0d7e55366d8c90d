package limit

import "context"

// A valued is the context of a task with the values of another one.
type valued struct {
	context.Context // of the task: its end, its deadline, its link
	values          context.Context
}

// Value returns the task's link for the key of this package, and what the other context
// has for others. What only the task's has it is asked for too: that is how the package
// context finds what ends it.
func (v *valued) Value(key any) any {
	if key != (linkKey{}) {
		if value := v.values.Value(key); value != nil {
			return value
		}
	}
	return v.Context.Value(key)
}

// Values returns the values of ctx for WithValues, or nil if it has none but those of
// own, which tasks are given anyway. They lead to no context of a task: of tasks that
// start each other, each with the values of the one before, none keeps the others.
func Values(ctx, own context.Context) context.Context {
	for {
		switch c := ctx.(type) {
		case *carrier:
			ctx = c.Context
			continue
		case *valued:
			return c.values
		}
		if ctx == own || ctx == context.Background() {
			return nil
		}
		return context.WithoutCancel(ctx)
	}
}

// WithValues returns the context ctx of a task with values, as Values returned them.
func WithValues(ctx, values context.Context) context.Context { return &valued{ctx, values} }

// Labelled returns the nearest context around ctx that may have pprof labels of its own:
// those of tasks and calls, which follow each other where calls are nested, have none.
// What asks each of them in turn calls itself once for each, and needs a stack that
// grows with the depth, on the goroutine of every worker.
func Labelled(ctx context.Context) context.Context {
	for {
		switch c := ctx.(type) {
		case *carrier:
			ctx = c.Context
		case interface{ Unlabelled() context.Context }:
			ctx = c.Unlabelled()
		default:
			return ctx
		}
	}
}
