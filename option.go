package stint

import (
	"context"
	"fmt"
	"runtime"
	"runtime/pprof"
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
)

const (
	loopOptions  = limiterOption | poolOption | keepGoingOption | nameOption
	groupOptions = loopOptions | queueOption
	seqOptions   = groupOptions | unorderedOption
	poolOptions  = limiterOption | queueOption | nameOption | onPanicOption
)

var optionNames = map[optionSet]string{
	limiterOption: "a Limiter", poolOption: "a Pool", queueOption: "Queue", keepGoingOption: "KeepGoing",
	unorderedOption: "Unordered", nameOption: "Name", onPanicOption: "OnPanic",
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
	return o
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
// default there is the limit. EachSeq refills a queue of 64 or more by quarters.
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

// bound returns the Limiter that o asks for.
func (o *options) bound() *Limiter {
	switch {
	case o.pool != nil:
		return o.pool.limiter
	case o.limiter != nil:
		return o.limiter
	}
	return Limit(o.limit())
}

// limit returns the limit that o asks for.
func (o *options) limit() int {
	if o.pool != nil || o.limiter != nil {
		return o.bound().Current()
	}
	return runtime.GOMAXPROCS(0)
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
