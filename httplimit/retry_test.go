package httplimit_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/internal/testkit"
)

// Requests that may be sent twice are retried after outcomes that may not last, each time with
// the whole body, and the last outcome is returned.
func TestRetryWhat(t *testing.T) {
	reset := &net.OpError{Op: "read", Err: errBroken}
	for _, c := range []struct {
		method, header, body string
		status               int
		err                  error
		retried              bool
	}{
		{"GET", "", "", 429, nil, true}, {"HEAD", "", "", 502, nil, true}, {"", "", "", 503, nil, true}, {"OPTIONS", "", "", 504, nil, true},
		{"GET", "", "", 200, nil, false}, {"GET", "", "", 404, nil, false}, {"GET", "", "", 500, nil, false}, {"GET", "", "", 501, nil, false}, {"GET", "", "", 505, nil, false},
		{"GET", "", "", 0, reset, true}, {"GET", "", "", 0, fmt.Errorf("wrapped: %w", io.ErrUnexpectedEOF), true}, {"GET", "", "", 0, io.EOF, true},
		{"GET", "", "", 0, context.DeadlineExceeded, true}, {"GET", "", "", 0, &net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}}, true},
		{"GET", "", "", 0, &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}, false},
		{"GET", "", "", 0, &net.OpError{Op: "remote error", Err: errBroken}, false},
		{"GET", "", "", 0, x509.UnknownAuthorityError{}, false}, {"GET", "", "", 0, errBroken, false}, {"GET", "", "", 0, nil, false},
		{"PUT", "", "sent", 503, nil, true}, {"POST", "", "sent", 0, reset, false}, {"PATCH", "", "sent", 503, nil, false}, {"DELETE", "", "", 503, nil, true},
		{"POST", "Idempotency-Key", "sent", 503, nil, true}, {"POST", "X-Idempotency-Key", "sent", 0, reset, true}, {"GET", "", "sent", 503, nil, true},
		{"GET", "", "sent once", 503, nil, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			req, _ := http.NewRequest(c.method, "http://a.example/", strings.NewReader(c.body))
			req.Header.Set(c.header, "")
			if c.body == "sent once" {
				req.GetBody = nil
			}
			sent := 0
			tr := &httplimit.Transport{Limiter: stint.Limit(1), Retry: 2, Base: base(func(r *http.Request) (*http.Response, error) {
				sent++
				body, _ := io.ReadAll(r.Body)
				testkit.Equal(t, "body", string(body), c.body)
				if c.status == 0 {
					return nil, c.err
				}
				resp := answer(c.status)
				resp.Request = r
				return resp, nil
			})}
			resp, err := tr.RoundTrip(req)
			testkit.Equal(t, fmt.Sprint("times sent ", c), sent, map[bool]int{false: 1, true: 3}[c.retried])
			testkit.Equal(t, "error", err, c.err)
			if resp != nil {
				text, _ := io.ReadAll(resp.Body)
				testkit.Equal(t, "content", string(text), "content")
				testkit.Equal(t, "request of the response is the caller's", resp.Request == req, true)
			}
		})
	}
}

// A retry waits for Retry-After and for the backoff without a permit. RoundTrip does not begin a
// wait that the context or the server makes vain, and gives up one whose context ends. It closes
// what it has opened.
func TestRetryWaits(t *testing.T) {
	for _, c := range []struct {
		after       string
		deadline    time.Duration // of the context
		cancelled   time.Duration // when the context is
		least, most time.Duration // until RoundTrip returns
		sent        int
		gaveUp      bool
	}{
		{after: "", least: time.Second, most: (1000 + 50 + 100 + 200) * time.Millisecond, sent: 4},
		{after: "20", least: 61 * time.Second, most: 61*time.Second + 350*time.Millisecond, sent: 4},
		{after: "Sat, 01 Jan 2000 00:00:41 GMT", least: 41 * time.Second, most: 42 * time.Second, sent: 4},
		{after: "61", least: time.Second, most: time.Second, sent: 1},
		{after: "99999999999999999999", least: time.Second, most: time.Second, sent: 1},
		{after: "20", deadline: 30 * time.Second, least: 21 * time.Second, most: 22 * time.Second, sent: 2},
		{after: "20", deadline: 21 * time.Second, least: time.Second, most: time.Second, sent: 1},
		{after: "20", cancelled: 10 * time.Second, least: 10 * time.Second, most: 10 * time.Second, sent: 1, gaveUp: true},
		{after: "20", cancelled: time.Second / 2, least: time.Second, most: time.Second, sent: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			if c.cancelled > 0 {
				time.AfterFunc(c.cancelled, func() { cancel(errBroken) })
			}
			if c.deadline > 0 {
				var stop func()
				ctx, stop = context.WithTimeout(ctx, c.deadline)
				defer stop()
			}
			l := stint.Limit(1)
			var opened []*closes
			open := func() *closes {
				opened = append(opened, &closes{Reader: strings.NewReader("content")})
				return opened[len(opened)-1]
			}
			sent := 0
			tr := &httplimit.Transport{PerHost: func(string) *stint.Limiter { return l }, Retry: 3, Base: base(func(r *http.Request) (*http.Response, error) {
				if sent++; sent == 1 {
					time.Sleep(time.Second) // a wait of 20 s ends after the 21st
				}
				io.Copy(io.Discard, r.Body)
				r.Body.Close()
				resp := answer(503, "Retry-After", c.after)
				resp.Body = open()
				return resp, nil
			})}
			req := request(ctx, "http://a.example/")
			req.Body, req.GetBody = open(), func() (io.ReadCloser, error) { return open(), nil }
			time.AfterFunc(9*time.Second, func() { testkit.Equal(t, "permits held in the wait", l.Stats().Running, 0) })
			resp, err := tr.RoundTrip(req)
			if took := testkit.SinceBubble(); took < c.least || took > c.most {
				t.Errorf("%+v: took %v", c, took)
			}
			testkit.Equal(t, fmt.Sprintf("times sent %+v", c), sent, c.sent)
			testkit.Equal(t, "gave up with the cause", err == errBroken && resp == nil, c.gaveUp)
			if resp != nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			for i, b := range opened {
				testkit.Equal(t, fmt.Sprint("times closed ", i), b.closed.Load(), 1)
				if rest, _ := io.ReadAll(b); len(rest) > 0 && !c.gaveUp {
					t.Errorf("%+v: body %d has not been read to its end", c, i)
				}
			}
			time.Sleep(time.Minute)
		})
	}
}

