package httplimit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
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

// base is a Transport's Base.
type base func(*http.Request) (*http.Response, error)

func (b base) RoundTrip(r *http.Request) (*http.Response, error) { return b(r) }

// answer returns a response with a status and a body of seven bytes.
func answer(status int, header ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: make(http.Header), Body: io.NopCloser(strings.NewReader("content"))}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// request returns one with ctx.
func request(ctx context.Context, url string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		panic(err)
	}
	return r
}

// get sends a request and returns the response, whose body is open.
func get(t *httplimit.Transport) (*http.Response, error) {
	return t.RoundTrip(request(context.Background(), "http://a.example/"))
}

// A request that ends without a body, by an error or a panic returns the permit at once.
func TestTransportReturnsThePermit(t *testing.T) {
	for name, b := range map[string]base{
		"error":   func(*http.Request) (*http.Response, error) { return nil, errBroken },
		"both":    func(*http.Request) (*http.Response, error) { return answer(200), errBroken },
		"neither": func(*http.Request) (*http.Response, error) { return nil, nil },
		"panic":   func(*http.Request) (*http.Response, error) { panic("broken") },
		"Goexit":  func(*http.Request) (*http.Response, error) { runtime.Goexit(); return nil, nil },
		"no body": func(*http.Request) (*http.Response, error) { return &http.Response{Body: http.NoBody}, nil },
		"nil":     func(*http.Request) (*http.Response, error) { return &http.Response{}, nil },
	} {
		l := stint.Limit(1)
		tr := &httplimit.Transport{Limiter: l, Base: b}
		for range 3 {
			var request sync.WaitGroup
			request.Go(func() { testkit.Recovered(func() { get(tr) }) })
			request.Wait()
			testkit.Equal(t, name+": permits held", l.Stats().Running, 0)
		}
	}
}

var errBroken = errors.New("broken connection")

// closes is a request's body that counts how often it is closed.
type closes struct {
	io.Reader
	closed atomic.Int32
}

func (b *closes) Close() error { b.closed.Add(1); return nil }

// Waiting ends with the context. The body of the request is closed, as by all RoundTrippers.
func TestTransportWaitingIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		sent := 0
		tr := &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) { sent++; return answer(200), nil })}
		first, _ := get(tr)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errBroken)
		defer cancel()
		body := &closes{Reader: strings.NewReader("x")}
		req, _ := http.NewRequestWithContext(ctx, "POST", "http://a.example/", body)
		resp, err := tr.RoundTrip(req)
		if resp != nil || err != errBroken || body.closed.Load() != 1 || sent != 1 {
			t.Errorf("got %v and %v, closed %d times, sent %d", resp, err, body.closed.Load(), sent)
		}
		testkit.Equal(t, "time passed", testkit.SinceBubble(), time.Second)
		testkit.Equal(t, "permits held", l.Stats().Running, 1)
		first.Body.Close()
		testkit.Equal(t, "permits held", l.Stats().Running, 0)
	})
}

// The request that Base gets is the caller's but for the context, and the response that the
// caller gets is that of Base, to its own request.
func TestTransportChangesNothing(t *testing.T) {
	req := request(t.Context(), "http://a.example/x")
	resp := answer(200)
	before := *req
	tr := &httplimit.Transport{Limiter: stint.Limit(1), Base: base(func(r *http.Request) (*http.Response, error) {
		resp.Request = r
		if got := *r.WithContext(req.Context()); !reflect.DeepEqual(got, before) {
			t.Errorf("Base got %v, want %v", got, before)
		}
		return resp, nil
	})}
	got, err := tr.RoundTrip(req)
	if got != resp || err != nil {
		t.Errorf("got %v and %v", got, err)
	}
	if got.Request != req || !reflect.DeepEqual(*req, before) {
		t.Errorf("the request is now %v, that of the response %v; want %v", req, got.Request, before)
	}
	text, err := io.ReadAll(got.Body)
	testkit.Equal(t, "body", string(text), "content")
	testkit.Equal(t, "error", err, nil)
}

// Status 429 and 503 lower an adaptive limit, and no other does. Retry-After keeps it down,
// for a minute at most.
func TestTransportOverload(t *testing.T) {
	for _, c := range []struct {
		status int
		header string
		stays  time.Duration // at least; 0: the limit does not fall
	}{
		{200, "", 0}, {404, "9", 0}, {500, "9", 0},
		{429, "", time.Second}, {503, "", time.Second},
		{429, "20", 20 * time.Second}, {503, "20", 20 * time.Second},
		{503, "Sat, 01 Jan 2000 00:00:40 GMT", 29 * time.Second},
		{503, "Sat, 01 Jan 1999 00:00:30 GMT", time.Second},
		{503, "Mon, 01 Jan 2001 00:00:40 GMT|Mon, 01 Jan 2001 00:00:10 GMT", 29 * time.Second},
		{503, "-5", time.Second}, {503, "soon", time.Second},
		{503, "86400", time.Minute}, {503, "99999999999999999999", time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := stint.Auto(1, 20)
			var status atomic.Int32
			status.Store(200)
			tr := &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) {
				time.Sleep(200 * time.Millisecond)
				after, date, _ := strings.Cut(c.header, "|")
				return answer(int(status.Load()), "Retry-After", after, "Date", date), nil
			})}
			defer load(t.Context(), tr, 30)()
			time.Sleep(10 * time.Second)
			status.Store(int32(c.status)) // for two rounds
			time.Sleep(400 * time.Millisecond)
			status.Store(200)
			overload, when := lastOverload(l)
			testkit.Equal(t, fmt.Sprint("the limit fell by ", c), overload > 0, c.stays > 0)
			for l.Current() < overload && time.Since(when) < 2*time.Minute {
				time.Sleep(100 * time.Millisecond)
			}
			if took := time.Since(when); overload > 0 && (took < c.stays || took > c.stays+20*time.Second) {
				t.Errorf("%v: the limit is %d again after %v, want at least %v", c, overload, took, c.stays)
			}
		})
	}
}

