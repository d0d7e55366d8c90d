package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httputil"
	"net/url"

	"github.com/stint-go/stint"
)

// gateway forwards requests to a backend. Under a limit, no more than that are forwarded
// at once, first come, first served. Of the others, some wait, and the rest is refused,
// so that those that wait are served in time.
func gateway(backend *url.URL, transport http.RoundTripper, limit *stint.Limiter, waiting int) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(backend) },
		Transport: transport,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.WriteHeader(http.StatusBadGateway) // as by default, without a line in the log
		},
	}
	if limit == nil {
		return proxy
	}
	return handler(proxy, limit, waiting)
}

// handler stands in for httplimit.Handler.
func handler(next http.Handler, limit *stint.Limiter, waiting int) http.Handler {
	places := stint.Limit(waiting)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve := func(context.Context) error { next.ServeHTTP(w, r); return nil }
		if err := limit.TryDo(r.Context(), serve); !errors.Is(err, stint.ErrBusy) {
			return
		}
		admitted := make(chan struct{})
		done := make(chan error, 1)
		err := places.TryDo(r.Context(), func(ctx context.Context) error {
			go func() {
				done <- limit.Do(r.Context(), func(ctx context.Context) error { close(admitted); return serve(ctx) })
			}()
			select {
			case <-admitted:
			case <-r.Context().Done():
			}
			return nil
		})
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		<-done
	})
}
