package main

import (
	"context"
	"iter"

	"github.com/stint-go/stint"
)

// mapKey stands in for stint.MapKey: a task waits for the one before it with its key.
func mapKey[T any, K comparable, R any](ctx context.Context, seq iter.Seq[T], key func(T) K, f func(context.Context, T) (R, error), opts ...stint.Option) iter.Seq2[R, error] {
	type link struct {
		done chan struct{}
		ok   bool
	}
	type item struct {
		v          T
		prev, this *link
	}
	last := map[K]*link{}
	items := func(yield func(item) bool) {
		for v := range seq {
			it := item{v, last[key(v)], &link{done: make(chan struct{})}}
			last[key(v)] = it.this
			if !yield(it) {
				return
			}
		}
	}
	return stint.MapSeq(ctx, items, func(ctx context.Context, it item) (r R, err error) {
		defer close(it.this.done)
		if it.prev != nil {
			select {
			case <-it.prev.done:
			case <-ctx.Done():
				return r, context.Cause(ctx)
			}
			if !it.prev.ok {
				<-ctx.Done()
				return r, context.Cause(ctx)
			}
		}
		r, err = f(ctx, it.v)
		it.this.ok = err == nil
		return r, err
	}, opts...)
}
