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
// own, which tasks are given anyway. Of tasks that start each other, each with its own
// context, none keeps the others; a context that was made from a task's keeps that.
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

// A Plain context has no pprof labels of its own, but those of the one that Around
// returns. No context of a caller is one by accident: Ours is a type of this package.
type Plain interface {
	context.Context
	Around(Ours) context.Context
}

// Ours makes Plain what only the library can implement.
type Ours struct{}

// Labelled returns the nearest context around ctx that may have pprof labels of its own.
// The contexts of nested calls and their tasks have none. Asked for its labels, each
// would ask the one around it: a recursion as deep as the nesting, on the stack of every
// worker.
func Labelled(ctx context.Context) context.Context {
	for {
		switch c := ctx.(type) {
		case *carrier:
			ctx = c.Context
		case Plain:
			ctx = c.Around(Ours{})
		default:
			return ctx
		}
	}
}
