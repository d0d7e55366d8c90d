package httplimit

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/internal/limit"
)

// A Transport is an http.RoundTripper that sends a request when it has a permit. It waits for
// the permit, first come, first served, together with everything else on the limiter. If the
// context of the request ends first, RoundTrip returns its cause. Request.Cancel, which is
// deprecated, does not end the wait. The permit is held until the body of the response has been
// read to its end or closed, an error ends the request, or the context of the request ends. So
// callers must close each body, as for any client. A goroutine that sends a second request
// before it has closed the first body needs two permits. After 101 Switching Protocols the body
// is the connection.
//
// To an adaptive limiter, a response with status 429 Too Many Requests or 503 Service
// Unavailable means overload. So does an error of the request, or of reading the body, for
// which the function given to [stint.Overload] returns true. The limit falls if there are many
// of these: see stint.Overload. If such a response has the header Retry-After, the limit stays
// below the one at which it was refused until that time has passed, at most a minute, and requests
// go on. A fixed limit ignores overload and Retry-After. A status from 500 on is a failure, and failures
// do not count as throughput: so a server that fails fast does not raise the limit. Each retry
// counts as a request.
//
// If a request has the context of a task on the same limiter, it uses the task's permit. Base
// gets a copy of the request, whose context has the permit. A request that Base makes on the
// limiter with that context, and waits for, uses the permit, such as a request for a token.
//
// Exactly one of Limiter and PerHost must be set, and neither Retry nor RetryBudget may be
// negative: RoundTrip panics otherwise. The fields must not be changed after the first request.
// A Transport must not be copied. It is safe for concurrent use.
type Transport struct {
	// Base sends the requests. If it is nil, http.DefaultTransport does.
	Base http.RoundTripper
	// Limiter is for the requests to all hosts.
	Limiter *stint.Limiter
	// PerHost makes the limiter for the requests to a host. Its argument is the host of the URL
	// with the port, such as "example.com:443": in lower case, an international name in
	// Punycode, an IP address in its shortest form, and without a dot at the end. The first
	// request to a host calls PerHost, which may be called concurrently for different hosts.
	// Other requests to the host wait for the call until their context ends. A panic of PerHost
	// passes to the caller of RoundTrip, and the next request calls PerHost again. A nil
	// Limiter means no limit. The limiter of a host without requests is kept for ten minutes,
	// if there are no more than 1,000 of them. After it was dropped, the next request calls
	// PerHost again, as [stint.NewLimiters] describes.
	PerHost func(host string) *stint.Limiter

	// Retry is how many times a request may be retried. 0 means that no request is retried. The
	// package comment says which requests are retried, after what, and when.
	Retry int
	// RetryBudget bounds all retries to a share of the requests, in percent, so that retries do
	// not multiply the load of a server that fails. 0 means 20. In a period of ten seconds
	// there are at most as many retries as this share of the requests of the period, and 100
	// more for any budget. A request that finds the budget used up is not retried. All hosts
	// share the budget. A value of 100 times Retry is almost no bound.
	RetryBudget int

	hosts  limit.Keyed[string]
	budget budget
}

// maxRetryAfter is the longest time that a Retry-After keeps the limit down or a retry waiting.
const maxRetryAfter = time.Minute

// once sends req with a permit, once.
func (t *Transport) once(req *http.Request) (*http.Response, error) {
	p, err := t.admit(req)
	if err != nil {
		closeBody(req) // as every RoundTripper must
		return nil, err
	}
	if !p.Limited() {
		return t.base().RoundTrip(req)
	}
	return send(t.base(), req, &permit{Admission: p})
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// admit waits for the permit of req. The error is the cause of the context.
func (t *Transport) admit(req *http.Request) (limit.Admission, error) {
	if (t.Limiter == nil) == (t.PerHost == nil) {
		panic("httplimit: Transport: want exactly one of Limiter and PerHost")
	}
	if t.Limiter != nil {
		return within("Transport", t.Limiter).Admit(req.Context())
	}
	return t.hosts.Admit(req.Context(), nameOf(req.URL), t.ofHost, (*limit.Limiter).Admit)
}

// ofHost returns what PerHost makes for the host with a name, or nil if it has no limit.
func (t *Transport) ofHost(name string) *limit.Limiter {
	if l := t.PerHost(name); l != nil {
		return within("Transport: PerHost", l)
	}
	return nil
}

// send sends req with p, and returns p when the response has been read.
func send(base http.RoundTripper, req *http.Request, p *permit) (resp *http.Response, err error) {
	held := false
	p.failed.Store(true) // unless base returns a response
	defer func() {
		if !held {
			p.release()
		}
	}()
	sent := req.WithContext(p.Context()) // so requests that base sends run on p
	resp, err = base.RoundTrip(sent)
	if err != nil {
		p.Failed(err)
		return resp, err
	}
	if resp == nil { // a Base that breaks the rules, which http.Client reports
		return nil, nil
	}
	if resp.Request == sent {
		resp.Request = req
	}
	refused := resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable
	p.failed.Store(refused || resp.StatusCode >= http.StatusInternalServerError)
	if refused {
		p.Overload(min(retryAfter(resp.Header, time.Now()), maxRetryAfter))
	}
	if !hasBody(req, resp) {
		return resp, nil
	}
	held = true
	resp.Body = p.body(resp.Body)
	p.stop = context.AfterFunc(req.Context(), p.abandon)
	return resp, nil
}

// hasBody reports whether resp may have a body, which ends later.
func hasBody(req *http.Request, resp *http.Response) bool {
	return resp.Body != nil && resp.Body != http.NoBody && req.Method != http.MethodHead &&
		resp.StatusCode != http.StatusNoContent && resp.StatusCode != http.StatusNotModified
}

// retryAfter returns the time that Retry-After says, in seconds or as a date by the server's
// clock: 0 if it says nothing.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value, wait := header.Get("Retry-After"), time.Duration(0)
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		wait = time.Duration(min(seconds, math.MaxInt64/uint64(time.Second))) * time.Second
	} else if date, err := http.ParseTime(value); err == nil {
		if sent, err := http.ParseTime(header.Get("Date")); err == nil {
			now = sent
		}
		wait = date.Sub(now)
	}
	return max(0, wait)
}

func (t *Transport) base() http.RoundTripper {
	if t.Base != nil {
		return t.Base
	}
	return http.DefaultTransport
}

// CloseIdleConnections calls the method of that name of Base, if it has one.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
