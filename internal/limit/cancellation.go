package limit

import (
	"context"
	"reflect"
	"sync/atomic"
	"time"
)

// A contextPackage is what is known of the contexts that package context makes.
type contextPackage struct {
	empty    context.Context // without values: it answers only what package context asks
	wrappers [2]wrapper      // the types that add an end and no values
}

// A wrapper is a type of contexts, with the index of the field that is the context around.
type wrapper struct {
	reflect.Type
	around []int
}

var known atomic.Pointer[contextPackage] // nil until it is needed: importing starts nothing

func packageContext() *contextPackage {
	if p := known.Load(); p != nil {
		return p
	}
	empty, cancel := context.WithCancel(context.Background())
	cancel()
	timed, stop := context.WithTimeout(empty, time.Hour)
	stop()
	known.CompareAndSwap(nil, &contextPackage{empty, [2]wrapper{wrapperOf(empty), wrapperOf(timed)}})
	return known.Load()
}

// isCancellation reports whether package context looks up key, to pass on the end of a
// context or its cause.
func isCancellation(key any) bool { return packageContext().empty.Value(key) != nil }

// wrapperOf returns the type of ctx. That it has an exported field with the context around is
// not part of the API of package context: if a version of Go has another one, the result is
// zero, and such contexts count as ones with values.
func wrapperOf(ctx context.Context) wrapper {
	t := reflect.TypeOf(ctx)
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return wrapper{}
	}
	f, ok := t.Elem().FieldByName("Context")
	if !ok || !f.IsExported() || f.Type != reflect.TypeFor[context.Context]() {
		return wrapper{}
	}
	return wrapper{t, f.Index}
}

// valuesParent returns the context that ctx was made from, if package context has made it by
// WithCancel, WithDeadline or WithTimeout, and otherwise nil. A task may make such a context
// for each task that it starts.
func valuesParent(ctx context.Context) context.Context {
	t, p := reflect.TypeOf(ctx), packageContext()
	for i := range p.wrappers {
		if w := &p.wrappers[i]; w.Type == t {
			parent, _ := reflect.ValueOf(ctx).Elem().FieldByIndex(w.around).Interface().(context.Context)
			return parent
		}
	}
	return nil
}
