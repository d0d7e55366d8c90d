// Package option reads the options that the public packages take, and says what they mean
// for a call.
package option

import (
	"cmp"
	"context"
	"reflect"
	"runtime"
	"time"

	"github.com/stint-go/stint/internal/auto"
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

	Limiter  *limit.Limiter // of the option Limiter, or inherited, or nil; with a Pool, nil if it is that of the pool
	Engine   *work.Engine   // of the option Pool, or nil
	Queue    int            // if it is Given
	Name     string
	OnPanic  func(*task.PanicError)
	Min, Max int              // of the adaptive limit; 0: the default, which only tests change
	Burst    int              // if it is Given
	Overload func(error) bool // or nil
	Hedge    time.Duration    // the delay, if HedgeAfter is given
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
	HedgeAfter
)

var names = map[Set]string{
	Limiter: "a Limiter", Pool: "a Pool", Queue: "Queue", KeepGoing: "KeepGoing",
	Unordered: "Unordered", Name: "Name", OnPanic: "OnPanic",
	LowPriority: "LowPriority", Burst: "Burst", Overload: "Overload",
	HedgeAfter: "HedgeAfter",
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
			misused("nil " + v.Type().Elem().Name())
		default:
			opt.apply(&o)
		}
	}
	extra := o.Given &^ allowed
	switch {
	case o.Given&Limiter != 0 && o.Limiter == nil:
		misused("Limiter was not made by Limit or Auto")
	case o.Given&Pool != 0 && o.Engine == nil:
		misused("Pool was not made by NewPool")
	case extra != 0:
		misused(names[extra&-extra] + " does not apply")
	}
	if o.Engine != nil && o.Limiter == o.Engine.Limiter() {
		o.Limiter = nil // a task would need two permits of it
	}
	return o
}

// Has reports whether the options of s were given.
func (o *Options) Has(s Set) bool { return o.Given&s != 0 }

// Shared returns the limiter that the call shares: the Limiter, that of the Pool, or nil.
func (o *Options) Shared() *limit.Limiter {
	if o.Limiter == nil && o.Engine != nil {
		return o.Engine.Limiter()
	}
	return o.Limiter
}

// Both reports whether the call has a Pool, and a Limiter beside that of the pool.
func (o *Options) Both() bool { return o.Engine != nil && o.Limiter != nil }

// Inherit makes a call that the task with scope s makes, and that is given neither a Limiter
// nor a Pool, share the limit of the call that started the task, if that was given neither.
func (o *Options) Inherit(s *limit.Scope) {
	if o.Shared() == nil {
		o.Limiter = s.Inherited()
	}
}

// Nested reports whether the Limiter is inherited.
func (o *Options) Nested() bool { return o.Limiter != nil && o.Given&Limiter == 0 }

// Limit returns the limit that o asks for, or that an adaptive limit starts with.
func (o *Options) Limit() int {
	if l := o.Shared(); l != nil {
		return l.Bound()
	}
	return o.Search(runtime.GOMAXPROCS(0)).Start()
}

// Scope returns the scope of a call that the task with scope s makes. The tasks of the call have
// low priority if o says so, or if all tasks of the pool have. Scope returns nil for a call
// of normal priority outside of tasks, where s is nil.
func (o *Options) Scope(s *limit.Scope) *limit.Scope {
	l := o.Shared()
	low := l != nil && o.Has(LowPriority)
	if e := o.Engine; e != nil {
		low = low || e.Low() || s.Low(e.Limiter())
	}
	return s.Call(l, low)
}

// Config configures an engine for the call, if it needs one: for a pool, or if no pool is given.
func (o *Options) Config() work.Config {
	c := work.Config{Limiter: o.Limiter, Nested: o.Nested(), Name: o.Name}
	if o.Limiter == nil && o.Engine == nil {
		c.Auto = o.Search(runtime.GOMAXPROCS(0))
	}
	return c
}

// Source configures the queue of the call, which is made with the context parent.
func (o *Options) Source(parent, ctx context.Context, runner work.Runner, room int) work.SourceConfig {
	c := work.SourceConfig{Context: ctx, Room: room, Runner: runner, Parent: o.Scope(limit.ScopeOf(parent))}
	if o.Both() {
		c.Limiter = o.Limiter
	}
	return c
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
// A group on a pool shares the queue of the pool, unless it has a limit of its own: tasks that may
// not run take no room from those that may.
func (o *Options) Backlog() int {
	if o.Engine != nil && !o.Both() {
		return work.SharedRoom
	}
	return max(defaultQueue, o.Limit())
}

// The defaults of an adaptive limit.
const (
	defaultBurst = 42
	defaultMax   = 256
)

// Search configures an adaptive limit between min and max, on so many CPUs.
func Search(min, max, procs int) auto.Config {
	burst := defaultBurst
	if burst <= procs { // one more shows whether the tasks compute
		burst = procs + 1
	}
	return auto.Config{Min: Clip(min), Max: Clip(max), Burst: burst, Procs: procs}
}

// Clip returns n, or at most a number of tasks that no process reaches, which can be
// multiplied in an int of 32 bits.
func Clip(n int) int { return min(n, 1<<24) }

// Search configures the adaptive limit of a call without a Limiter, on so many CPUs.
func (o *Options) Search(procs int) auto.Config {
	return Search(cmp.Or(o.Min, 1), cmp.Or(o.Max, max(defaultMax, procs)), procs)
}
