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
package httplimit
