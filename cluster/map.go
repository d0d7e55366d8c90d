package cluster

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/nats-io/nuid"
	"github.com/stint-go/stint"
)

var (
	mapOptions = []string{"Limit", "Queue", "WindowBytes", "KeepGoing", "Name"}
	seqOptions = append(slices.Clone(mapOptions), "Unordered", "Parts")
)

// Map runs t for each item on the workers of the cluster, and returns the results in the order
// of the items, as stint.Map does. It waits for workers if there are none.
//
// The first error that arrives cancels the run. Map returns it, with the results that have
// arrived. Under KeepGoing Map returns all errors. An error has the text of the worker's error,
// and errors.Is finds the errors that Sentinels names. A panic is returned as an error in which
// errors.As finds a *stint.PanicError, with the value as text and the worker's stack. When ctx
// ends, Map returns its cause. The tasks of a cancelled run leave the queue, and the contexts
// of its running tasks end. Map does not wait for these tasks.
//
// Map waits while the queue is full. It also waits while the server has no room, and returns
// ErrFull when the run has made no progress for the time of FullTimeout. Map panics if ctx, c
// or t is nil. Options: Limit, Queue, WindowBytes, KeepGoing, Name.
func Map[In, Out any](ctx context.Context, c *Client, t *Task[In, Out], items []In, opts ...Option) ([]Out, error) {
	check("Map", ctx, c, t)
	rec := newRecord(&t.kind, collect("Map", opts, mapOptions...))
	rec.Unordered = true // each result is put into its place
	out := make([]Out, len(items))
	var errs []error
	err := t.submit(ctx, c, rec, sequence(slices.Values(items)), func(i int, v Out, err error) bool {
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

// MapSeq runs t for each value of seq on the workers of the cluster, and yields the results in
// order, as stint.MapSeq does. Each range over the result is a run of its own. Nothing is
// submitted before the range.
//
// MapSeq pulls seq on another goroutine. It pulls at most Limit and Queue values ahead of the
// results, within WindowBytes. After the first error it yields the results before the error
// that have arrived, then the error. Under KeepGoing it yields each error in its place. When
// ctx ends it yields the cause last. Leaving the range cancels the run. A panic of seq also
// cancels the run, and MapSeq raises it again. When a run is cancelled, MapSeq tells the
// workers, and then waits for seq to return: use MapFrom if seq may block. MapSeq waits for a
// full server as Map does, and yields ErrFull last.
//
// Options: those of Map, Unordered and Parts. MapSeq panics if ctx, c, t or seq is nil.
func MapSeq[In, Out any](ctx context.Context, c *Client, t *Task[In, Out], seq iter.Seq[In], opts ...Option) iter.Seq2[Out, error] {
	check("MapSeq", ctx, c, t)
	if seq == nil {
		panic("cluster: MapSeq: nil sequence")
	}
	o := collect("MapSeq", opts, seqOptions...)
	return results(func(yield func(int, Out, error) bool) error {
		return t.submit(ctx, c, newRecord(&t.kind, o), sequence(seq), yield)
	})
}

// MapFrom is MapSeq for a source that may block or fail, such as lines that are read from a
// network. source calls emit for each item, and returns when emit returns false. The context of
// source ends when the run does: with ctx, at the first error, when another client cancels the
// run, or when the range is left. A source that watches its context does not hold up the end of
// a run. TaskInfo of this context returns the name of the run.
//
// An error that source returns ends the run as the error of a task does, unless emit has
// returned false. Under KeepGoing the error is yielded last. A later Resume of the run does not
// yield it. emit must not be called concurrently, nor after source has returned.
//
// Options: those of MapSeq. MapFrom panics if ctx, c, t or source is nil.
func MapFrom[In, Out any](ctx context.Context, c *Client, t *Task[In, Out], source func(ctx context.Context, emit func(In) bool) error, opts ...Option) iter.Seq2[Out, error] {
	check("MapFrom", ctx, c, t)
	if source == nil {
		panic("cluster: MapFrom: nil function")
	}
	o := collect("MapFrom", opts, seqOptions...)
	return results(func(yield func(int, Out, error) bool) error {
		return t.submit(ctx, c, newRecord(&t.kind, o), source, yield)
	})
}

// sequence returns seq as a source.
func sequence[In any](seq iter.Seq[In]) func(context.Context, func(In) bool) error {
	return func(_ context.Context, emit func(In) bool) error {
		seq(emit)
		return nil
	}
}

// Resume continues the run with the name run, whose submitter has died. It yields the results
// from the first item on, as MapSeq would have, and then ends the run. t must be the task of
// the run.
//
// The server does not have items that were not submitted. If there were such items, or if this
// is not known, ErrIncomplete is yielded last, after the results of all submitted items. Count
// the results, and start a run for the rest. To start or continue a run, call Map or MapSeq
// with a Name first. If the error is ErrRunExists, call Resume.
//
// Resume yields ErrRunLost if there is no such run. If the submitter is still alive, its call
// returns ErrRunLost. Leaving the range, or the end of ctx, cancels the run. When a program
// that resumes a run is killed, the run may be resumed again. Resume holds the results that
// arrive before their turn. It waits for a full server as Map does. It panics if ctx, c or t is
// nil, or if Name would panic for run.
func Resume[In, Out any](ctx context.Context, c *Client, t *Task[In, Out], run string) iter.Seq2[Out, error] {
	check("Resume", ctx, c, t)
	run = token("Resume", run)
	return results(func(yield func(int, Out, error) bool) error { return t.resume(ctx, c, run, yield) })
}

// results returns the sequence of what run yields, and its error last.
func results[Out any](run func(yield func(int, Out, error) bool) error) iter.Seq2[Out, error] {
	return func(yield func(Out, error) bool) {
		more := true
		err := run(func(_ int, v Out, err error) bool {
			more = yield(v, err)
			return more
		})
		if err != nil && more {
			var zero Out
			yield(zero, err)
		}
	}
}

// check panics if an argument of a call is nil.
func check[In, Out any](call string, ctx context.Context, c *Client, t *Task[In, Out]) {
	switch {
	case ctx == nil:
		panic("cluster: " + call + ": nil Context")
	case c == nil:
		panic("cluster: " + call + ": nil Client")
	case t == nil:
		panic("cluster: " + call + ": nil Task")
	}
}

// newRecord returns the record of a new run.
func newRecord(k *kind, o *options) *record {
	r := &record{
		Task: k.name, Owner: nuid.Next(), Started: time.Now().Round(0),
		Limit: o.limit, Window: o.window(), windowBytes: int64(o.windowBytes), parts: o.parts,
		KeepGoing: o.keepGoing, Unordered: o.unordered, Named: o.name != "", Submitted: -1,
	}
	r.Key = newKey(tokenOf(o.name))
	r.Run = nameOf(r.Key)
	return r
}
