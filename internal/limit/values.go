package limit

import (
	"context"
	"reflect"
	"runtime/pprof"
	"time"
)

// A callContext is the context of a call, or of a task that has the values of its submitter.
// Values are looked up in one step past the contexts of all calls and tasks around it.
type callContext struct {
	context.Context                 // its end, and its scope
	values          context.Context // see valuesOf
	until           context.Context // has its deadline; nil: Context
}

// Value returns what the values have. The scope, and what package context looks for to pass
// on cancellation, are those of the other context.
func (c *callContext) Value(key any) any {
	if key == (scopeKey{}) || isCancellation(key) {
		return c.Context.Value(key)
	}
	return c.values.Value(key)
}

// Deadline returns the deadline of the nearest context that this package has not made.
func (c *callContext) Deadline() (time.Time, bool) {
	if c.until == nil {
		return c.Context.Deadline()
	}
	return c.until.Deadline()
}

// CallContext returns a context for a call made with ctx, with the pprof label for name unless
// that is empty, and the function that ends it.
func CallContext(ctx context.Context, name string) (context.Context, context.CancelCauseFunc) {
	c, cancel := context.WithCancelCause(ctx)
	if name == "" && ScopeOf(ctx) == nil {
		return c, cancel // an allocation less; this is the usual case outside of tasks
	}
	return &callContext{c, labelled(valuesOf(ctx), name), untilOf(ctx)}, cancel
}

// Named returns ctx with the pprof label for name, unless that is empty.
func Named(ctx context.Context, name string) context.Context {
	if name == "" {
		return ctx
	}
	return &callContext{ctx, labelled(valuesOf(ctx), name), untilOf(ctx)}
}

// Values returns the values that a task gets which is submitted with ctx: those of ctx, then
// own, the values of the other tasks, as OwnValues has returned them, and the label for name,
// that of the other tasks. It returns nil if these are own.
func Values(ctx, own context.Context, name string) context.Context {
	values := valuesOf(ctx)
	plain, label := unlabelled(values)
	ownPlain, ownLabel := unlabelled(own)
	if (isEmpty(plain) || same(plain, ownPlain)) && (name != "" || label == "" || label == ownLabel) {
		return nil
	}
	return labelled(join(values, own), name)
}

// OwnValues returns the values of ctx for Values. ctx was returned by CallContext for a call
// made with parent.
func OwnValues(ctx, parent context.Context) context.Context {
	if c, ok := ctx.(*callContext); ok {
		return c.values
	}
	return valuesOf(parent)
}

// WithValues returns the context ctx of a task with values, which Values returned.
func WithValues(ctx, values context.Context) context.Context { return &callContext{ctx, values, nil} }

// bare returns ctx without the scope of a task.
func bare(ctx context.Context) context.Context {
	switch c := ctx.(type) {
	case *scopeContext:
		return c.Context
	case *LazyPermit:
		return c.Context
	}
	return ctx
}

// valuesOf returns a context with the values of ctx that refers to no context of a call or a
// task. So in a chain of tasks that start each other no context keeps the contexts before it.
// The result is a context of a caller, or of package context around one, with labels, or
// joined; only its method Value is of use.
func valuesOf(ctx context.Context) context.Context {
	for {
		ctx = bare(ctx)
		if c, ok := ctx.(*callContext); ok {
			return c.values
		}
		parent := valuesParent(ctx)
		if parent == nil {
			return ctx
		}
		ctx = parent
	}
}

// untilOf returns the nearest context around ctx that this package has not made.
func untilOf(ctx context.Context) context.Context {
	for {
		ctx = bare(ctx)
		c, ok := ctx.(*callContext)
		switch {
		case !ok:
			return ctx
		case c.until != nil:
			return c.until
		}
		ctx = c.Context
	}
}

// A labels context has the values of plain, and the pprof label of the innermost name.
type labels struct {
	context.Context // plain with the label
	plain           context.Context
	name            string
}

// labelled returns values with the label for name in place of that of another name, unless
// name is empty.
func labelled(values context.Context, name string) context.Context {
	plain, before := unlabelled(values)
	if name == "" || name == before {
		return values
	}
	return &labels{pprof.WithLabels(plain, pprof.Labels("stint", name)), plain, name}
}

// unlabelled returns values without the label of a name, and the name.
func unlabelled(values context.Context) (plain context.Context, name string) {
	if l, ok := values.(*labels); ok {
		return l.plain, l.name
	}
	return values, ""
}

// A joined context has the values of several: of the first one that has a value, that.
type joined struct {
	context.Context                 // one
	others          context.Context // another one, or joined
}

func (j *joined) Value(key any) any {
	if v := j.Context.Value(key); v != nil {
		return v
	}
	return j.others.Value(key)
}

// join returns the values of a, and behind them those of b. Each context is there once, so
// that tasks which start each other in turns have the contexts of all and no more.
func join(a, b context.Context) context.Context {
	plain, name := unlabelled(a)
	more, other := unlabelled(b)
	all := behind(plain, more)
	if same(all, plain) {
		return a
	}
	if _, has := pprof.Label(all, "stint"); name == "" && !has {
		name = other
	}
	return labelled(all, name)
}

// behind returns the contexts joined in a, and behind them those in b that are not in a.
func behind(a, b context.Context) context.Context {
	if j, ok := b.(*joined); ok {
		return behind(behind(a, j.Context), j.others)
	}
	switch {
	case isEmpty(a):
		return b
	case isEmpty(b), isIn(b, a):
		return a
	}
	return appended(a, b)
}

// appended returns the contexts joined in a, and b.
func appended(a, b context.Context) context.Context {
	if j, ok := a.(*joined); ok {
		return &joined{j.Context, appended(j.others, b)}
	}
	return &joined{a, b}
}

// isIn reports whether c is one of the contexts joined in a. Of a type whose values cannot be
// compared, maxAlike are enough: a chain of tasks would add one for each task.
func isIn(c, a context.Context) bool { return has(c, a) || !isComparable(c) && alike(c, a) >= maxAlike }

const maxAlike = 8

func has(c, a context.Context) bool {
	if j, ok := a.(*joined); ok {
		return has(c, j.Context) || has(c, j.others)
	}
	return same(c, a)
}

// alike returns how many of the contexts joined in a are of the type of c.
func alike(c, a context.Context) int {
	if j, ok := a.(*joined); ok {
		return alike(c, j.Context) + alike(c, j.others)
	}
	if reflect.TypeOf(c) == reflect.TypeOf(a) {
		return 1
	}
	return 0
}

// isEmpty reports whether ctx has no values.
func isEmpty(ctx context.Context) bool { return ctx == context.Background() || ctx == context.TODO() }

// same reports whether two contexts are one. Contexts of other packages may not be comparable.
func same(a, b context.Context) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && isComparable(a) && isComparable(b) && a == b
}

// isComparable reports whether ctx may be compared. Most contexts are pointers.
func isComparable(ctx context.Context) bool {
	v := reflect.ValueOf(ctx)
	return v.Kind() == reflect.Pointer || v.Comparable()
}
