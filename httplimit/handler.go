package httplimit

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/limit"
	"github.com/stint-go/stint/internal/option"
)

// Handler returns a handler that calls next with a permit of l for each request. While no
// permit is free, at most waiting requests wait for a permit, first come, first served,
// together with everything else on l. Handler answers further requests with 503 Service
// Unavailable and the header Retry-After: 1. To an adaptive limiter a refused request counts as
// a task that waits. A request whose context has ended, or ends while it waits, gives up
// without calling next. The package comment says which requests notice that their client has
// gone.
//
// next gets a request whose context has the permit: calls on l that next makes with that
// context, and waits for, use the permit. The permit is returned when next returns or panics.
// The panic passes through. The Pattern, path values and MultipartForm that next sets in its
// request are also set in the request that Handler got. next gets the ResponseWriter unchanged:
// Handler does not see the status, so no answer of next counts as overload.
//
// Handler panics if next or l is nil or waiting is negative.
func Handler(next http.Handler, l *stint.Limiter, waiting int) http.Handler {
	if next == nil {
		panic("httplimit: Handler: nil http.Handler")
	}
	if waiting < 0 {
		panic(fmt.Sprintf("httplimit: Handler: waiting is %d, want 0 or more", waiting))
	}
	return &handler{next, within("Handler", l), make(chan struct{}, waiting)}
}

type handler struct {
	next    http.Handler
	limiter *limit.Limiter
	waiting chan struct{} // has one for each request that waits
}

// errRefused is the reason for a request that may not wait.
var errRefused = errors.New("httplimit: too many requests wait")

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	permit, err := h.acquire(r)
	if err != nil { // if the client has gone, nobody reads this
		w.Header().Set("Retry-After", "1")
		http.Error(w, http.StatusText(http.StatusServiceUnavailable), http.StatusServiceUnavailable)
		return
	}
	if r.Trailer == nil && r.ContentLength < 0 {
		r.Trailer = make(http.Header) // net/http adds to it what the client has not declared
	}
	inner := r.WithContext(permit.Context())
	failed := true // unless next returns
	defer func() {
		permit.Release(failed)
		copyBack(r, inner)
	}()
	h.next.ServeHTTP(w, inner)
	failed = false
}

// acquire waits for a permit if the request may wait.
func (h *handler) acquire(r *http.Request) (limit.Admission, error) {
	ctx := r.Context()
	if ctx.Err() != nil {
		return limit.Admission{}, context.Cause(ctx)
	}
	if permit, ok := h.limiter.AdmitFree(ctx); ok {
		return permit, nil
	}
	select {
	case h.waiting <- struct{}{}:
		defer func() { <-h.waiting }()
		readAhead(r)
		return h.limiter.Admit(ctx)
	default:
		h.limiter.Refused()
		return limit.Admission{}, errRefused
	}
}

// within returns what is in l, which was given to the function called caller.
func within(caller string, l *stint.Limiter) *limit.Limiter {
	return option.Collect("httplimit", caller, option.Limiter, []stint.Option{l}).Limiter
}
