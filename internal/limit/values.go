package limit

import (
	"context"
	"reflect"
)

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
// which tasks are given anyway, or of parent, which own was made from; parent may be nil. It
// strips the contexts of tasks and calls, so that in a chain of tasks that start each other
// no context keeps the contexts before it.
func Values(ctx, own, parent context.Context) context.Context {
	for {
		if same(ctx, own) || same(ctx, parent) || ctx == context.Background() || ctx == context.TODO() {
			return nil
		}
		switch c := ctx.(type) {
		case *scopeContext:
			ctx = c.Context
		case *LazyPermit:
			ctx = c.Context
		case *valueContext:
			return c.values
		case Unlabelled:
			ctx = c.Wrapped(Internal{})
		default:
			return context.WithoutCancel(ctx)
		}
	}
}

// same reports whether two contexts are one. Contexts of other packages that are no
// pointers may not be comparable.
func same(a, b context.Context) bool {
	t := reflect.TypeOf(a)
	return t == reflect.TypeOf(b) && t.Kind() == reflect.Pointer && a == b
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
		case *LazyPermit:
			ctx = c.Context
		case Unlabelled:
			ctx = c.Wrapped(Internal{})
		default:
			return ctx
		}
	}
}
