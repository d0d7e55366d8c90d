// Package debug shows the state of the pools and limiters of a running program: as a web page,
// as text, as JSON, and to Prometheus.
//
// A [Handler] serves the pools and limiters that were added to it, under any path:
//
//	state := new(debug.Handler)
//	state.AddPool("mail", pool)
//	state.AddLimiter("mail", limiter)
//	http.Handle("/debug/stint", state)
//	go func() { log.Print(http.ListenAndServe("localhost:8080", nil)) }()
//
// In a browser, http://localhost:8080/debug/stint is a page that updates itself each second.
// curl prints text. To see why a pool has its limit, give the pool a Limiter and add both: the
// page then shows the pool with the name of the Limiter.
//
// The page is not for the public: it names parts of the program, shows how busy they are, and
// has no authentication. Mount it, like pprof, where only operators have access. No request
// changes the state of the program.
//
// # Formats
//
// The query parameter format selects html, text, json or prometheus. Without it, the header
// Accept decides, so a Prometheus server needs no parameter.
//
// The metrics have the names of the numbers of [stint.PoolStats] and [stint.LimiterStats].
// Metrics of pools have a label pool: stint_pool_limit, stint_pool_completed_total and so on.
// Metrics of limiters have a label limiter: stint_limiter_limit and so on. Each of the pools
// that share a limiter shows the whole limit. To add up limits, use the metrics of limiters.
// There are no durations: a task would have to read the clock, which takes as long as an empty
// task.
//
// The JSON is an object with three members. "time" is the time of the request. "pools" has the
// PoolStats of each pool by its name, with "limiter" and "throughput". "limiters" has the
// LimiterStats of each limiter by its name. Unknown values are left out. "pools" and "limiters"
// are always present.
//
// The throughput of a pool is the number of tasks finished per second since an earlier request
// of any client, at least half a second ago. All clients share the earlier request, so
// monitoring should compute its own rate from time and completed. The throughput of a limiter
// is the last that its search measured.
//
// # Costs
//
// Nothing runs between requests: there is no goroutine and no timer. A request calls Stats once
// for each pool and limiter, which locks it briefly. A Handler keeps pools and limiters
// reachable until they are removed. No other package of the library imports this package, so
// programs without it do not link net/http.
package debug
