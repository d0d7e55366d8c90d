// Package debug shows the state of the pools and limiters of a running program: as a web
// page, as text, as JSON, and to Prometheus.
//
// A [Handler] serves the pools and limiters that were added to it, under any path. Here it
// is next to net/http/pprof, on an address that only the machine itself can reach:
//
//	package main
//
//	import (
//		"log"
//		"net/http"
//		"net/http/pprof"
//
//		"github.com/stint-go/stint"
//		"github.com/stint-go/stint/debug"
//	)
//
//	func main() {
//		server := stint.Auto(1, 100)
//		pool := stint.NewPool(server, stint.Name("mail"))
//		defer pool.Close()
//
//		state := new(debug.Handler)
//		state.AddPool("mail", pool)
//		state.AddLimiter("mail", server)
//
//		mux := http.NewServeMux()
//		mux.Handle("/debug/stint", state)
//		mux.HandleFunc("/debug/pprof/", pprof.Index)
//		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
//		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
//		go func() { log.Print(http.ListenAndServe("localhost:8080", mux)) }()
//
//		// The work of the program.
//	}
//
// In a browser, http://localhost:8080/debug/stint is a page that updates itself each second.
// Text and JSON are printed by
//
//	curl localhost:8080/debug/stint
//	curl 'localhost:8080/debug/stint?format=json'
//
// To see why a pool has its limit, make its limiter yourself, and add both: the pool is shown
// with the name of the limiter. Profiles show a pool under the name that it got from stint.Name.
//
// The page is not for the public: it names parts of the program, shows how busy they are,
// and has no authentication. Mount it, like pprof, where only operators have access. No
// request changes the state of the program.
//
// # Formats
//
// The query parameter format selects html, text, json or prometheus. Without it, the header
// Accept decides; the default is text. A Prometheus server needs no parameter:
//
//	scrape_configs: [{job_name: stint, metrics_path: /debug/stint, static_configs: [{targets: ["localhost:8080"]}]}]
//
// The metrics are stint_pool_limit, _running, _queued, _waiting, _workers and _idle_workers,
// and the counters stint_pool_completed_total, _failed_total, _dropped_total and
// _refused_total, with a label pool; stint_limiter_limit, _running and _waiting, and the
// counters stint_limiter_completed_total, _failed_total, _waited_total, _refused_total and
// _backoffs_total, with a label limiter. Pools that share a
// limiter each have its limit: add up the limits of limiters instead. There are no durations: a task would have to read
// the clock, which takes as long as an empty task. Measure in the task, where it matters.
//
// The page loads no other file, host or font. It stops updating while its tab is hidden, and
// shows when the program does not answer. Without scripts, the browser reloads it every few
// seconds.
//
// The JSON is an object:
//
//	time      when it was taken, as in RFC 3339
//	pools     an object with a member for each pool, by its name in the Handler: name,
//	          limiter, limit, running, queued, waiting, workers, idle, completed, failed,
//	          dropped, refused, and throughput
//	limiters  an object with a member for each limiter, by its name in the Handler: limit,
//	          running, waiting, completed, failed, waited, refused, backoffs, phase,
//	          reason, throughput, and history, a list of objects with time, limit, throughput and reason
//
// [stint.PoolStats], [stint.LimiterStats] and [stint.LimitChange] document the values; the name
// in a pool is the one given by stint.Name. Unknown values are left out. pools and limiters
// are always present.
//
// # Throughput
//
// The throughput of a pool is the number of tasks finished per second since an earlier
// request of any client, at least half a second ago. It is unknown at the first request and
// for half a second after it. Clients share these samples, so monitoring should compute its
// own rate from time and completed. The throughput of a limiter is the last that its search
// measured; that of a change is the last before the change. The chart of a limiter shows these
// and, where a limit lasts longer, the tasks finished per second between requests for the page.
//
// # Costs
//
// Nothing runs between requests: there is no goroutine and no timer. A request calls Stats
// once for each pool and limiter, which locks it briefly. A Handler keeps up to 121 samples of
// each, for the lines of tasks per second, and keeps pools and limiters reachable until they are removed. No other
// package of the library imports this one, so programs without it do not link net/http.
package debug
