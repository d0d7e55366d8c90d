package claims

import "slices"

// Workerpool is the article on worker pools.
var Workerpool = Article{
	Title: "Goroutine Worker Pools in Go", Author: "goperf.dev, [the article](https://goperf.dev/01-common-patterns/worker-pool/)",
	In: "workerpool", File: "workerpool.txt", Names: workerpoolNames(),
	Claims: []Claim{
		{Says: "A pool of ten workers is faster than a goroutine for each job.", Bar: More, Pairs: unbounded(Time),
			Note: "A job is a digest, which takes less than a microsecond: less than starting a goroutine for it."},
		{Says: "The pool takes 28 % less time than a goroutine for each job.", Bar: AtMost(0.72),
			Pairs: OnAll("UnboundedGoroutines", "WorkerPool"), Note: "On the article's machine, with 14 CPUs."},
		{Says: "A goroutine for each job allocates twice as much as the pool, and twice as often.", Bar: AtLeast(1.96),
			Pairs: append(unbounded("B/op")[1:], unbounded("allocs/op")[1:]...),
			Note:  "The article's ratios are 1.99 and 2.01; 1.96 is twice, less 2 %."},
		{Says: "At its peak a pool needs less memory than goroutines without a bound.", Bar: More, Pairs: unbounded("peak-B/op")},
		{Says: "Goroutines without a bound cause more switches, of goroutines and of threads.", Bar: More,
			Pairs: append(unbounded("scheduled/op"), unbounded("switches/op")...)},
		{Says: "Goroutines without a bound cause more garbage collections.", Bar: More, Pairs: unbounded("GCs/op")},
		{Says: "The more goroutines there are, the more each costs: 10,000 take more than a hundred times as long as a hundred.",
			Bar: AtLeast(100), Pairs: Than("List/jobs=100/model=goroutines", "List/jobs=10000/model=goroutines"),
			Note: "A goroutine starts with a stack of 2 KB: on one CPU, where all wait at once, ten thousand need 20 MB."},
		{Says: "A pool keeps the data of its jobs in the caches of the CPUs.", Bar: More,
			Pairs: under("Locality/set=64KB/way=through/model=", "p50-sec", "pool", "goroutines"),
			Cause: because("A job that runs to its end finds its data in the cache. A pool helps jobs that let others run in between.", AtLeast(2), yielding)},
		{Ours: true, Says: "Jobs that let others run between two passes over their data read it at least twice as fast in a pool.", Bar: AtLeast(2),
			Pairs: yielding, Note: "On one CPU too, where no goroutine moves to another: the data of other jobs takes the place of theirs in the cache."},
		{Says: "For jobs that compute, as many workers as CPUs are best.", Bar: AtMost(1.05), Pairs: under(spins, Time, "*", "1"),
			Note: "Jobs of 10 µs. For digests, which are shorter, see the table. `runtime.GOMAXPROCS(0)` is the number of CPUs to use; " +
				"`runtime.NumCPU` does not follow it."},
		{Says: "For jobs that compute, slightly fewer workers than CPUs are as good.", Bar: AtMost(1.05), CPUs: 4,
			Pairs: OnAll(spins+"1", fewer), Cause: because("One worker fewer leaves a CPU without work: the jobs take no more CPU time.",
				AtMost(1.05), In("cpu-sec/op", OnAll(spins+"1", fewer)...))},
		{Says: "For jobs that wait, more workers than CPUs are better.", Bar: More, Pairs: In("p50-sec", OnAll(waits+"pool", waits+"pool-of-CPUs")...)},
		{Says: "Jobs that compute are slower with two, four and eight workers a CPU than with one.", Bar: More,
			Pairs: under(spins, Time, "1", "2", "4", "8"),
			Cause: because("More workers take no more CPU time: a worker keeps its CPU until its job of 10 µs is done.",
				AtMost(1.05), under(spins, "cpu-sec/op", "1", "2", "4", "8"))},
		{Ours: true, Says: "Jobs of 10 µs take at most 5 % more time with two, four and eight workers a CPU than with one.", Bar: AtMost(1.05),
			Pairs: under(spins, Time, "1", "2", "4", "8")},
		{Says: "512 workers a CPU are slower than one a CPU.", Bar: More, Pairs: append(far(Time), under(spins, Time, "1", "512")...)},
		{Says: "512 workers a CPU take more CPU time than one a CPU.", Bar: More, Pairs: far("cpu-sec/op")},
		{Says: "512 workers a CPU take more memory than one a CPU.", Bar: More, Pairs: far("peak-B/op")},
		{Says: "512 workers a CPU cause more switches of goroutines than one a CPU.", Bar: More, Pairs: far("scheduled/op")},
		{Says: "512 workers a CPU cause more garbage collections than one a CPU.", Bar: More, Pairs: far("GCs/op"),
			Note:  "A measurement has one to three collections.",
			Cause: because("The stacks of the workers count for when a collection starts: it starts later.", AtLeast(1.25), far("peak-B/op"))},
		{Says: "With 512 workers a CPU the response time of a job, its p99, is longer than with one a CPU.", Bar: More, Pairs: far("p99-sec")},
		{Says: "When more jobs come than the CPUs can do, a pool has steadier response times: a lower p99 of the jobs that it takes.", Bar: Less,
			Pairs: arriving("computes/load=120%", "p99-sec"),
			Note: "This pool refuses a fifth of the jobs, since its queue is full; the article's makes their sender wait, which was not measured. " +
				"Without a pool all are accepted, and the last wait longest."},
		{Says: "When more jobs come than the CPUs can do, a pool bounds the memory.", Bar: Less,
			Pairs: arriving("computes/load=120%", "peak-B/op"), Note: "The pool's is too little to be seen. [Our own conclusions](#our-own-conclusions) have a limit for a " +
				"proxy, and the page one for a database. File descriptors, disks and networks were not measured."},
		{Says: "Also at 75 % load, where it refuses none, a pool has a lower p99.", Bar: Less, Pairs: arriving("computes/load=75%", "p99-sec"), Cause: aFreeCPU},
		{Says: "Tasks of even cost suit a pool: it is faster than a goroutine for each.", Bar: More,
			Pairs: Than("Tasks/cost=even/model=pool-of-CPUs", "Tasks/cost=even/model=goroutines")},
		{Says: "Tasks of uneven cost suit a pool less: the same work takes longer.", Bar: More,
			Pairs: OnAll("Tasks/cost=even/model=pool-of-CPUs", "Tasks/cost=uneven/model=pool-of-CPUs"),
			Cause: because("A worker that is done takes the next task. Uneven tasks slow down fixed pieces of a list.",
				AtLeast(1.2), OnAll("Tasks/cost=even/model=pieces", "Tasks/cost=uneven/model=pieces"))},
		{Says: "A pool's queue adds to the response time of jobs that compute.", Bar: More, Pairs: arriving("computes/load=75%", "p50-sec"), Cause: aFreeCPU},
		{Says: "A pool's queue adds to the response time of jobs that wait, with as many workers as CPUs.", Bar: More,
			Pairs: In("p50-sec", OnAll(waits+"goroutines", waits+"pool-of-CPUs")...)},
		{Says: "When load is low, 10 %, a pool makes no job faster.", Bar: NoGain, Pairs: arriving("computes/load=10%", "p50-sec")},
		{Says: "When load is low, a pool costs more than it brings: a waiting worker gets a job later than a new goroutine.", Bar: More,
			Pairs: under("List/jobs=1/model=", Time, "goroutines", "pool-kept"), Cause: because("Starting a goroutine allocates, and a "+
				"worker is there.", AtMost(0.75), under("List/jobs=1/model=", "allocs/op", "goroutines", "pool-kept"))},
		{Says: "For few jobs a pool costs more than it brings: ten take longer by a pool of ten than by a goroutine each.", Bar: More,
			Pairs: under("List/jobs=10/model=", Time, "goroutines", "pool")},
		{Ours: true, Says: "A hundred jobs are faster by a pool of ten than by a goroutine each.", Bar: More,
			Pairs: under("List/jobs=100/model=", Time, "pool", "goroutines")},
		{Ours: true, Says: "Ten and a hundred digests are faster in a plain loop than by a pool; on one CPU, ten thousand are too.", Bar: More,
			Pairs: slices.Concat(under("List/jobs=10/model=", Time, "loop", "pool"), under("List/jobs=100/model=", Time, "loop", "pool"),
				OnOne("List/jobs=10000/model=loop", "List/jobs=10000/model=pool"))},
	},
	Tables: []Table{{
		Title: "Ten thousand digests", Main: true,
		Rows: append([]string{"UnboundedGoroutines", "WorkerPool"}, begin("List/jobs=10000/model=",
			"loop", "par.Map", "stint.Map", "stint.Pool", "errgroup", "conc.pool", "ants", "pond")...),
		Columns: append([]Column{{Title: "the article, 14 CPUs", There: "*", All: true},
			{Title: "allocated", There: "*", All: true, Unit: "B/op"}, {Title: "allocations", There: "*", All: true, Unit: "allocs/op"}},
			onCPUs(Time, "allocated", "B/op", "allocations", "allocs/op", "peak memory", "peak-B/op")...),
	}, {
		Title: "More and more workers, ten thousand digests",
		Rows: begin("Sweep/work=digest/", "one-worker-fewer-than-CPUs", "workers-a-CPU=1", "workers-a-CPU=2", "workers-a-CPU=4",
			"workers-a-CPU=8", "workers-a-CPU=64", "workers-a-CPU=512"),
		Columns: onCPUs(Time, "CPU time", "cpu-sec/op", "p99 of a job", "p99-sec", "peak memory", "peak-B/op", "goroutines scheduled",
			"scheduled/op", "threads switched", "switches/op", "collections", "GCs/op"),
	}, {
		Title: "Jobs that read their data again, a pass", Prefix: "Locality/", Columns: onCPUs("p50-sec"),
	}, {
		Title: "Jobs that arrive at random times, in parts of what the CPUs can do", Prefix: "Load/",
		Columns: onCPUs(Time, "p50", "p50-sec", "p99", "p99-sec", "starts after", "queued-sec", "refused", "refused", "peak", "peak-B/op")[2:],
	}, {
		Title: "Ten digests; the article's example has five workers", Prefix: "List/jobs=10/", Columns: onCPUs(Time, "allocated", "B/op"),
	}, {
		Title: "A thousand tasks, of even and of uneven cost", Prefix: "Tasks/", Columns: onCPUs(Time),
	}},
	Curves: []Curve{{Title: "A pool that computes", Main: true, X: "workers a CPU", Lines: []string{digests + "*", spins + "*"}}},
	Write: "A plain loop for a few short jobs. A goroutine for each where their number is small and bounded: by hand that takes 8 lines here, a pool 15. " +
		"`par.Map` for a list that computes: it needs no number of workers, and a small list stays a loop. For jobs that arrive, " +
		"one `stint.NewPool` with a `Limit` and a `Queue`, and `TryGo`, which refuses what would wait too long. The article's " +
		"example submits all jobs before it reads a result: it would never end with more than 205. `stint.Map` has no such number.",
}

