// Package httplimit puts the requests of an HTTP client, or of a server, under the limit of
// a [stint.Limiter].
//
// [Transport] is an http.RoundTripper that waits for a permit before each request:
//
//	client := &http.Client{Transport: &httplimit.Transport{Limiter: stint.Auto(1, 100)}}
//
// [Handler] is an http.Handler that serves as many requests at once as the limiter allows,
// lets some more wait, and refuses the rest with 503 Service Unavailable:
//
//	http.ListenAndServe(":8080", httplimit.Handler(mux, stint.Limit(20), 100))
//
// With an adaptive limiter neither needs a number for the concurrency: see [stint.Auto]. The
// same limiter may be given to calls, groups and pools of package stint too.
//
// # Clients that have gone
//
// A server of package http ends the context of a request when its client has gone. A request
// that waits in a Handler then leaves the queue. With HTTP/1 the server notices this only after
// the body has been read. So a Handler reads the body of a request before the request joins the
// queue, if the request has a Content-Length of at most 64 KiB and no header Expect, and the
// next handler reads it from memory. Each such request takes that much memory at most, until
// the body has been read from there. While its body comes, a request takes room among those
// that wait, but no permit; ReadTimeout of the server bounds the time.
//
// An HTTP/1 request with a larger body, with a body of unknown length, or with the header
// Expect: 100-continue stays in the queue until it has a permit, even if its client has gone.
// With HTTP/2 every request leaves the queue.
//
// # Timeouts
//
// A handler made by http.TimeoutHandler returns when the time is up, although the handler
// inside it may still run. If it is inside a Handler, the permit is returned too early, and more
// handlers than the limit run. It belongs outside:
//
//	http.TimeoutHandler(httplimit.Handler(mux, stint.Limit(20), 100), time.Second, "")
//
// Requests that wait then leave the queue when the time is up, and a handler that ignores its
// context keeps its permit until it returns. A deadline in the context of the request, which
// the handler obeys, may be set outside or inside.
package httplimit
