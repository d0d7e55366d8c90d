package cluster

import (
	"context"
	"iter"
	"sync"
)

// From makes a sequence of a source that may block or fail, such as lines that are read from a
// network, as stint.From does. Give both results to one call of MapSeq:
//
//	items, from := cluster.From(read)
//	for v, err := range cluster.MapSeq(ctx, client, task, items, from) {
//
// MapSeq gives source a context, which ends when the run does: with ctx, at the first error,
// when another client cancels the run, or when the range is left. So a source that watches its
// context does not hold up the end of a run. When its context has ended, source should return.
// TaskInfo of that context has the Run.
//
// The first error that the source yields, with a value that is ignored, ends the run as the
// error of a task does. Under KeepGoing it ends the sequence only, and is yielded last. A later
// Resume of such a run does not know of the error.
//
// The sequence may be wrapped by others. When the range has ended, it can be used again. From
// panics if source is nil; the range panics if the sequence is used without the Option, the
// Option without the sequence, or both by another range.
func From[T any](source func(context.Context) iter.Seq2[T, error]) (iter.Seq[T], Option) {
	if source == nil {
		panic("cluster: From: nil function")
	}
	s := new(sequence)
	seq := func(yield func(T) bool) {
		for v, err := range source(s.begin()) {
			if err != nil {
				s.err = err
				return
			}
			if !yield(v) {
				return
			}
		}
	}
	return seq, option("From", func(o *options) { o.from = s })
}

// A sequence connects the two results of From. Only the goroutine that pulls the sequence uses
// begun and err.
type sequence struct {
	mu  sync.Mutex
	ctx context.Context // of the run that pulls the sequence, or nil

	begun bool
	err   error
}

// pull gives the sequence the context of a run, until release.
func (s *sequence) pull(ctx context.Context) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx != nil {
		panic("cluster: From: the sequence is in use by another call")
	}
	s.ctx, s.begun, s.err = ctx, false, nil
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ctx = nil
	}
}

// begin returns the context of the run.
func (s *sequence) begin() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx == nil {
		panic("cluster: From: the sequence was ranged over without its Option")
	}
	s.begun = true
	return s.ctx
}

// checked returns seq, which must be, or contain, the sequence of s.
func checked[T any](s *sequence, seq iter.Seq[T]) iter.Seq[T] {
	if s == nil {
		return seq
	}
	return func(yield func(T) bool) {
		for v := range seq { // a wrapper may have values of its own before
			if !yield(v) {
				return
			}
		}
		if !s.begun {
			panic("cluster: From: the Option was given without its sequence")
		}
	}
}