// onCPUs returns columns of a unit on one CPU and on all, and of titles and units on all.
func onCPUs(unit string, columns ...string) []Column {
	out := []Column{{Title: "here, 1 CPU", Unit: unit}, {Title: "all CPUs", Unit: unit, All: true}}
	for c := range slices.Chunk(columns, 2) {
		out = append(out, Column{Title: c[0], Unit: c[1], All: true})
	}
	return out
}

// begin returns benchmarks of a common beginning.
func begin(with string, names ...string) (out []string) {
	for _, n := range names {
		out = append(out, with+n)
	}
	return out
}

// under compares benchmarks of a common beginning with the first of them, in a unit.
func under(beginning, unit string, names ...string) []Pair {
	all := begin(beginning, names...)
	return In(unit, Than(all[0], all[1:]...)...)
}

// unbounded compares a goroutine for each job with the author's pool.
func unbounded(unit string) []Pair { return under("", unit, "WorkerPool", "UnboundedGoroutines") }

// far compares 512 workers a CPU with one.
func far(unit string) []Pair { return under(digests, unit, "1", "512") }

// arriving compares jobs that arrive, by a pool and by a goroutine each.
func arriving(load, unit string) []Pair {
	return In(unit, OnAll("Load/work="+load+"/model=goroutines", "Load/work="+load+"/model=pool")...)
}

