package permits

import (
	"context"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/stint-go/stint"
	"github.com/stint-go/stint/lab/result"
	"golang.org/x/sync/semaphore"
)

// A body is what runs with a permit.
type body = func(context.Context) error

// nothing is the empty body.
func nothing(context.Context) error { return nil }

type (
	do  = func(context.Context, body) error // waits for a permit
	try = func(context.Context, body) bool  // reports whether a permit was free
)

// A model has 8 permits.
type model struct {
	result.Model
	open func() (do, try)
}

// models are all that are compared.
func models() []model {
	return []model{
		{result.Peer.Model("semaphore.Weighted", "x/sync v0.24.0, Acquire and Release"), weighted},
		{result.Floor.Model("semaphore-context", "semaphore.Weighted, and context.WithValue for the function"), weightedContext},
		{result.Peer.Model("channel", "a channel with 8 slots, in a select with ctx.Done"), channel},
		{result.Peer.Model("failsafe-bulkhead", "failsafe-go v0.9.8, bulkhead: AcquirePermit and ReleasePermit"), bulkheads},
		{result.Peer.Model("failsafe-adaptive", "failsafe-go v0.9.8, adaptivelimiter from 8 to 8: AcquirePermit and Record"), adaptive},
		{result.Ours.Model("stint.Limit", "Limit(8): Do and TryDo"), func() (do, try) { return stints(stint.Limit(limit)) }},
		{result.Ours.Model("stint.Auto", "Auto(8, 8): Do and TryDo"), func() (do, try) { return stints(stint.Auto(limit, limit)) }},
	}
}

func stints(l *stint.Limiter) (do, try) {
	return l.Do, func(ctx context.Context, f body) bool { return l.TryDo(ctx, f) != stint.ErrBusy }
}

func weighted() (do, try) {
	s := semaphore.NewWeighted(limit)
	return func(ctx context.Context, f body) error {
			if err := s.Acquire(ctx, 1); err != nil {
				return err
			}
			defer s.Release(1)
			return f(ctx)
		}, func(ctx context.Context, f body) bool {
			if !s.TryAcquire(1) {
				return false
			}
			defer s.Release(1)
			f(ctx)
			return true
		}
}

type holderKey struct{}

func weightedContext() (do, try) {
	s := semaphore.NewWeighted(limit)
	_, tryDo := weighted()
	return func(ctx context.Context, f body) error {
		if err := s.Acquire(ctx, 1); err != nil {
			return err
		}
		defer s.Release(1)
		return f(context.WithValue(ctx, holderKey{}, s))
	}, tryDo
}

func channel() (do, try) {
	slots := make(chan struct{}, limit)
	return func(ctx context.Context, f body) error {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			defer func() { <-slots }()
			return f(ctx)
		}, func(ctx context.Context, f body) bool {
			select {
			case slots <- struct{}{}:
			default:
				return false
			}
			defer func() { <-slots }()
			f(ctx)
			return true
		}
}

func bulkheads() (do, try) {
	b := bulkhead.New[any](limit)
	return func(ctx context.Context, f body) error {
			if err := b.AcquirePermit(ctx); err != nil {
				return err
			}
			defer b.ReleasePermit()
			return f(ctx)
		}, func(ctx context.Context, f body) bool {
			if !b.TryAcquirePermit() {
				return false
			}
			defer b.ReleasePermit()
			f(ctx)
			return true
		}
}

func adaptive() (do, try) {
	l := adaptivelimiter.NewBuilder[any]().WithLimits(limit, limit, limit).Build()
	return func(ctx context.Context, f body) error {
			p, err := l.AcquirePermit(ctx)
			if err != nil {
				return err
			}
			defer p.Record()
			return f(ctx)
		}, func(ctx context.Context, f body) bool {
			p, ok := l.TryAcquirePermit()
			if !ok {
				return false
			}
			defer p.Record()
			f(ctx)
			return true
		}
}
