package servers

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
	"github.com/stint-go/stint/lab/bench"
)

// BenchmarkGateway sends requests to a reverse proxy at random times, the same for all models, whether or not others
// were answered. The backend can serve 400 a second, 20 at once; n requests take (n/20)^1.5 times as long as one.
// Clients send 800 a second and give up after a second. The proxy has no limit, or httplimit.Handler with the best
// limit, if it is known, or with an adaptive one; 40 requests wait. All are in this process. An op is such a sample: three
// seconds, after four that do not count. In time is what was served within 300 ms: 100 of waiting, 50 of being served, and
// as much again. The percentiles are of what was served, or a second if nothing was.
func BenchmarkGateway(b *testing.B) {
	capacity, service := bench.Short(20, 2), bench.Short(50*time.Millisecond, time.Millisecond)
	for name, limit := range map[string]func() *stint.Limiter{
		"model=no-limit":        func() *stint.Limiter { return nil },
		"model=httplimit-Limit": func() *stint.Limiter { return stint.Limit(capacity) },
		"model=httplimit-Auto":  func() *stint.Limiter { return stint.Auto(1, most) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				crowd(b, capacity, service, limit())
			}
		})
	}
}

func crowd(b *testing.B, capacity int, service time.Duration, limit *stint.Limiter) {
	patience, warmup, length := 20*service, 80*service, 60*service
	between := service / time.Duration(2*capacity) // requests
	var gauge bench.Gauge
	var inside atomic.Int64
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gauge.Enter()
		defer gauge.Leave()
		crowd := max(1, float64(inside.Add(1))/float64(capacity))
		defer inside.Add(-1) // before the proxy gets the end of the response
		select {
		case <-time.After(time.Duration(float64(service) * math.Pow(crowd, 1.5))):
			pages(w, r)
		case <-r.Context().Done():
		}
	}))
	defer back.Close()
	inner := &http.Transport{MaxIdleConnsPerHost: int(time.Second / between)}
	proxy := httputil.NewSingleHostReverseProxy(bench.Must(url.Parse(back.URL)))
	proxy.Transport = inner
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) } // no log
	handler := http.Handler(proxy)
	if limit != nil {
		handler = httplimit.Handler(proxy, limit, 2*capacity)
	}
	front := httptest.NewServer(handler)
	defer front.Close()
	get := getter(b, front.Listener.Addr().String(), inner.MaxIdleConnsPerHost, link{})

	var mu sync.Mutex
	var served []time.Duration // how long each took
	var inTime float64
	random, began := rand.New(rand.NewPCG(1, 2)), time.Now()
	var clients sync.WaitGroup
	for at := time.Duration(0); at < warmup+length; at += time.Duration(random.ExpFloat64() * float64(between)) {
		time.Sleep(time.Until(began.Add(at)))
		clients.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			sent := time.Now()
			err := get(ctx)
			took := time.Since(sent)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil && err != errBusy && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded): // a dialer's own
				b.Error(err)
			case err == nil && at >= warmup:
				if served = append(served, took); took <= 6*service {
					inTime++
				}
			}
		})
	}
	clients.Wait()
	b.ReportMetric(0, "ns/op") // it says nothing
	b.ReportMetric(inTime/length.Seconds(), "in-time/s")
	gauge.Report(b)
	if len(served) == 0 {
		served = append(served, patience)
	}
	bench.Latencies(b, served)
}
