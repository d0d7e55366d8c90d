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
// same limiter may be given to calls, groups and pools of package stint too, but not to the call
// whose tasks send the requests.
//
// # The call around a Transport
//
// A call such as [stint.Map], whose tasks send requests by a Transport, needs a limit of its own.
// On the limiter of the Transport a request runs on the permit of its task: both count, so an
// adaptive limiter takes each request for two finished tasks, and the task keeps the permit
// while a retry waits. Without a limit the call searches for one as well, for nothing, since the
// Transport bounds the requests. Give the call a fixed limit, larger than that of the Transport
// by the number of requests that wait for a permit, a slow host or a retry, such as Limit(200)
// around Auto(1, 100): it bounds the goroutines and what they hold.
//
// # Retries
//
// A Transport with Retry sends a request again after status 429 Too Many Requests, 502 Bad
// Gateway, 503 Service Unavailable or 504 Gateway Timeout, and after an error of the network
// before the response: the host could not be reached or its name not be looked up, a timeout, or
// a connection that broke, though not a stream that an HTTP/2 server has reset. Other errors are returned at once, as they are likely to stay: a name
// that does not exist, a certificate, an alert of TLS, an error of a Base of your own that is none
// of these. So are other statuses: 500 is the answer of the server itself.
//
// A request is retried if it is idempotent and has no body, or its GetBody is set, as
// http.NewRequest does for a body in memory. Idempotent are, by RFC 9110, section 9.2.2, GET, HEAD,
// OPTIONS, TRACE, PUT and DELETE, and for package http any request with the header
// Idempotency-Key or X-Idempotency-Key.
//
// Before a retry the body of the response is closed, and the permit is returned. Up to 16 KiB of the
// body are read before, for at most 50 ms, so that the connection can be used again. The wait is
// Retry-After and a backoff: a random time of at most 50 ms before the first retry, and of at most
// twice as much before each further one, up to 10 s.
// Then the retry waits for a permit like any request. If the context ends while it waits,
// RoundTrip returns its cause.
//
// RoundTrip returns the last response or error as it is when all retries or the RetryBudget are
// used up, when Retry-After is more than a minute, and when the deadline of the context, also that
// of Client.Timeout, is before the end of the wait.
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
