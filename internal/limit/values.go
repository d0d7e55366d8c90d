package limit

import (
	"cmp"
	"context"
	"reflect"
	"runtime/pprof"
	"slices"
	"sync/atomic"
)

// nameLabel is the pprof label for names.
const nameLabel = "stint"

// A named context has the pprof label of a name.
type named struct {
	context.Context                 // plain with the label
	plain           context.Context // without it
}

// Named returns ctx with the pprof label for name in place of that of another name, unless name
// is empty.
func Named(ctx context.Context, name string) context.Context {
	if name == "" {
		return ctx
	}
	return &named{pprof.WithLabels(ctx, pprof.Labels(nameLabel, name)), ctx}
}

// nameOf returns the name that ctx has a label for, or "".
func nameOf(ctx context.Context) string {
	name, _ := pprof.Label(ctx, nameLabel)
	return name
}

// A callContext is the context of a call, or of a task that has the values of its submitter.
// Values are looked up in one step past the contexts of all calls and tasks around it: otherwise
// the stacks of nested workers, which look for their labels, would grow with the depth.
type callContext struct {
	context.Context                 // its end, and its scope
	values          context.Context // see valuesOf
}

// Value returns what the values have. The scope, and what package context looks for to pass
// on cancellation, are those of the other context.
func (c *callContext) Value(key any) any {
	if key == (scopeKey{}) || isCancellation(key) {
		return c.Context.Value(key)
	}
	return c.values.Value(key)
}

// canceled is a context without values: it answers only what package context asks. It is nil until
// it is needed: importing starts nothing.
var canceled atomic.Pointer[context.Context]

// isCancellation reports whether package context looks up key, to pass on the end of a
// context or its cause.
func isCancellation(key any) bool {
	c := canceled.Load()
	if c == nil {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		c = &ctx
		canceled.Store(c)
	}
	return (*c).Value(key) != nil
}

// CallContext returns a context for a call made with ctx, with the pprof label for name unless
// that is empty, and the function that ends it.
func CallContext(ctx context.Context, name string) (context.Context, context.CancelCauseFunc) {
	c, cancel := context.WithCancelCause(ctx)
	if name == "" && ScopeOf(ctx) == nil {
		return c, cancel // an allocation less; this is the usual case outside of tasks
	}
	return &callContext{c, Named(valuesOf(ctx), cmp.Or(name, nameOf(ctx)))}, cancel
}

// WithValues returns the context ctx of a task with values, which Values returned.
func WithValues(ctx, values context.Context) context.Context { return &callContext{ctx, values} }

// Values returns the values that a task gets which is submitted with ctx: those of ctx, then
// those of own, the context of the other tasks. name is that of the other tasks; it replaces the
// name of ctx. Values returns nil if these are the values of own.
func Values(ctx, own context.Context, name string) context.Context {
	values, others := valuesOf(ctx), valuesOf(own)
	before, ownName := nameOf(ctx), nameOf(own)
	if (isEmpty(values) || same(values, others)) && (name != "" || before == "" || before == ownName) {
		return nil
	}
	return Named(join(values, others), cmp.Or(name, before, ownName))
}

// valuesOf returns a context with the values of ctx, except its name, that refers to no context of
// a call or a task. So in a chain of tasks that start each other no context keeps the contexts
// before it. The result is a context of a caller, or joined; only its method Value is of use.
func valuesOf(ctx context.Context) context.Context {
	for {
		next := around(ctx)
		if next == nil {
			return ctx
		}
		ctx = next
	}
}

// around returns the context whose values ctx has, if ctx is of this package, or made by
// WithCancel, WithDeadline or WithTimeout of package context: a task may make such a context for
// each task that it starts. Otherwise it returns nil.
func around(ctx context.Context) context.Context {
	switch c := ctx.(type) {
	case *scopeContext:
		return c.Context
	case *named:
		return c.plain
	case *callContext:
		return c.values
	}
	t := reflect.TypeOf(ctx)
	if t.Kind() != reflect.Pointer || t.Elem().PkgPath() != "context" || !slices.Contains(endings, t.Elem().Name()) {
		return nil
	}
	v := reflect.ValueOf(ctx).Elem()
	for v.Kind() == reflect.Struct && v.NumField() > 0 {
		v = v.Field(0)
	}
	if !v.CanInterface() {
		return nil
	}
	parent, _ := v.Interface().(context.Context)
	return parent
}

// endings are the types of package context that add an end and no values. That their first field
// is the context around is not part of its API: if a version of Go has other types, such contexts
// count as ones with values.
var endings = []string{"cancelCtx", "timerCtx"}

// A joined context has the values of several: of the first one that has a value, that.
type joined struct {
	context.Context // the first
	all             []context.Context
}

func (j *joined) Value(key any) any {
	for _, ctx := range j.all {
		if v := ctx.Value(key); v != nil {
			return v
		}
	}
	return nil
}

// join returns the values of a, and behind them those of b. Each context is there once, so
// that tasks which start each other in turns have the contexts of all and no more; but one of a type
// that cannot be compared is there for each of them.
func join(a, b context.Context) context.Context {
	first := partsOf(a)
	all := slices.Clip(first)
	for _, ctx := range partsOf(b) {
		if !slices.ContainsFunc(all, func(other context.Context) bool { return same(ctx, other) }) {
			all = append(all, ctx)
		}
	}
	switch len(all) {
	case len(first):
		return a
	case 1:
		return all[0]
	}
	return &joined{all[0], all}
}

// partsOf returns the contexts that are joined in ctx, if they have values.
func partsOf(ctx context.Context) []context.Context {
	if j, ok := ctx.(*joined); ok {
		return j.all
	}
	if isEmpty(ctx) {
		return nil
	}
	return []context.Context{ctx}
}

// isEmpty reports whether ctx has no values.
func isEmpty(ctx context.Context) bool { return ctx == context.Background() || ctx == context.TODO() }

// same reports whether two contexts are one. Contexts of other packages may not be comparable.
func same(a, b context.Context) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}
