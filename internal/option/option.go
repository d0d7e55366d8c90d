// Package option reads the options that the public packages take, and says what they mean
// for a call.
package option

import (
	"context"
	"reflect"
	"runtime"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// An Option changes Options. The Option of package stint embeds it, so that users can
// name an option type and cannot make one.
type Option interface {
	apply(*Options)
}

// A Set is the Option that is its only member, if that has no value.
func (s Set) apply(o *Options) { o.Given |= s }

// Func is an Option made of a function.
type Func func(*Options)

func (f Func) apply(o *Options) { f(o) }

// Options are the options of one call.
type Options struct {
	Given Set

	Limiter  *limit.Limiter // of the option Limiter, or nil
	Nested   bool           // Limiter is inherited: see Inherit
	Engine   *work.Engine   // of the option Pool, or nil
	Queue    int            // if it is Given
	Name     string
	OnPanic  func(*task.PanicError)
	Min, Max int              // of the adaptive limit; 0: the default, which only tests change
	Burst    int              // if it is Given
	Overload func(error) bool // or nil

	problem string // with an option, for the panic
}

// Set is a set of options.
type Set uint32

// The options, by the names that they have in package stint.
const (
	Limiter Set = 1 << iota
	Pool
	Queue
	KeepGoing
	Unordered
	Name
	OnPanic
	LowPriority
	Burst
	Overload
)

var names = map[Set]string{
	Limiter: "a Limiter", Pool: "a Pool", Queue: "Queue", KeepGoing: "KeepGoing",
	Unordered: "Unordered", Name: "Name", OnPanic: "OnPanic",
	LowPriority: "LowPriority", Burst: "Burst", Overload: "Overload",
}

// Collect reads the options given to the function called name of package pkg, which
// accepts those in allowed. It panics if an option is invalid, does not apply, or
// contradicts another.
func Collect[O Option](pkg, name string, allowed Set, opts []O) Options {
	if len(opts) == 0 {
		return Options{}
	}
	misused := func(what string) { panic(pkg + ": " + name + ": " + what) }
	var o Options // on the heap, so not before there are options
	for _, opt := range opts {
		switch v := reflect.ValueOf(opt); {
		case !v.IsValid():
			misused("nil Option")
		case v.Kind() == reflect.Pointer && v.IsNil(): // its apply would crash
			o.problem = "nil " + v.Type().Elem().Name()
		default:
			opt.apply(&o)
		}
	}
	extra := o.Given &^ allowed
	switch {
	case o.problem != "":
		misused(o.problem)
	case extra != 0:
		misused(names[extra&-extra] + " does not apply")
	case o.Limiter != nil && o.Engine != nil:
		misused("a Pool and a Limiter: the pool has its own limit")
	}
	return o
}

// Has reports whether the options of s were given.
func (o *Options) Has(s Set) bool { return o.Given&s != 0 }

// Shared returns the limiter that the call shares: that of the Pool, the Limiter, or nil.
func (o *Options) Shared() *limit.Limiter {
	if o.Engine != nil {
		return o.Engine.Limiter()
	}
	return o.Limiter
}

// Scope returns the scope of a call that the task with scope s makes. The tasks of the call have
// low priority if o says so, or if all tasks of the pool have. Scope returns nil for a call
// of normal priority outside of tasks, where s is nil.
func (o *Options) Scope(s *limit.Scope) *limit.Scope {
	l := o.Shared()
	return s.Call(l, l != nil && (o.Has(LowPriority) || o.Engine != nil && o.Engine.Low()))
}

// Config configures an engine for the call, if it needs one: for a pool, or if no pool is given.
func (o *Options) Config() work.Config {
	c := work.Config{Limiter: o.Limiter, Nested: o.Nested, Name: o.Name}
	if o.Limiter == nil && o.Engine == nil {
		c.Auto = o.Search(runtime.GOMAXPROCS(0))
	}
	return c
}

// Source configures the queue of the call, which is made with the context parent.
func (o *Options) Source(parent, ctx context.Context, runner work.Runner, room int) work.SourceConfig {
	return work.SourceConfig{Context: ctx, Room: room, Runner: runner, Parent: o.Scope(limit.ScopeOf(parent))}
}

// defaultQueue is the smallest default length of a queue.
const defaultQueue = 1024

// Room returns the length of the queue, or the default.
func (o *Options) Room(byDefault int) int {
	if o.Has(Queue) {
		return o.Queue
	}
	return byDefault
}

// Backlog is the default length of the queue of a pool, or of a group without a pool: long
// enough for one submitter, which takes turns on the CPU with the workers, to keep them busy.
// A group on a pool shares the queue of the pool.
func (o *Options) Backlog() int {
	if o.Engine != nil {
		return work.SharedRoom
	}
	return max(defaultQueue, o.Limit())
}
