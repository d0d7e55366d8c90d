package stint

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"

	"github.com/stint-go/stint/internal/auto"
	"github.com/stint-go/stint/internal/work"
)

// An Option changes how a call, a group or a pool runs its tasks. *Limiter and
// *Pool are Options themselves; each function that makes another says where it
// applies. Given twice, the later one counts. An option that does not apply to
// the function it is given to makes that function panic, and so do a Limiter and a
// Pool together: a pool has its own limit.
type Option interface {
	apply(*options)
}

// options is what the options of one call say.
type options struct {
	given     optionSet
	limiter   *Limiter
	pool      *Pool
	queue     int
	keepGoing bool
	unordered bool
	name      string
	onPanic   func(*PanicError)
	min, max  int // of the search for a limit; 0: the default
	burst     int // the same
	overload  func(error) bool
	wrong     string // what is wrong with one of them
}

// optionSet is a set of options.
type optionSet uint

const (
	limiterOption optionSet = 1 << iota
	poolOption
	queueOption
	keepGoingOption
	unorderedOption
	nameOption
	onPanicOption
	burstOption
	overloadOption
)

const (
	loopOptions  = limiterOption | poolOption | keepGoingOption | nameOption | burstOption | overloadOption
	groupOptions = loopOptions | queueOption
	seqOptions   = groupOptions | unorderedOption
	poolOptions  = limiterOption | queueOption | nameOption | onPanicOption | burstOption
)

var optionNames = map[optionSet]string{
	limiterOption: "a Limiter", poolOption: "a Pool", queueOption: "Queue", keepGoingOption: "KeepGoing",
	unorderedOption: "Unordered", nameOption: "Name", onPanicOption: "OnPanic",
	burstOption: "Burst", overloadOption: "Overload",
}

// collect reads the options given to the function called caller, which takes
// those in allowed.
func collect(caller string, allowed optionSet, opts []Option) options {
	if len(opts) == 0 {
		return options{} // which stays on the stack
	}
	return collected(caller, allowed, opts)
}

func collected(caller string, allowed optionSet, opts []Option) options {
	var o options
	for _, opt := range opts {
		if opt == nil {
			panic("stint: " + caller + ": nil Option")
		}
		opt.apply(&o)
	}
	if o.wrong != "" {
		panic("stint: " + caller + ": " + o.wrong)
	}
	if wrong := o.given &^ allowed; wrong != 0 {
		wrong &= -wrong // the first of them
		panic("stint: " + caller + ": " + optionNames[wrong] + " does not apply")
	}
	if o.given&limiterOption != 0 && o.given&poolOption != 0 {
		panic("stint: " + caller + ": a Pool and a Limiter: the pool has its own limit")
	}
	o.checkSearch(caller)
	return o
}

// checkSearch panics when an option for a limit that finds itself is given beside one
// that does not.
func (o *options) checkSearch(caller string) {
	if o.given&burstOption != 0 {
		switch {
		case o.pool != nil:
			panic("stint: " + caller + ": a Pool and Burst: the pool has its own limit")
		case o.limiter != nil && o.limiter.tuner == nil:
			panic("stint: " + caller + ": Burst and a Limiter that was made by Limit: it does not search; want one made by Auto")
		case o.limiter != nil:
			o.limiter.tuner.Burst(o.burst)
		}
	}
	if l := o.bound(); o.given&overloadOption != 0 && l != nil && l.tuner == nil {
		panic("stint: " + caller + ": Overload and a limit that was made by Limit: it does not back off; want one made by Auto")
	}
}

// option is an Option made of a function.
type option func(*options)

func (f option) apply(o *options) { f(o) }

// Queue sets how many tasks may wait for a worker after they have been accepted;
// the default is 1,024, or the limit at that time if it is larger. Under Queue(0) a
// task is accepted only when it can start at once.
//
// A submitter that finds the queue full waits: for one place in a queue shorter than
// 64, for a quarter of the places in a longer one, so that one wake-up serves many
// tasks. With a long queue and tasks that take minutes it therefore waits long,
// though there is some room. Where tasks wait for what their submitter does next, or
// submitting has a deadline, give a queue shorter than 64.
//
// For EachSeq and MapSeq it is how many items are pulled beyond those being
// worked on; MapSeq counts results that were not yet consumed among them. The
// default there is the limit, for EachSeq as it is at the start of the call. EachSeq
// refills a queue of 64 or more by quarters.
//
// It applies to NewGroup, NewResults, NewPool, EachSeq and MapSeq, and panics if
// n is negative.
func Queue(n int) Option {
	if n < 0 {
		panic(fmt.Sprintf("stint: Queue(%d): want 0 or more", n))
	}
	return option(func(o *options) { o.given |= queueOption; o.queue = n })
}

// KeepGoing makes an error of one task leave the others alone. All errors are
// returned, each as an *ItemError, joined in the order of the items or of
// starting. A panic still cancels the rest, and so does the end of the context,
// whose cause is then the last of the joined errors if anything was left undone,
// or stands alone if no task failed.
//
// It applies to everything but NewPool.
func KeepGoing() Option {
	return option(func(o *options) { o.given |= keepGoingOption; o.keepGoing = true })
}