// A body that does not end, of a response that nobody gets, holds neither the permit nor the retry.
func TestRetryAfterABodyWithoutAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, sent := stint.Limit(1), 0
		tr := &httplimit.Transport{Limiter: l, Retry: 1, Base: base(func(*http.Request) (*http.Response, error) {
			if sent++; sent == 2 {
				return answer(200), nil
			}
			resp := answer(503)
			resp.Body, _ = io.Pipe()
			return resp, nil
		})}
		resp, err := get(tr)
		testkit.Equal(t, "error", err, nil)
		testkit.Equal(t, "status", resp.StatusCode, 200)
		if d := testkit.SinceBubble(); d > time.Second {
			t.Errorf("took %v", d)
		}
		resp.Body.Close()
		testkit.Equal(t, "permits held", l.Stats().Running, 0)
	})
}

// In an outage the retries of a period are a share of its requests, and 100 more, exactly.
func TestRetryBudget(t *testing.T) {
	for _, c := range []struct{ percent, want int }{{0, 100 + 40}, {7, 100 + 14}, {300, 600}, {math.MaxInt, 600}} {
		synctest.Test(t, func(t *testing.T) {
			var sent atomic.Int32
			tr := &httplimit.Transport{Limiter: stint.Limit(50), Retry: 3, RetryBudget: c.percent, Base: base(func(*http.Request) (*http.Response, error) {
				sent.Add(1)
				return answer(503), nil
			})}
			for range 2 { // periods
				sent.Store(0)
				var requests sync.WaitGroup
				for range 200 {
					requests.Go(func() {
						resp, _ := get(tr)
						resp.Body.Close()
					})
				}
				requests.Wait()
				testkit.Equal(t, fmt.Sprint("retries with ", c.percent), int(sent.Load())-200, c.want)
				time.Sleep(10 * time.Second)
			}
		})
	}
}

// An adaptive limit with retries answers all requests to a server that refuses the twenty-first at
// once, in at most 1.5 times as long as the best fixed limit.
func TestRetryFindsTheLimit(t *testing.T) {
	for _, task := range []time.Duration{30 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			var running testkit.Gauge
			tr := &httplimit.Transport{Limiter: stint.Auto(1, 100), Retry: 5, Base: base(func(*http.Request) (*http.Response, error) {
				running.Enter()
				defer running.Leave()
				if running.Now() > 20 {
					time.Sleep(time.Millisecond)
					return answer(429), nil
				}
				time.Sleep(task)
				return answer(200), nil
			})}
			err := stint.Range(t.Context(), 300, func(ctx context.Context, _ int) error {
				resp, err := tr.RoundTrip(request(ctx, "http://a.example/"))
				if err == nil && resp.StatusCode != 200 {
					err = fmt.Errorf("status %d", resp.StatusCode)
				}
				resp.Body.Close()
				return err
			}, stint.Limit(200))
			testkit.Equal(t, "error", err, nil)
			if took, best := testkit.SinceBubble(), 300/20*task; took > best*3/2 {
				t.Errorf("took %v, the best limit takes %v", took, best)
			}
		})
	}
}

func TestRetryBadValues(t *testing.T) {
	for want, tr := range map[string]*httplimit.Transport{
		"httplimit: Transport: Retry is -1, want 0 or more":       {Retry: -1},
		"httplimit: Transport: RetryBudget is -2, want 0 or more": {RetryBudget: -2},
	} {
		tr.Limiter = stint.Limit(1)
		testkit.Equal[any](t, "panic", testkit.Recovered(func() { get(tr) }), want)
	}
}
