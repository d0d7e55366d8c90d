package httplimit_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/internal/testkit"
)

// sleeps is a handler that takes one second.
var sleeps = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { time.Sleep(time.Second) })

// serve sends a request with ctx to h.
func serve(ctx context.Context, h http.Handler) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil).WithContext(ctx))
	return w
}

// The limit is exact, so is the number of requests that wait, and they are served in the
// order of their arrival.
func TestHandlerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g testkit.Gauge
		served := make(map[int]time.Duration) // by arrival
		var mu sync.Mutex
		h := httplimit.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			g.Hold(time.Second)
			mu.Lock()
			defer mu.Unlock()
			served[r.Context().Value(arrival{}).(int)] = testkit.SinceBubble().Truncate(time.Second)
		}), stint.Limit(3), 5)
		var requests sync.WaitGroup
		for i := range 20 {
			requests.Go(func() {
				w := serve(context.WithValue(t.Context(), arrival{}, i), h)
				want := http.StatusOK
				if i >= 8 {
					want = http.StatusServiceUnavailable
					testkit.Equal(t, "Retry-After", w.Header().Get("Retry-After"), "1")
					testkit.Equal(t, "time of the refusal", testkit.SinceBubble(), time.Duration(i))
				}
				testkit.Equal(t, "status", w.Code, want)
			})
			time.Sleep(time.Nanosecond)
		}
		requests.Wait()
		testkit.Equal(t, "requests at once", g.Max(), 3)
		for i := range 8 {
			testkit.Equal(t, "time of an answer", served[i], time.Duration(1+i/3)*time.Second)
		}
	})
}

type arrival struct{}

// During a pause requests wait where they may, and are refused or given up otherwise.
func TestPause(t *testing.T) {
	for _, set := range []func(l *stint.Limiter, n int){(*stint.Limiter).Set, func(l *stint.Limiter, n int) { l.SetBounds(n, n) }} {
		synctest.Test(t, func(t *testing.T) { testPause(t, set) })
	}
}

func testPause(t *testing.T, set func(l *stint.Limiter, n int)) {
	l := stint.Limit(1)
	set(l, 0)
	time.AfterFunc(time.Hour, func() { set(l, 1) })
	h := httplimit.Handler(sleeps, l, 1)
	tr := &httplimit.Transport{Limiter: l, Base: base(func(*http.Request) (*http.Response, error) { return nil, errBroken })}
	var waits sync.WaitGroup
	waits.Go(func() { testkit.Equal(t, "status", serve(t.Context(), h).Code, http.StatusOK) })
	synctest.Wait()
	testkit.Equal(t, "status of a second request", serve(t.Context(), h).Code, http.StatusServiceUnavailable)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := tr.RoundTrip(request(ctx, "http://a.example/"))
	testkit.Equal(t, "error", err, context.DeadlineExceeded)
	_, err = get(tr)
	testkit.Equal(t, "error after the pause", err, errBroken)
	testkit.Equal(t, "time passed", testkit.SinceBubble(), time.Hour+time.Second)
	waits.Wait()
}

// A request whose client has gone leaves the queue, and its room goes to another one.
func TestHandlerClientHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := stint.Limit(1)
		h := httplimit.Handler(sleeps, l, 1)
		var requests sync.WaitGroup
		defer requests.Wait()
		status := func(ctx context.Context, want int) {
			requests.Go(func() { testkit.Equal(t, "status", serve(ctx, h).Code, want) })
			synctest.Wait()
		}
		ctx, leave := context.WithCancel(t.Context())
		status(t.Context(), http.StatusOK)
		status(ctx, http.StatusServiceUnavailable)         // waits, and gives up
		status(t.Context(), http.StatusServiceUnavailable) // refused
		leave()
		synctest.Wait()
		testkit.Equal(t, "requests that wait", l.Stats().Waiting, 0)
		status(t.Context(), http.StatusOK)
		testkit.Equal(t, "requests that wait", l.Stats().Waiting, 1)
	})
}

// A request whose client has gone is not served, even if a permit is free, and is no refusal.
func TestHandlerClientHadGone(t *testing.T) {
	l := stint.Limit(1)
	h := httplimit.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("served") }), l, 1)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	testkit.Equal(t, "status", serve(ctx, h).Code, http.StatusServiceUnavailable)
	testkit.Equal(t, "refused", l.Stats().Refused, 0)
}

// A panic and Goexit of the handler pass through, and return the permit.
func TestHandlerPanics(t *testing.T) {
	l := stint.Limit(1)
	for want, leave := range map[any]func(){
		http.ErrAbortHandler: func() { panic(http.ErrAbortHandler) },
		"Goexit":             runtime.Goexit,
	} {
		h := httplimit.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { leave() }), l, 0)
		for range 3 {
			var raised any = "Goexit"
			var request sync.WaitGroup
			request.Go(func() { raised = testkit.Recovered(func() { serve(t.Context(), h) }) })
			request.Wait()
			testkit.Equal(t, "raised", raised, want)
			testkit.Equal(t, "permits held", l.Stats().Running, 0)
		}
	}
}

// The handler gets the ResponseWriter itself, which it may hijack or flush.
func TestHandlerPassesTheWriterOn(t *testing.T) {
	var got http.ResponseWriter
	h := httplimit.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { got = w }), stint.Limit(1), 0)
	w := serve(t.Context(), h)
	testkit.Equal(t, "the writer", got, http.ResponseWriter(w))
}

// A server of HTTP/2 ends the context of a request whose client has gone, also while its body
// has not been read.
func TestHandlerOfAServerOfHTTP2(t *testing.T) {
	l, free := held(t)
	server := httptest.NewUnstartedServer(httplimit.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("served") }), l, 1))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	ctx, leave := context.WithCancel(t.Context())
	body, never := io.Pipe()
	defer never.Close()
	var client sync.WaitGroup
	client.Go(func() {
		req, _ := http.NewRequestWithContext(ctx, "POST", server.URL, body)
		if _, err := server.Client().Do(req); err == nil {
			t.Error("no error")
		}
	})
	for l.Stats().Waiting == 0 {
		runtime.Gosched()
	}
	leave()
	for l.Stats().Waiting > 0 {
		runtime.Gosched()
	}
	client.Wait()
	free()
}

func TestBadArguments(t *testing.T) {
	l := stint.Limit(1)
	neither, unmade := new(httplimit.Transport), &httplimit.Transport{Limiter: new(stint.Limiter)}
	unmadeHost := &httplimit.Transport{PerHost: func(string) *stint.Limiter { return new(stint.Limiter) }}
	for want, call := range map[string]func(){
		"httplimit: Handler: nil http.Handler":                                 func() { httplimit.Handler(nil, l, 1) },
		"httplimit: Handler: nil Limiter":                                      func() { httplimit.Handler(sleeps, nil, 1) },
		"httplimit: Handler: Limiter was not made by Limit or Auto":            func() { httplimit.Handler(sleeps, new(stint.Limiter), 1) },
		"httplimit: Handler: waiting is -1, want 0 or more":                    func() { httplimit.Handler(sleeps, l, -1) },
		"httplimit: Transport: want exactly one of Limiter and PerHost":        func() { get(neither) },
		"httplimit: Transport: Limiter was not made by Limit or Auto":          func() { get(unmade) },
		"httplimit: Transport: PerHost: Limiter was not made by Limit or Auto": func() { get(unmadeHost) },
	} {
		for range 2 { // also when asked again
			testkit.Equal(t, "panic", testkit.Recovered(call), any(want))
		}
	}
}
