package limit

import "context"

// A valueContext is the context of a task with the values of another context.
type valueContext struct {
	context.Context // of the task: its end, its deadline, its scope
	values          context.Context
}

// Value returns the task's scope for the key of this package. Other keys are looked up in
// the other context first and then in that of the task, where package context finds what
// it needs for cancellation.
func (v *valueContext) Value(key any) any {
	if key != (scopeKey{}) {
		if value := v.values.Value(key); value != nil {
			return value
		}
	}
	return v.Context.Value(key)
}

// Values returns the values of ctx for WithValues, or nil if ctx has only those of own,
// which tasks are given anyway. It strips the contexts of tasks, so that in a chain of
// tasks that start each other no context keeps the contexts before it.
func Values(ctx, own context.Context) context.Context {
	for {
		switch c := ctx.(type) {
		case *scopeContext:
			ctx = c.Context
			continue
		case *valueContext:
			return c.values
		}
		if ctx == own || ctx == context.Background() {
			return nil
		}
		return context.WithoutCancel(ctx)
	}
}

// WithValues returns the context ctx of a task with values, which Values returned.
func WithValues(ctx, values context.Context) context.Context { return &valueContext{ctx, values} }

// An Unlabelled context adds no pprof labels to the context that it wraps.
type Unlabelled interface {
	context.Context
	Wrapped(Internal) context.Context
}

// Internal keeps contexts of other modules from being Unlabelled.
type Internal struct{}

// Labelled returns the nearest context around ctx that may have pprof labels of its own.
// Contexts of nested calls and tasks have none, and looking up a label in one of them
// takes a stack as deep as the nesting.
func Labelled(ctx context.Context) context.Context {
	for {
		switch c := ctx.(type) {
		case *scopeContext:
			ctx = c.Context
		case Unlabelled:
			ctx = c.Wrapped(Internal{})
		default:
			return ctx
		}
	}
}
