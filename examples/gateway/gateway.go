package main

import (
	"net/http"
	"net/http/httputil"
	"net/url"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/httplimit"
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
	return httplimit.Handler(proxy, limit, waiting)
}
