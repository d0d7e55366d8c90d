// Package httplimit puts the requests of an HTTP client, or of a server, under the limit of a
// [stint.Limiter].
//
// [Transport] is an http.RoundTripper that waits for a permit before each request:
//
//	client := &http.Client{Transport: &httplimit.Transport{Limiter: stint.Auto(1, 100)}}
//
// [Handler] is an http.Handler that serves as many requests at once as the limiter allows, lets
// some more wait, and refuses the rest with 503 Service Unavailable:
//
//	http.ListenAndServe(":8080", httplimit.Handler(mux, stint.Limit(20), 100))
//
// With an adaptive limiter neither needs a number for the concurrency: see [stint.Auto]. The
// same limiter may also be given to calls, groups and pools of package stint, but not to the
// call whose tasks send the requests.
//
// # The call around a Transport
//
// A call such as [stint.Map], whose tasks send requests by a Transport, needs a limit of its
// own. Do not give it the limiter of the Transport: a request would use the permit of its task,
// the task would keep the permit while a retry waits, and an adaptive limiter would count each
// request twice. Do not leave the call without a limit: it would search for a limit in vain,
// since the Transport bounds the requests.
//
// Give the call a fixed limit, such as Limit(200) around a Transport with Auto(1, 100). Up to
// 100 tasks then wait for a permit, a slow host or a retry while 100 requests run. The limit of
// the call bounds the goroutines and what they hold.
//
// # Retries
//
// A Transport with Retry sends a request again after one of these:
//
//   - status 429 Too Many Requests, 502 Bad Gateway, 503 Service Unavailable or 504 Gateway
//     Timeout
//   - an error of the network before the response: a host that cannot be reached, a failed look-up
//     of its name, a timeout, or a broken connection, except a stream that an HTTP/2 server has reset
//
// Other statuses and errors are returned at once. 500 is the answer of the server itself.
// Errors such as a name that does not exist, a certificate, an alert of TLS, or an unknown
// error of Base are likely to stay.
//
// A request is retried only if it is idempotent, and if it has no body or its GetBody is set,
// as http.NewRequest does for a body in memory. By RFC 9110, section 9.2.2, GET, HEAD, OPTIONS,
// TRACE, PUT and DELETE are idempotent. For package http any request with the header
// Idempotency-Key or X-Idempotency-Key is idempotent too.
//
// Before a retry the Transport closes the body of the response and returns the permit. So that
// the connection can be used again, it first reads up to 16 KiB of the body, for at most 50 ms.
// The wait before a retry is the time of the header Retry-After and a random time. The random
// time is at most 50 ms before the first retry, and at most twice as much before each further
// retry, up to 10 s. Then the retry waits for a permit like any request. If the context ends
// while the retry waits, RoundTrip returns the cause of the context.
//
// RoundTrip returns the last response or error as it is when all retries or the RetryBudget are
// used up, when Retry-After is more than a minute, and when the wait would end after the
// deadline of the context. Client.Timeout sets such a deadline.
//
// # Clients that have gone
//
// A server of package http ends the context of a request when its client has gone. A request
// that waits in a Handler then leaves the queue. With HTTP/1 the server notices this only after
// the body has been read. So a Handler reads the body of a request into memory before the
// request waits, if the request has a Content-Length of at most 64 KiB and no header Expect.
// The next handler reads the body from memory. While the Handler reads a body, the request
// counts among those that wait, and has no permit. ReadTimeout of the server bounds the time to
// read.
//
// An HTTP/1 request with a larger body, with a body of unknown length, or with the header
// Expect: 100-continue stays in the queue until it has a permit, even if its client has gone.
// With HTTP/2 every request leaves the queue.
//
// # Timeouts
//
// A handler made by http.TimeoutHandler returns when the time is up, although the handler
// inside it may still run. If a TimeoutHandler is inside a Handler, the permit is returned too
// early, and more handlers than the limit run. Put it outside:
//
//	http.TimeoutHandler(httplimit.Handler(mux, stint.Limit(20), 100), time.Second, "")
//
// When the time is up, a waiting request then leaves the queue. A handler that ignores its
// context keeps its permit until it returns. A deadline in the context of the request, which
// the handler obeys, may be set outside or inside.
package httplimit
