package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/nats-io/nuid"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/option"
)

const (
	mapOptions = option.Limiter | option.Queue | option.KeepGoing | option.Name
	seqOptions = mapOptions | option.Unordered
)

// defaultWindow is how many tasks of a run may be submitted and not consumed, unless
// Queue says otherwise.
const defaultWindow = 1024

// Map runs t for each item on the workers of the cluster, and returns the results in the
// order of the items, as stint.Map does on this machine. It waits for workers: there
// may be none yet.
//
// The first error that comes back cancels the rest, and is the one returned, with the
// results that were there; KeepGoing collects all errors, each as a *stint.ItemError.
// An error has the text of the worker's; errors.Is finds in it what Sentinels names. A
// panic of the function comes back as an error in which errors.As finds a
// *stint.PanicError, with the text of the value and the worker's stack. The end of ctx
// cancels the run, and its cause is returned. To cancel is to take out of the queue what
// no worker has, and to end the contexts of what runs: Map does not wait for that.
//
// While the queue is full Map waits for room. While the server itself is full, in its memory, on
// its disk or in the limits of the account, it waits for half a minute in which nothing of the
// run moves on; then it returns an error in which errors.Is finds ErrFull, with what the server
// says, and the run is over. Log says at once what is waited for. A named run with more results
// than the server can store ends this way.
//
// Options: a Limiter made by Limit: how many tasks with the name of t run at once in the
// whole cluster. It is read when the run begins; of the runs of t under way the
// smallest counts. Queue: how many more than that may be submitted and not consumed; without either
// 1,024. WindowBytes of t bounds that in bytes. Name: the name of the run, by which Resume finds it after the submitter has
// died; a second run of that name is refused with ErrRunExists. Name has the form that
// NewTask wants; the server keeps all results of such a run until it ends. KeepGoing. Map panics if ctx, e or t is nil.
func Map[In, Out any](ctx context.Context, e *Engine, t *Task[In, Out], items []In, opts ...stint.Option) ([]Out, error) {
	check("Map", ctx, e, t)
	rec := newRecord("Map", &t.kind, option.Collect("cluster", "Map", mapOptions, opts))
	rec.Unordered = true // each is put into its place
	out := make([]Out, len(items))
	var errs []error
	err := t.submit(ctx, e, rec, slices.Values(items), func(i int, v Out, err error) bool {
		out[i] = v
		if err != nil {
			errs = append(errs, err)
		}
		return true
	})
	if len(errs) == 0 {
		return out, err
	}
	slices.SortFunc(errs, byIndex)
	if err != nil {
		errs = append(errs, err)
	}
	return out, errors.Join(errs...)
}

// byIndex orders the errors of KeepGoing.
func byIndex(a, b error) int {
	index := func(err error) int {
		if item, ok := errors.AsType[*stint.ItemError](err); ok {
			return item.Index
		}
		return math.MaxInt
	}
	return index(a) - index(b)
}

// MapSeq runs t for every value of seq on the workers of the cluster, and yields the
// results, as stint.MapSeq does on this machine. Nothing is submitted before the result
// is ranged over; each range over it is a run of its own.
//
// The sequence is pulled on a goroutine of its own, at most the Limit and the Queue
// values ahead of what was yielded, without either 1,024, and the WindowBytes of t. The first error cancels the
// rest: the results before it that are there are still yielded, then the error. Under
// KeepGoing each is yielded at its place. When ctx ends, its cause comes last. Leaving
// the range early cancels the run; so does a panic of seq, which is raised again. MapSeq
// waits for seq to return; the workers are told of the end before that. A server that is full
// is waited for as by Map; ErrFull is in the last error.
//
// The options are those of Map, and Unordered: results come as they are there.
func MapSeq[In, Out any](ctx context.Context, e *Engine, t *Task[In, Out], seq iter.Seq[In], opts ...stint.Option) iter.Seq2[Out, error] {
	check("MapSeq", ctx, e, t)
	if seq == nil {
		panic("cluster: MapSeq: nil sequence")
	}
	o := option.Collect("cluster", "MapSeq", seqOptions, opts)
	newRecord("MapSeq", &t.kind, o) // panics now, not when it is ranged over
	return func(yield func(Out, error) bool) {
		on := true
		err := t.submit(ctx, e, newRecord("MapSeq", &t.kind, o), seq, func(_ int, v Out, err error) bool {
			on = yield(v, err)
			return on
		})
		if err != nil && on {
			var zero Out
			yield(zero, err)
		}
	}
}

// Resume goes on with a run whose submitter died: it yields the results from the first
// item on, as MapSeq would have, and ends the run. t is the task that the run was
// made with.
//
// What the submitter had not submitted when it died is not in the engine. If there
// were such items, or that cannot be known, ErrIncomplete is the last that is yielded,
// after the results of all items that were submitted: count them, and run the rest anew. A program that
// begins a run or goes on with it calls Map or MapSeq first, and Resume if that says ErrRunExists. A submitter
// that is alive loses the run, with ErrRunLost, after all its results if it has them: of all who have a
// run one has no error. So does Resume if there is no such run,
// and if it was not given a Name: the results of others are not kept. Leaving the range
// and the end of ctx cancel the run, as for MapSeq; a submitter that is killed may be replaced
// again. To end a run that nobody wants, call Cancel. Resume holds the results that
// came before their turn, which under Unordered and for Map may be all of them. Resume panics if ctx,
// e or t is nil, or run is not the name of a run. A server that is full is waited for as by Map.
func Resume[In, Out any](ctx context.Context, e *Engine, t *Task[In, Out], run string) iter.Seq2[Out, error] {
	check("Resume", ctx, e, t)
	run = token("Resume", run)
	return func(yield func(Out, error) bool) {
		on := true
		err := t.resume(ctx, e, run, func(_ int, v Out, err error) bool {
			on = yield(v, err)
			return on
		})
		if err != nil && on {
			var zero Out
			yield(zero, err)
		}
	}
}

// check panics if one of the arguments of a door is nil.
func check[In, Out any](door string, ctx context.Context, e *Engine, t *Task[In, Out]) {
	switch {
	case ctx == nil:
		panic("cluster: " + door + ": nil Context")
	case e == nil:
		panic("cluster: " + door + ": nil Engine")
	case t == nil:
		panic("cluster: " + door + ": nil Task")
	}
}

// newRecord returns the record of a new run.
func newRecord(door string, k *kind, o option.Options) *record {
	r := &record{
		Task: k.name, Owner: nuid.Next(), Started: time.Now().Round(0),
		KeepGoing: o.KeepGoing, Unordered: o.Unordered, Named: o.Name != "", Submitted: -1,
	}
	if r.Named {
		r.Run = token(door, o.Name)
	}
	r.Key = newKey(r.Run)
	r.Run = nameOf(r.Key)
	if o.Tuner != nil {
		panic(fmt.Sprintf("cluster: %s: a Limiter made by Auto does not apply: each worker finds its own; give it to Serve", door))
	}
	if o.Limiter != nil {
		r.Limit = o.Limiter.Bound()
	}
	r.Window = r.Limit + o.Room(max(defaultWindow-r.Limit, r.Limit))
	if r.Window < 1 {
		r.Window = 1
	}
	return r
}
