package httplimit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	minBackoff = 50 * time.Millisecond // the longest wait before the first retry; it doubles for each further one
	maxBackoff = 10 * time.Second
	maxDrain   = 16 << 10              // bytes of a body that nobody gets, which are read so that the connection is used again
	drainTime  = 50 * time.Millisecond // for which they may take
)

// RoundTrip sends req with a permit, and retries it if Retry allows: see Transport.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.Retry < 0 {
		panic(fmt.Sprintf("httplimit: Transport: Retry is %d, want 0 or more", t.Retry))
	}
	if t.RetryBudget < 0 {
		panic(fmt.Sprintf("httplimit: Transport: RetryBudget is %d, want 0 or more", t.RetryBudget))
	}
	if t.Retry == 0 {
		return t.once(req)
	}
	t.budget.request()
	sent, backoff := req, minBackoff
	for left := t.Retry; ; left-- {
		resp, err := t.once(sent)
		if resp != nil && resp.Request == sent {
			resp.Request = req
		}
		after := time.Duration(0)
		if resp != nil {
			after = retryAfter(resp.Header, time.Now())
		}
		if left == 0 || !replayable(req) || !transient(resp, err) || after > maxRetryAfter {
			return resp, err
		}
		wait := after + rand.N(backoff) // not all at the same time
		again, ok := t.again(req, wait)
		if !ok {
			return resp, err
		}
		drain(resp)
		if err := pause(req.Context(), wait); err != nil {
			closeBody(again)
			return nil, err
		}
		sent, backoff = again, min(2*backoff, maxBackoff)
	}
}

// again returns the request that is sent after wait to retry req. It reports false if there is none: the context of
// req ends before, the body cannot be had again, or the budget is used up.
func (t *Transport) again(req *http.Request, wait time.Duration) (*http.Request, bool) {
	ctx := req.Context()
	deadline, ok := ctx.Deadline()
	if ctx.Err() != nil || ok && time.Until(deadline) <= wait {
		return nil, false
	}
	if !sendsBody(req) {
		return req, t.budget.retry(t.RetryBudget)
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, false
	}
	again := req.WithContext(ctx)
	again.Body = body
	if !t.budget.retry(t.RetryBudget) {
		body.Close()
		return nil, false
	}
	return again, true
}

// pause waits for d, or until ctx ends: then it returns the cause.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func sendsBody(req *http.Request) bool { return req.Body != nil && req.Body != http.NoBody }

// replayable reports whether req may be sent twice: its method is idempotent by RFC 9110, section 9.2.2, or it has a
// header by which package http knows that it is, and its body can be had again.
func replayable(req *http.Request) bool {
	if sendsBody(req) && req.GetBody == nil {
		return false
	}
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	_, key := req.Header["Idempotency-Key"]
	_, xKey := req.Header["X-Idempotency-Key"]
	return key || xKey
}

// transient reports whether the same request may have another outcome soon. An error must be known to be one of the
// network: a certificate that is not valid, or a name that does not exist, stays so.
func transient(resp *http.Response, err error) bool {
	if err == nil {
		switch {
		case resp == nil:
			return false
		case resp.StatusCode == http.StatusTooManyRequests:
			return true
		}
		return resp.StatusCode >= http.StatusBadGateway && resp.StatusCode <= http.StatusGatewayTimeout
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return !dns.IsNotFound
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Op != "remote error" && op.Op != "local error" // alerts of TLS
	}
	other, ok := errors.AsType[net.Error](err)
	return ok && other.Timeout() || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// drain ends a response that nobody gets, and so returns its permit.
func drain(resp *http.Response) {
	if resp != nil && resp.Body != nil {
		late := time.AfterFunc(drainTime, func() { resp.Body.Close() })
		defer late.Stop()
		io.CopyN(io.Discard, resp.Body, maxDrain)
		resp.Body.Close()
	}
}

const (
	budgetPeriod  = 10 * time.Second
	budgetDefault = 20  // percent of the requests of a period
	budgetReserve = 100 // and as many more
	budgetMost    = 1e6 // percent that are counted
)

// A budget bounds the retries of a period by its requests.
type budget struct {
	mu                sync.Mutex
	end               time.Time // of the period
	requests, retries int       // in the period
}

// startLocked starts another period if it is time.
func (b *budget) startLocked() {
	if now := time.Now(); !now.Before(b.end) {
		b.end, b.requests, b.retries = now.Add(budgetPeriod), 0, 0
	}
}

// request counts a request.
func (b *budget) request() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.startLocked()
	b.requests++
}

// retry counts a retry, or reports false if percent of the requests allow none. 0 means the default.
func (b *budget) retry(percent int) bool {
	if percent == 0 {
		percent = budgetDefault
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.startLocked()
	if int64(b.retries) >= budgetReserve+int64(b.requests)*int64(min(percent, budgetMost))/100 {
		return false
	}
	b.retries++
	return true
}
