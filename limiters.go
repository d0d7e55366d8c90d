package stint

import (
	"context"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
)

// Limiters has a [Limiter] for each key, such as a tenant, a user or a server. Any number of keys
// may be used: a Limiter is made by the first call for its key, is never dropped while a call uses
// it, and is kept for ten minutes after the last one, with the limit that it has found if it is
// adaptive. If more than 1,000 are kept, the one whose last call is the longest ago is dropped.
// Limiters starts no goroutine and no timer: later calls drop what is due.
//
// Limiters must be made by NewLimiters. They are safe for concurrent use.
type Limiters[K comparable] struct {
	keyed limit.Keyed[K]
	maker func(K) *limit.Limiter
}

// NewLimiters returns Limiters without keys. The first call for a key calls new, on its own
// goroutine. Other calls for the key wait for new until their context ends; calls for other keys
// do not wait. A panic of new, and runtime.Goexit, pass through the call, and the next call for
// the key calls new again. If new returns nil, the call panics. new must not call Do or TryDo for
// the key.
//
// When a Limiter was dropped, the next call for its key calls new again. Only calls of Do and
// TryDo count as use. So if the Limiter of a key is used elsewhere too, for example as an
// [Option], new must return the same one each time: two Limiters do not know of each other. new
// may return one Limiter for several keys. NewLimiters panics if new is nil.
func NewLimiters[K comparable](new func(key K) *Limiter) *Limiters[K] {
	if new == nil {
		panic("stint: NewLimiters: nil function")
	}
	return &Limiters[K]{maker: func(key K) *limit.Limiter {
		return option.Collect("stint", "NewLimiters: new", option.Limiter, []Option{new(key)}).Limiter
	}}
}

// Do calls f on the caller's goroutine with a permit of the Limiter of key, as [Limiter.Do] does.
// So a call for the same key in f, with the context of f, runs on the permit of f; for another
// key it waits for a second permit, and may deadlock if others nest the keys in another order.
func (m *Limiters[K]) Do(ctx context.Context, key K, f func(context.Context) error) error {
	return m.do("Limiters.Do", ctx, key, f, (*limit.Limiter).Admit)
}

// TryDo calls f as Do does if a permit is free and nothing waits for one. Otherwise it returns
// ErrBusy, as [Limiter.TryDo] does. It waits for nothing but new.
func (m *Limiters[K]) TryDo(ctx context.Context, key K, f func(context.Context) error) error {
	return m.do("Limiters.TryDo", ctx, key, f, admitFree)
}

// do calls f with the permit that admit takes.
func (m *Limiters[K]) do(caller string, ctx context.Context, key K, f func(context.Context) error, admit func(*limit.Limiter, context.Context) (limit.Admission, error)) error {
	checkArgs(caller, ctx, f == nil)
	checkMethod(caller, m.maker != nil, false)
	a, err := m.keyed.Admit(ctx, key, m.maker, admit)
	if err != nil {
		return err
	}
	return run(a, f)
}

// Len returns the number of keys that have a Limiter, or wait for one.
func (m *Limiters[K]) Len() int {
	checkMethod("Limiters.Len", m.maker != nil, false)
	return m.keyed.Len()
}