func because(says string, bar Bar, pairs []Pair) *Cause {
	return &Cause{says, Claim{Bar: bar, Pairs: pairs}}
}

// workerpoolNames are what sentences call sweeps and jobs that arrive.
func workerpoolNames() map[string]string {
	names := map[string]string{"UnboundedGoroutines": "unbounded goroutines", "WorkerPool": "worker pool",
		waits + "pool-of-CPUs": "a pool of one worker a CPU for jobs that wait", fewer: "10 µs jobs, one worker fewer than CPUs",
		"List/jobs=1/model=pool-kept": "one job by a pool that is kept", "List/jobs=1/model=goroutines": "one job by a goroutine"}
	for way, say := range map[string]string{"through": "reading 64 KB eight times", "yielding": "reading 64 KB eight times, with yields"} {
		names["Locality/set=64KB/way="+way+"/model=pool"], names["Locality/set=64KB/way="+way+"/model=goroutines"] = say+", in a pool", say+", by goroutines"
	}
	for cost, say := range map[string]string{"even": "tasks of even cost", "uneven": "tasks of uneven cost"} {
		names["Tasks/cost="+cost+"/model=pool-of-CPUs"], names["Tasks/cost="+cost+"/model=goroutines"] = say+", in a pool", say+", by goroutines"
	}
	for n, say := range map[string]string{"1": "1 worker a CPU", "2": "2 workers a CPU", "4": "4 workers a CPU", "8": "8 workers a CPU",
		"64": "64 workers a CPU", "512": "512 workers a CPU", "*": "the best number of workers"} {
		names[digests+n], names[spins+n] = "digests, "+say, "10 µs jobs, "+say
	}
	for load, say := range map[string]string{"Load/work=computes/load=10%/model=": " at 10 % load", "Load/work=computes/load=75%/model=": " at 75 % load",
		"Load/work=computes/load=120%/model=": " at 120 % load", waits: " for jobs that wait"} {
		names[load+"pool"], names[load+"goroutines"] = "a pool"+say, "goroutines"+say
	}
	return names
}

const (
	digests = "Sweep/work=digest/workers-a-CPU="
	spins   = "Sweep/work=10us/workers-a-CPU="
	fewer   = "Sweep/work=10us/one-worker-fewer-than-CPUs"
	waits   = "Load/work=waits/load=25%/model="
)

// yielding compares jobs that let others run between two passes, by a goroutine each and by a pool.
var yielding = under("Locality/set=64KB/way=yielding/model=", "p50-sec", "pool", "goroutines")

// aFreeCPU is why a queue of a pool's own changes no response time of jobs that compute.
var aFreeCPU = because("A job waits for a free CPU: a goroutine in the scheduler's queue as long as a job in a pool's queue.",
	Between(0.75, 1.33), arriving("computes/load=75%", "queued-sec"))
