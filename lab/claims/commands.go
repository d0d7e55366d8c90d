package claims

import "slices"

// The conclusions about commands and the cluster: each has In of its own. Their benchmarks run on all CPUs.
var commandsClaims = []Claim{
	{
		In:    "commands",
		Says:  "A job of `stint run` takes at most 15 % more time than one of `xargs -P`.",
		Bar:   AtMost(1.15),
		Pairs: OnAll("Run/jobs=2000/tool=xargs", "Run/jobs=2000/tool=stint"),
		Note:  "xargs starts in less time, and is faster where many items fit on a command line: see the table.",
	}, {
		In: "commands",
		Says: "Without -j, `stint run` takes on average at most 15 % more time than with the best -j: for jobs that compute, wait, do both, " +
			"or fit in memory only six at a time.",
		Bar: AtMost(1.15), Mean: true,
		Pairs: slices.Concat(OnAll("Limit/work=compute/limit=*", "Limit/work=compute/tool=stint"), OnAll("Limit/work=wait/limit=256", "Limit/work=wait/tool=stint"),
			OnAll("Limit/work=both/limit=*", "Limit/work=both/tool=stint"), OnAll("Limit/work=memory/limit=6", "Limit/work=memory/tool=stint")),
	}, {
		In:    "commands",
		Says:  "`stint sum` is faster than md5sum and sha256sum with `xargs -P`, and prints its lines in order.",
		Bar:   More,
		Pairs: slices.Concat(OnAll("Sum/alg=md5/way=stint", "Sum/alg=md5/way=xargs-P"), OnAll("Sum/alg=sha256/way=stint", "Sum/alg=sha256/way=xargs-P")),
		Note:  "The programs compute digests by different code: see their CPU time.",
	}, {
		In:    "cluster",
		Says:  "A task through `cluster.Map` takes at most a quarter more time than through a loop by hand with nats.go.",
		Bar:   AtMost(1.25),
		Pairs: OnAll("Empty/model=nats.go", "Empty/model=cluster.Map"),
		Cause: &Cause{
			Says: "It takes more CPU time and allocates more bytes. It keeps records of each run, and the loop does not.",
			Shown: Claim{Bar: AtLeast(1.15), Pairs: slices.Concat(In("cpu-sec/op", OnAll("Empty/model=nats.go", "Empty/model=cluster.Map")...),
				In("B/op", OnAll("Empty/model=nats.go", "Empty/model=cluster.Map")...))},
		},
	}, {
		In:    "cluster",
		Says:  "With an account and a role for each user, an empty task takes at most three times as long as with a token for all.",
		Bar:   AtMost(3),
		Pairs: OnAll("Empty/auth=token", "Empty/auth=roles"),
	},
}

var (
	cpuTime     = Column{Title: "CPU", All: true, Unit: "cpu-sec/op"}
	largest     = Column{Title: "largest process", All: true, Unit: "peak-RSS-B/op"}
	commandsRow = []Column{{Title: "time", All: true}, cpuTime, largest}
)

var commandsTables = []Table{
	{Title: "`true` once, and 2,000 times by two jobs at once", In: "commands", Columns: commandsRow, Rows: []string{
		"Start/tool=stint", "Start/tool=xargs", "Start/tool=gnu-parallel", "Start/tool=moreutils-parallel",
		"Run/jobs=2000/tool=stint", "Run/jobs=2000/tool=xargs", "Run/jobs=2000/tool=gnu-parallel", "Run/jobs=2000/tool=moreutils-parallel"}},
	{Title: "1,000 times `sleep 0.1`; xargs and GNU parallel have 256 jobs at once", In: "commands", Prefix: "Limit/work=wait", Columns: commandsRow},
	{Title: "Jobs that compute 50 ms, 20 for each CPU", In: "commands", Prefix: "Limit/work=compute", Columns: commandsRow},
	{Title: "Jobs that compute 50 ms and wait 50 ms, 32 for each CPU; xargs and GNU parallel have 4 for each at once", In: "commands", Prefix: "Limit/work=both", Columns: commandsRow},
	{Title: "18 jobs that hold 300 MB for 300 ms, in a cgroup of 2 GB", In: "commands", Prefix: "Limit/work=memory",
		Columns: []Column{{Title: "time", All: true}, {Title: "jobs killed", All: true, Unit: "killed"}}},
	{Title: "Items of 20 bytes, as many as fit in each `echo`", In: "commands", Prefix: "Fit/", Columns: commandsRow},
	{Title: "300 jobs that print 1 MB, in order; the first lasts two seconds", In: "commands", Prefix: "Order/", Columns: commandsRow},
	{Title: "Digests of 200 MB in 50 files of 4 MB and of 1,250 small files, of which `xargs -P` prints the lines in any order", In: "commands",
		Prefix: "Sum/", Columns: []Column{{Title: "time", All: true}, cpuTime}},
	{Title: "5,000 tasks that do nothing; server, worker and submitter are one process", In: "cluster", Prefix: "Empty/",
		Columns: []Column{{Title: "time", All: true}, cpuTime, {Title: "peak memory", All: true, Unit: "peak-B/op"}}},
	{Title: "1,200 tasks of 10 ms on 3 worker processes of 4 slots, and every result came once", In: "cluster", Prefix: "Sleep/",
		Columns: []Column{{Title: "time", All: true}}},
}

var commandsCurves = []Curve{{Title: "Jobs that compute 50 ms and wait 50 ms, 32 for each CPU", X: "-j", In: "commands", Lines: []string{"Limit/work=both/limit=*"}}}
