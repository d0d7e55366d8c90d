package stint

import (
	"context"
	"iter"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
)

// From makes a sequence of a source that may block or fail, such as a queue of messages that
// is polled. Give both results to one call of EachSeq,
// MapSeq, EachKey or MapKey:
//
//	messages, from := stint.From(consumer.Poll)
//	err := stint.EachSeq(ctx, messages, handle, from)
//
// The call gives source a context, which ends when the call wants no more values: with ctx,
// at the first error or panic of a task, or when the loop over the results is left. So a source
// that watches its context does not hold up the end of the call. The first error that the
// source yields, with a value that is ignored, ends the call as the error of a task does:
// values before it whose tasks have not started are dropped. When its context has ended,
// source should return.
// Under KeepGoing it ends the sequence only, and is the last error of the call.
//
// The sequence may be wrapped by others. When the call has ended, it can be used again.
// From panics if source is nil; the call panics if the sequence is ranged over without the
// Option, the Option is given without the sequence, or another call uses them.
func From[T any](source func(context.Context) iter.Seq2[T, error]) (iter.Seq[T], Option) {
	if source == nil {
		panic("stint: From: nil function")
	}
	s := new(option.Sequence)
	seq := func(yield func(T) bool) {
		ctx := s.Begin()
		if ctx == nil {
			panic("stint: From: the sequence was ranged over without its Option")
		}
		for v, err := range source(ctx) {
			if err != nil {
				s.Fail(err)
				return
			}
			if !yield(v) {
				return
			}
		}
	}
	return seq, option.Func(func(o *option.Options) { o.Given |= option.From; o.From = s })
}

// pull returns seq, connected with t if it was made by From. ctx is the context of the
// goroutine that ranges over the result, once.
func pull[T any](t *tasks, from *option.Sequence, ctx context.Context, seq iter.Seq[T]) iter.Seq[T] {
	if from == nil {
		return seq
	}
	return func(yield func(T) bool) {
		if !from.Pull(ctx) {
			panic("stint: From: the sequence is in use by another call")
		}
		defer from.Release()
		first := true
		for v := range seq {
			if first {
				mustHaveBegun(from)
				first = false
			}
			if !yield(v) {
				return
			}
		}
		mustHaveBegun(from)
		if err := from.Err(); err != nil {
			t.sourceFailed(err)
		}
	}
}

func mustHaveBegun(from *option.Sequence) {
	if !from.Begun() {
		panic("stint: From: the Option was given without its sequence")
	}
}

// sourceFailed records the error of a sequence.
func (t *tasks) sourceFailed(err error) {
	if t.outcome.keepGoing {
		t.outcome.failures.Fail(err, t.outcome.ended())
		return
	}
	t.outcome.fail(err)
	t.executor.Source.Stop()
}

// feederContext returns the context for a goroutine of the call beside the caller's: it may
// use the permit of the caller's task while the caller waits.
func (t *tasks) feederContext() context.Context {
	if t.executor.Parent == nil {
		return t.outcome.ctx
	}
	return limit.TaskContext(t.outcome.ctx, nil, t.executor.Parent, true)
}
