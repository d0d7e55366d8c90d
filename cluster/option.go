package cluster

import (
	"fmt"
	"slices"

	"github.com/stint-go/stint"
)

// An Option changes one call of Map, MapSeq or Serve. If two options contradict each other, the
// later one counts. A call panics if an option is nil or does not apply to it.
type Option func(*options)

// options holds the options of one call.
type options struct {
	given       []string // their names
	limit       int      // of Limit; 0: none
	limiter     *stint.Limiter
	queue       int
	windowBytes int
	keepGoing   bool
	unordered   bool
	name        string
	parts       func(Part)
}

// option returns the Option with that name, which calls set.
func option(name string, set func(*options)) Option {
	return func(o *options) {
		o.given = append(o.given, name)
		set(o)
	}
}

// collect reads the options of a call, which takes those in allowed.
func collect(caller string, opts []Option, allowed ...string) *options {
	o := new(options)
	for _, opt := range opts {
		if opt == nil {
			panic("cluster: " + caller + ": nil Option")
		}
		opt(o)
	}
	for _, name := range o.given {
		if !slices.Contains(allowed, name) {
			panic("cluster: " + caller + ": " + name + " does not apply")
		}
	}
	return o
}

// Limit bounds how many tasks run concurrently. Given to Serve it bounds the tasks of this
// worker. Given to Map or MapSeq it bounds the tasks with the name of t in the whole cluster.
// The Limit is read when the run starts. If several runs of t are in progress, the smallest of
// their Limits counts. Limit panics if n is less than 1.
func Limit(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("cluster: Limit(%d): want 1 or more", n))
	}
	return option("Limit", func(o *options) { o.limit, o.limiter = n, nil })
}

// Limiter makes Serve run its tasks under l, such as one made by stint.Auto. Do not share l
// with other work: a slot holds its permit even while it waits for a task. Limiter panics
// if l is nil.
func Limiter(l *stint.Limiter) Option {
	if l == nil {
		panic("cluster: Limiter: nil Limiter")
	}
	return option("Limiter", func(o *options) { o.limit, o.limiter = 0, l })
}

// Queue sets how many tasks of a run may be submitted and not delivered, beyond its Limit.
// Without Queue, 1,024 tasks in all may be submitted and not delivered, or twice the Limit if
// that is more. Queue panics if n is negative.
func Queue(n int) Option {
	if n < 0 {
		panic(fmt.Sprintf("cluster: Queue(%d): want 0 or more", n))
	}
	return option("Queue", func(o *options) { o.queue = n })
}

// WindowBytes bounds the bytes of a run that are in progress, as Limit and Queue bound its
// tasks. The bytes are encoded items whose results have not arrived, and encoded results that
// were not delivered. A missing result counts as much as the largest result that has arrived.
// Before the first result it counts as the server's maximum message size, by default a
// mebibyte. While the sum is n or more, no item is pulled, unless nothing is in progress. So an
// item, and results larger than earlier results, may exceed the bound. The default is no bound.
//
// WindowBytes does not count decoded values, the results that Map collects, the texts of
// errors, what the server keeps of runs with a Name, and what Resume holds. It panics if n is
// less than 1.
func WindowBytes(n int) Option {
	if n < 1 {
		panic(fmt.Sprintf("cluster: WindowBytes(%d): want 1 or more", n))
	}
	return option("WindowBytes", func(o *options) { o.windowBytes = n })
}

// KeepGoing makes a run continue after errors. Each error is then a *stint.ItemError. Map
// returns all errors joined, in the order of the items. MapSeq yields each error in its place.
func KeepGoing() Option { return option("KeepGoing", func(o *options) { o.keepGoing = true }) }

// Unordered makes MapSeq yield results in the order in which they arrive.
func Unordered() Option { return option("Unordered", func(o *options) { o.unordered = true }) }

// Name names a run, so that Resume finds it after its submitter has died. The server keeps the
// results of such a run until it ends. Map and MapSeq return ErrRunExists if there already is a
// run of that name. Given to Serve, Name labels the worker's goroutines in profiles. An empty
// name is no name. Name panics if s is not empty and NewTask would refuse it.
func Name(s string) Option {
	if s != "" {
		token("Name", s)
	}
	return option("Name", func(o *options) { o.name = s })
}

// window returns how many tasks of a run may be submitted and not delivered.
func (o *options) window() int {
	const byDefault = 1024
	if slices.Contains(o.given, "Queue") {
		return max(1, o.limit+o.queue)
	}
	return max(byDefault, 2*o.limit)
}