// load sends requests from so many clients until stop is called.
func load(ctx context.Context, tr *httplimit.Transport, clients int) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for ctx.Err() == nil {
				if resp, err := tr.RoundTrip(request(ctx, "http://a.example/")); err == nil {
					resp.Body.Close()
				}
			}
		})
	}
	return func() { cancel(); running.Wait() }
}

// lastOverload returns the limit that was too high, or 0, and when.
func lastOverload(l *stint.Limiter) (limit int, when time.Time) {
	when = time.Now()
	for _, change := range l.Stats().History {
		if _, err := fmt.Sscanf(change.Reason, "overload with %d", &limit); err == nil {
			when = change.Time
		}
	}
	return limit, when
}

// What a Base does with the context of the request that it got runs on the permit of that: it
// may ask for a token, or follow a redirect.
func TestTransportNestsInBase(t *testing.T) {
	for _, end := range []func(io.ReadCloser, func()){
		func(b io.ReadCloser, _ func()) { b.Close() },
		func(b io.ReadCloser, _ func()) { io.ReadAll(b) },
		func(_ io.ReadCloser, cancel func()) { cancel() },
	} {
		synctest.Test(t, func(t *testing.T) {
			l := stint.Limit(1)
			tr := &httplimit.Transport{Limiter: l}
			tr.Base = base(func(r *http.Request) (resp *http.Response, err error) {
				if r.URL.Path != "/" {
					return answer(200), nil
				}
				token, err := tr.RoundTrip(request(r.Context(), "http://a.example/token"))
				testkit.Equal(t, "error of the request for a token", err, nil)
				token.Body.Close()
				var other sync.WaitGroup // another goroutine may do it
				other.Go(func() { resp, err = tr.RoundTrip(request(r.Context(), "http://a.example/there")) })
				other.Wait()
				return resp, err
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			resp, err := tr.RoundTrip(request(ctx, "http://a.example/"))
			testkit.Equal(t, "error", err, nil)
			testkit.Equal(t, "permits held", l.Stats().Running, 1)
			end(resp.Body, cancel)
			synctest.Wait()
			testkit.Equal(t, "permits held at the end", l.Stats().Running, 0)
		})
	}
}

// The context that Base got lends nothing when its request has ended: the permit is another's.
func TestTransportContextOutlivesTheRequest(t *testing.T) {
	l := stint.Limit(1)
	var got context.Context
	tr := &httplimit.Transport{Limiter: l, Base: base(func(r *http.Request) (*http.Response, error) { got = r.Context(); return answer(200), nil })}
	try := func(ctx context.Context) error { return l.TryDo(ctx, func(context.Context) error { return nil }) }
	first, _ := get(tr)
	ended := got
	testkit.Equal(t, "error while the request runs", try(ended), nil)
	first.Body.Close()
	second, _ := get(tr)
	defer second.Body.Close()
	testkit.Equal(t, "error after its end", try(ended), stint.ErrBusy)
}

// idle is a Base that counts calls of CloseIdleConnections.
type idle struct {
	base
	closed int
}

func (b *idle) CloseIdleConnections() { b.closed++ }

func TestTransportClosesIdleConnections(t *testing.T) {
	b := new(idle)
	(&http.Client{Transport: &httplimit.Transport{Limiter: stint.Limit(1), Base: b}}).CloseIdleConnections()
	testkit.Equal(t, "calls", b.closed, 1)
}

// A real server has no more requests at once than the limit. Connections are used again, as
// without a Transport.
func TestTransportOfServers(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		var connections atomic.Int32
		var handlers testkit.Gauge
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			testkit.Equal(t, "HTTP/2", r.ProtoMajor == 2, http2)
			handlers.Enter()
			defer handlers.Leave()
			io.Copy(w, r.Body)
			io.WriteString(w, strings.Repeat("content ", 10_000))
		}))
		server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
			if s == http.StateNew {
				connections.Add(1)
			}
		}
		if server.EnableHTTP2 = http2; http2 {
			server.StartTLS()
		} else {
			server.Start()
		}
		defer server.Close()
		l := stint.Limit(3)
		client := server.Client()
		client.Transport = &httplimit.Transport{Limiter: l, Base: client.Transport}
		post := func() {
			resp, err := client.Post(server.URL, "text/plain", strings.NewReader("sent "))
			if err != nil {
				t.Error(err)
				return
			}
			text, err := io.ReadAll(resp.Body)
			if err != nil || len(text) != 80_005 || resp.Body.Close() != nil {
				t.Errorf("%d bytes, %v", len(text), err)
			}
		}
		for range 20 {
			post()
			testkit.Equal(t, "permits held", l.Stats().Running, 0)
		}
		testkit.Equal(t, "connections", connections.Load(), 1)
		var requests sync.WaitGroup
		for range 40 {
			requests.Go(post)
		}
		requests.Wait()
		if n := handlers.Max(); n > 4 { // a handler may end after its client has the last byte
			t.Errorf("%d requests at once, the limit is 3", n)
		}
	}
}
