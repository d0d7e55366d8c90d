package claims

// The conclusions about servers: each has In of its own.
var serversClaims = []Claim{{
	Says: "Without a limit, tasks at servers take at most 1.10 times as long as with the best fixed limit of each server.",
	In:   "servers", Bar: AtMost(1.1), Mean: true, Pairs: toBest("stint.Range", append(serverCalls, serverBatches...)...),
	Cause: &Cause{
		Says:  "Three of the ten are short batches, which end before the limit is found: each takes at least 1.3 times as long.",
		Shown: Claim{Bar: AtLeast(1.3), Pairs: toBest("stint.Range", serverBatches...)},
	},
}, {
	Says: "A second call with the same adaptive limit takes at most 1.05 times as long as with the best fixed limit.",
	In:   "servers", Bar: AtMost(1.05), Mean: true, Pairs: toBest("stint.Range-again", serverCalls...),
	Cause: &Cause{
		Says:  "The difference is at servers nearby. At those that are 2 ms and more away, it takes at most 1.05 times as long.",
		Shown: Claim{Bar: AtMost(1.05), Mean: true, Pairs: toBest("stint.Range-again", serverFar...)},
	},
}, {
	Says: "Batches of 100 to 1,000 short tasks take at most 1.4 times as long without a limit as with the best fixed limit.",
	In:   "servers", Bar: AtMost(1.4), Pairs: toBest("stint.Range", serverBatches...),
	Cause: &Cause{
		Says: "The limit starts at 14 tasks, and grows when they finish. With `Auto(1, 256, Burst(768))`, which starts 256 at once, " +
			"the same batches take at most 1.25 times as long.",
		Shown: Claim{Bar: AtMost(1.25), Pairs: toBest("stint.Range-burst", serverBatches...)},
	},
}, {
	Says: "Under twice its load, a server that slows down in a crowd collapses behind a reverse proxy without a limit: it answers " +
		"at most a tenth of what it answers behind `httplimit.Handler`.",
	In: "servers", Bar: AtMost(0.1), Pairs: In("in-time/s", append(OnAll("Gateway/model=httplimit-Limit", "Gateway/model=no-limit"),
		OnAll("Gateway/model=httplimit-Auto", "Gateway/model=no-limit")...)...),
}, {
	Says: "Behind `httplimit.Handler` it answers nine tenths of the 400 requests a second that it can, each within 0.3 s.",
	In:   "servers", Bar: AtLeast(360), Pairs: In("in-time/s", knownLimit, Pair{A: "Gateway/model=httplimit-Auto", AAll: true}),
	Cause: &Cause{
		Says:  "An adaptive limit is above the right one while it searches. With `Limit(20)`, the right one, it answers as much.",
		Shown: Claim{Bar: AtLeast(360), Pairs: In("in-time/s", knownLimit)},
	},
}}

var serversTables = []Table{{
	Title: "Time of a request for a row of PostgreSQL, in a call of a second", In: "servers", Prefix: "Server/row=select/link=near/",
	Columns: onCPUs(Time, "allocated", "B/op", "peak memory", "peak-B/op")[1:],
}, {
	Title: "Time of 300 requests over 20 ms to a web server", In: "servers", Prefix: "Batch/http=20ms/",
	Columns: onCPUs(Time, "allocated", "B/op", "peak memory", "peak-B/op")[1:],
}, {
	Title: "A reverse proxy under twice the load that its server can bear, 400 requests a second", In: "servers", Prefix: "Gateway/",
	Columns: onCPUs("in-time/s", "answered within 0.3 s, a second", "in-time/s", "median time", "p50-sec", "99 of 100 within",
		"p99-sec", "most at once", "at-once")[2:],
}}

var serversCurves = []Curve{{
	Title: "Time of a request to PostgreSQL near and 2 ms away, and to a web server 20 to 40 ms away", X: "limit", In: "servers",
	Lines: begin("Server/row=", "select/link=near/limit=*", "select/link=2ms/limit=*", "http/link=20-40ms/limit=*"),
}}

// The rows of calls that last a second, those far away, and those of batches; and a proxy that knows the best limit.
var (
	serverCalls = append(begin("Server/row=", "http/link=near", "files/link=near", "select/link=near", "update/link=near",
		"aggregate/link=near"), serverFar...)
	serverFar     = begin("Server/row=", "http/link=20-40ms", "select/link=2ms")
	serverBatches = begin("Batch/", "wait=0-9ms/tasks=100", "wait=5ms/tasks=1000", "http=20ms/tasks=300")
	knownLimit    = Pair{A: "Gateway/model=httplimit-Limit", AAll: true}
)

// toBest compares a model with the best fixed limit.
func toBest(model string, rows ...string) (pairs []Pair) {
	for _, r := range rows {
		pairs = append(pairs, OnAll(r+"/limit=*", r+"/model="+model)...)
	}
	return pairs
}
