// Package option reads the options that the public packages take, and opens what the
// tasks of a call run on as the options say.
package option

import (
	"context"
	"reflect"
	"runtime/pprof"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/task"
	"github.com/stint-go/stint/internal/work"
)

// An Option changes what Options says. That of package stint embeds it, so that users
// can name one and make none of their own.
type Option interface {
	apply(*Options)
}

// Func is an Option made of a function.
type Func func(*Options)

func (f Func) apply(o *Options) { f(o) }

// Options is what the options of one call say.
type Options struct {
	Given     Set
	KeepGoing bool
	Unordered bool

	Limiter  *limit.Limiter   // of the option Limiter, or nil
	Tuner    *auto.Controller // of that; nil: it does not search
	Engine   *work.Engine     // of the option Pool, or nil
	Queue    int              // means something if it is Given
	Name     string
	OnPanic  func(*task.PanicError)
	Min, Max int // of the search for a limit; 0: the default, which only tests change
	Burst    int // the same
	Overload func(error) bool

	wrong string // what is wrong with one of them
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
	Burst
	Overload
)

var names = map[Set]string{
	Limiter: "a Limiter", Pool: "a Pool", Queue: "Queue", KeepGoing: "KeepGoing",
	Unordered: "Unordered", Name: "Name", OnPanic: "OnPanic",
	Burst: "Burst", Overload: "Overload",
}

// Collect reads the options given to the function called caller of package pkg, which
// takes those in allowed. It panics with these names if one of them is wrong, does not
// apply or contradicts another.
func Collect[O Option](pkg, caller string, allowed Set, opts []O) Options {
	if len(opts) == 0 {
		return Options{} // which stays on the stack
	}
	return collected(taker{pkg, caller}, allowed, opts)
}

// collected is Collect when there are some.
func collected[O Option](by taker, allowed Set, opts []O) Options {
	var o Options
	for _, opt := range opts {
		switch v := reflect.ValueOf(opt); {
		case !v.IsValid():
			by.misused("nil Option")
		case v.Kind() == reflect.Pointer && v.IsNil(): // apply is promoted from what it embeds, and would crash
			o.wrong = "nil " + v.Type().Elem().Name()
		default:
			opt.apply(&o)
		}
	}
	if o.wrong != "" {
		by.misused(o.wrong)
	}
	if wrong := o.Given &^ allowed; wrong != 0 {
		wrong &= -wrong // the first of them
		by.misused(names[wrong] + " does not apply")
	}
	if o.Limiter != nil && o.Engine != nil {
		by.misused("a Pool and a Limiter: the pool has its own limit")
	}
	o.checkSearch(by)
	return o
}

// A taker is the function that takes options, and its package.
type taker struct{ pkg, caller string }

func (t taker) misused(what string) { panic(t.pkg + ": " + t.caller + ": " + what) }

// checkSearch panics when an option for a limit that finds itself is given beside one
// that does not.
func (o *Options) checkSearch(by taker) {
	l, tuner := o.bound()
	if o.Given&Burst != 0 {
		switch {
		case o.Engine != nil:
			by.misused("a Pool and Burst: the pool has its own limit")
		case l != nil && tuner == nil:
			by.misused("Burst and a Limiter that was made by Limit: it does not search; want one made by Auto")
		case l != nil:
			tuner.Burst(clip(o.Burst))
		}
	}
	if o.Given&Overload != 0 && l != nil && tuner == nil {
		by.misused("Overload and a limit that was made by Limit: it does not back off; want one made by Auto")
	}
}

// bound returns the limiter that o gives, of the option Limiter or of the Pool, or
// nil, and what changes it by itself, or nil.
func (o *Options) bound() (*limit.Limiter, *auto.Controller) {
	if o.Engine != nil {
		return o.Engine.Limiter(), o.Engine.Tuner()
	}
	return o.Limiter, o.Tuner
}

// defaultQueue is how many accepted tasks may wait, at least.
const defaultQueue = 1024

// Room returns the length of the queue, or the default.
func (o *Options) Room(byDefault int) int {
	if o.Given&Queue != 0 {
		return o.Queue
	}
	return byDefault
}

// Backlog is the default length of the queue of a group or a pool: long enough that
// one submitter, which gets the processor in turn with its workers, keeps them busy.
func (o *Options) Backlog() int { return max(defaultQueue, o.Limit()) }

// Labelled returns ctx with the label for o's name, if it has one.
func (o *Options) Labelled(ctx context.Context) context.Context { return Labelled(ctx, o.Name) }

// Labelled returns ctx with the label for a name, if that is one.
func Labelled(ctx context.Context, name string) context.Context {
	if name == "" {
		return ctx
	}
	return pprof.WithLabels(ctx, pprof.Labels("stint", name))
}
