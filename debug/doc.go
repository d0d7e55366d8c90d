// Package debug shows the state of the pools and limiters of a running program: as a
// page in a browser, and as text or JSON on the command line.
//
// A [Handler] serves what the program has added to it, under any path. Beside
// net/http/pprof, on an address that only the machine itself can reach:
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
//		go func() { log.Print(http.ListenAndServe("localhost:6060", mux)) }()
//
//		// The work of the program.
//	}
//
// Then http://localhost:6060/debug/stint in a browser is a page that brings itself up
// to date each second, and
//
//	curl localhost:6060/debug/stint
//	curl 'localhost:6060/debug/stint?format=json'
//
// print the same as text and as JSON. A pool does not tell its limiter: to see why the
// limit of one is what it is, make the limiter, and add both. A pool that has its name
// by stint.Name too goes by it in profiles.
//
// It is not for the public. It names parts of the program and tells how busy they are,
// and it asks nobody for a password: mount it where only those who run the program get
// to, as pprof. It changes nothing, whatever is asked of it.
//
// # Formats
//
// The parameter format of the address says which: html, text or json. Without it the
// answer is in the one that the header Accept prefers, and in text if it prefers none,
// as that of curl does not. The page needs nothing but itself: no other file, host or
// font. It stands still while its tab is hidden, and says so when the program does not
// answer any more. Without scripts the browser loads it anew every few seconds.
//
// The JSON is an object:
//
//	time      when it was taken, as in RFC 3339
//	pools     an object with one for each pool, by the name that it was added by: name,
//	          limit, running, queued, waiting, workers, idle, completed, dropped, and
//	          throughput
//	limiters  an object with one for each limiter, by the name that it was added by:
//	          limit, running, waiting, phase, reason, throughput, and history, a list
//	          of objects with time, limit, throughput and reason
//
// [stint.Stats], [stint.LimiterStats] and [stint.LimitChange] say what they are; the
// name in a pool is that of stint.Name. What is not known is left out. pools and
// limiters are always there.
//
// # Throughput
//
// That of a pool is how many of its tasks ended in a second since an earlier request,
// whoever made that, half a second ago or more. It is not known to the first request, nor
// to others in the half second after it. The next one tells the mean of the time since
// the first, however long that was. What collects figures should not rely on it, since
// others may ask too: it has time and completed for that.
//
// That of a limiter is what its search has measured last.
//
// # Costs
//
// Nothing runs between requests: there is no goroutine and no timer. A request asks
// each pool and each limiter once for its Stats, which takes their locks for a moment.
// Of a pool two samples are kept. What was added is kept reachable until it is removed.
//
// No other package of the library imports this one, so that who does not want it does
// not link net/http.
package debug