// Unordered makes MapSeq yield results as they come instead of in input order, so
// that a slow item holds nothing up.
func Unordered() Option {
	return option(func(o *options) { o.given |= unorderedOption; o.unordered = true })
}

// Name gives a name to a call, a group or a pool: in Stats, in execution traces
// as the region of each task, and in profiles as the pprof label "stint" of its
// workers, which tasks find in their context too. The label is set once a worker;
// a caller that works too has it during the call.
func Name(s string) Option {
	return option(func(o *options) { o.given |= nameOption; o.name = s })
}

// Burst sets how many tasks may begin before any has ended and anything is known, under
// a limit that finds itself: a third of them at once, or as many as there are
// processors and one more if that is more, and three for each of the first that end;
// all of them when half a second has passed. The default is 36, and more if there are
// as many processors.
//
// A server that breaks down under so many wants fewer. Where it can take many, and a
// call has some hundred items that take long, a larger Burst saves the time in which
// the limit rises.
//
// It applies to everything. Given beside a Limiter made by Auto it holds for all who
// share that, unless the search has begun. Burst panics if n is less than 1, and the function that it is given to
// panics beside a Pool, or a Limiter made by Limit. After Limiter.Set it has no effect.
func Burst(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("stint: Burst(%d): want 1 or more", n))
	}
	return option(func(o *options) { o.given |= burstOption; o.burst = n })
}

// Overload says which errors of tasks mean that too many run at once, as the refusal
// of a server that is busy. When is returns true for one of twenty tasks or more, a
// limit that finds itself falls to seven tenths, but only once for those that ran at the
// same time. It does not rise to where that happened for a second, and for twice as long,
// up to ten, if it happens again then. Tasks that end so do not count as throughput.
//
// For the call, an error is an error: it cancels the rest, unless KeepGoing is given. A
// task that tries again by itself is judged by what it returns in the end. is is called
// once for each error of a task, by several goroutines at once; a panic in it counts as
// one of the task. Overload panics if is is nil; the
// function that it is given to panics beside a Limiter made by Limit, or a Pool that
// has one; after Limiter.Set it has no effect. It does not apply to NewPool, whose tasks return no errors; give it to what
// runs on the pool.
func Overload(is func(error) bool) Option {
	if is == nil {
		panic("stint: Overload: nil function")
	}
	return option(func(o *options) { o.given |= overloadOption; o.overload = is })
}

// OnPanic sets what a Pool does about a panic in a task given to Pool.Go,
// GoContext or TryGo, where nobody waits: it calls f on the task's goroutine, and
// the worker goes on afterwards. Without it such a panic crashes the process, as
// in a goroutine; so does a panic of f. The task counts as running until f
// returns. It panics if f is nil.
func OnPanic(f func(*PanicError)) Option {
	if f == nil {
		panic("stint: OnPanic: nil function")
	}
	return option(func(o *options) { o.given |= onPanicOption; o.onPanic = f })
}

// bound returns the Limiter that o gives, or nil.
func (o *options) bound() *Limiter {
	if o.pool != nil {
		return o.pool.limiter
	}
	return o.limiter
}

// bind sets the limit of an engine that is made for o.
func (o *options) bind(c *work.Config) {
	if o.limiter != nil {
		c.Limiter, c.Tuner = o.limiter.core, o.limiter.tuner
	} else {
		c.Auto = o.search(runtime.GOMAXPROCS(0))
	}
}

// search returns what the search for a limit keeps to when o gives none, on so many
// processors.
func (o *options) search(procs int) auto.Config {
	return config(cmp.Or(o.min, 1), cmp.Or(o.max, max(defaultMax, procs)), o.burst, procs)
}

// limit returns the limit that o asks for, or the one to begin with.
func (o *options) limit() int {
	if l := o.bound(); l != nil {
		return l.Current()
	}
	return o.search(runtime.GOMAXPROCS(0)).Start()
}

// backlog is the default length of the queue of a group or a pool: long enough that
// one submitter, which gets the processor in turn with its workers, keeps them busy.
func (o *options) backlog() int { return max(defaultQueue, o.limit()) }

// room returns the length of the queue, or the default.
func (o *options) room(byDefault int) int {
	if o.given&queueOption != 0 {
		return o.queue
	}
	return byDefault
}

// labelled returns ctx with the label for o's name, if it has one.
func (o *options) labelled(ctx context.Context) context.Context {
	if o.name == "" {
		return ctx
	}
	return pprof.WithLabels(ctx, pprof.Labels("stint", o.name))
}

// check panics when an argument that must not be nil is. f is the caller's
// function, as whether it is nil.
func check(caller string, ctx context.Context, nilFunc bool) {
	if ctx == nil {
		panic("stint: " + caller + ": nil context")
	}
	if nilFunc {
		panic("stint: " + caller + ": nil function")
	}
}
