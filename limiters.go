package stint

import (
	"context"

	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
)

// Limiters has a [Limiter] for each key, such as a tenant, a user or a server. Any number of
// keys may be used. The first call for a key makes its Limiter. The Limiter is kept while calls
// use it and for ten minutes after the last call, with the limit that it has found if it is
// adaptive. If there are more than 1,000 unused Limiters, the one that is unused for longest is
// dropped. Limiters starts no goroutine and no timer: later calls drop what is due.
//
// Limiters must be made by NewLimiters. They are safe for concurrent use.
type Limiters[K comparable] struct {
	keyed limit.Keyed[K]
	maker func(K) *limit.Limiter
}

// NewLimiters returns Limiters without keys. The first call for a key calls new, on its own
// goroutine. Other calls for the key wait for new until their context ends. Calls for other
// keys do not wait. A panic of new, and runtime.Goexit, pass through the call; the next call
// for the key calls new again. If new returns nil, the call panics. new must not call Do or
// TryDo for the key.
//
// After a Limiter was dropped, the next call for its key calls new again. Only calls of Do and
// TryDo count as use. So if the Limiter of a key is also used elsewhere, for example as an
// [Option], new must return the same Limiter each time: two Limiters do not know of each other.
// new may return one Limiter for several keys. NewLimiters panics if new is nil.
func NewLimiters[K comparable](new func(key K) *Limiter) *Limiters[K] {
	if new == nil {
		panic("stint: NewLimiters: nil function")
	}
	return &Limiters[K]{maker: func(key K) *limit.Limiter {
		return option.Collect("stint", "NewLimiters: new", option.Limiter, []Option{new(key)}).Limiter
	}}
}

// Do calls f on the caller's goroutine with a permit of the Limiter of key, as [Limiter.Do]
// does. If f calls Do for the same key with the context of f, the inner call uses the permit of
// f. For another key the inner call waits for a permit of that key: always nest two keys in the
// same order, as with mutexes.
func (m *Limiters[K]) Do(ctx context.Context, key K, f func(context.Context) error) error {
	return m.do("Limiters.Do", ctx, key, f, (*limit.Limiter).Admit)
}

// TryDo calls f as Do does if a permit is free and nothing waits for one. Otherwise it returns
// ErrBusy, as [Limiter.TryDo] does. TryDo waits only for new, if the Limiter is being made.
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

// Len returns the number of keys whose Limiter is kept or being made.
func (m *Limiters[K]) Len() int {
	checkMethod("Limiters.Len", m.maker != nil, false)
	return m.keyed.Len()
}
