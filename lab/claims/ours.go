package claims

import (
	"slices"
	"strings"
)

// Ours are our own conclusions.
var Ours = Article{
	Title: "Our own conclusions",
	In:    "ours",
	Names: map[string]string{
		"Sort/of=ints/model=slices.Sort": "`slices.Sort`", "Sort/of=ints/model=par.Sort": "`par.Sort`",
		"Gateway/model=no-limit": "a proxy without a limit", "Gateway/model=httplimit-Limit": "`httplimit.Handler` with the known limit",
		"Gateway/model=httplimit-Auto": "`httplimit.Handler` without a number",
	},
	Claims: slices.Concat(oursClaims, serversClaims, commandsClaims),
	Tables: slices.Concat(oursTables, serversTables, commandsTables),
	Curves: slices.Concat(oursCurves, serversCurves, commandsCurves),
}

var oursClaims = []Claim{
	{
		Says: "On one CPU an empty task of a `Pool` or a `Group` takes at most 1.15 times as long as one sent to workers over a channel.",
		Bar:  AtMost(1.15), Pairs: OnOne("EmptyTask/model=channel", each("EmptyTask/model=", "stint.Pool stint.Group")...),
		Note: "On all CPUs it takes longer: the README's costs have the figure.",
	}, {
		Says: "`par.Each` takes at most 1 µs more than a plain loop that calls a function of 2 ns for up to 100 items.",
		Bar:  Bar{"at most 1 µs more", -1, 1e-6}, Pairs: short("more-sec", "par.Each"),
	}, {
		Says: "`stint.Each` takes at most 400 ns more than a plain loop that calls a function of 2 ns for up to 100 items.",
		Bar:  Bar{"at most 400 ns more", -1, 400e-9}, Pairs: short("more-sec", "stint.Each"),
		Cause: &Cause{
			Says:  "The call itself takes more, for one item too. For 10 and 100 items, which may wait, it also starts a goroutine.",
			Shown: Claim{Bar: AtLeast(400e-9), Pairs: short("more-sec", "stint.Each")[:1]},
		},
		Note: "For a few items of a few instructions each, write a plain loop, or call `par.Each`.",
	}, {
		Says: "`par.Reduce` adds up ten million numbers in at most 1.05 times the time of pieces cut by hand.",
		Bar:  AtMost(1.05), Pairs: OnAll("Sum/model=pieces", "Sum/model=par.Reduce"),
		Cause: &Cause{
			Says:  "`par.Reduce` calls a function for each number. Pieces cut by hand that do so take as long.",
			Shown: Claim{Bar: AtMost(1.05), Pairs: OnAll("Sum/model=pieces+calls", "Sum/model=par.Reduce")},
		},
		Note: "`par.RangeWith` passes whole pieces, without a call for each number.",
	}, {
		Says: "On two CPUs or more, `par.Sort` sorts a million numbers at least four times as fast as `slices.Sort`.",
		Bar:  AtLeast(4), Pairs: OnAll("Sort/of=ints/model=par.Sort", "Sort/of=ints/model=slices.Sort"), CPUs: 2,
		Cause: &Cause{
			Says:  "Two CPUs do less than twice the work of one here: two sorts at once, which share nothing, take longer than one.",
			Shown: Claim{Bar: AtLeast(1.05), Pairs: OnAll("Sort/of=ints/model=slices.Sort", "Sort/of=ints/model=pair"), CPUs: 2},
		},
	}, {
		Says: "A record takes at most a tenth of the time over a boundary of a stream that it takes over an unbuffered channel.",
		Bar:  AtMost(0.1), Pairs: OnAll("Hop/model=channel", "Hop/model=stream.Buffer"),
		Note: "Records pass one by one over a ring, and the receiver is woken for many: if few come, one may wait for a millisecond. A " +
			"channel with a buffer of 1,024 takes more time too. Batches of 1,024 by hand take about as much as a boundary. A `ParMap` of " +
			"short calls takes several records a task.",
	}, {
		Says: "Without a limit, a long list of tasks (that wait; compute and wait; share a lock; share 20 slots) takes at most 1.05 times as " +
			"long as with the best limit up to 256, the most that a call without one runs at once.",
		Bar: AtMost(1.05), Pairs: both("steady-sec", "Adaptive/work=", "half/tasks=300 lock/tasks=1000 wait/tasks=5000 slots/tasks=600",
			"/adaptive", "/limit=*"),
		Note: "The time is that of a task after the first quarter of the list. A short list of tasks that wait is faster with `Limit`.",
	}, {
		Says: "Beside background tasks of 5 ms with `LowPriority`, which hold all permits, 99 of 100 other tasks wait for at most 5 ms.",
		Bar:  Bar{"at most 5 ms", 0, 5e-3}, Pairs: In("p99-sec", Pair{A: "Priority/model=stint.LowPriority", AAll: true}),
	}, {
		Says: "Work that waits is faster than by hand: 400,000 tasks that sleep, in a `Pool` or a `Group` than as goroutines; and messages, ten " +
			"of a key in a row, with `MapKey` or `stream.ParMapKey` and a queue of 1,000 than with mutexes or workers by key.",
		Bar: AtMost(1), Pairs: slices.Concat(OnAll("Sleepers/model=goroutines", each("Sleepers/model=", "stint.Pool stint.Group")...),
			OnAll("Keys/row=10/model=mutex", queues...), OnAll("Keys/row=10/model=hash", queues...)),
		Note: "The default queue is too short for such rows. With a mutex, messages of a key are also handled out of their order.",
	},
}

// each returns benchmarks whose names begin alike.
func each(prefix, rest string) []string {
	out := strings.Fields(rest)
	for i := range out {
		out[i] = prefix + out[i]
	}
	return out
}

// short are values of loops over up to 100 items.
func short(unit, model string) (pairs []Pair) {
	for _, n := range []string{"1", "10", "100"} {
		pairs = append(pairs, Pair{A: "Loop/items=" + n + "/model=" + model, AAll: true, Unit: unit})
	}
	return pairs
}

// both compares two models of the same benchmarks.
func both(unit, prefix, list, a, b string) (pairs []Pair) {
	for _, name := range each(prefix, list) {
		pairs = append(pairs, OnAll(name+b, name+a)...)
	}
	return In(unit, pairs...)
}

func column(title, unit string) Column { return Column{Title: title, All: true, Unit: unit} }

var (
	queues = each("Keys/row=10/model=", "stint.MapKey+Queue stream.ParMapKey+Queue")
	anItem = []Column{{Title: "on one CPU", Unit: "sec/item"}, column("on all", "sec/item")}
	anOp   = []Column{column("time", Time), column("peak memory", "peak-B/op")}
)

var oursTables = []Table{
	{Title: "An empty task, at most two at once", Columns: anItem, Prefix: "EmptyTask/"},
	{Title: "A group of tasks, by stint/errgroup and by x/sync/errgroup", Prefix: "Errgroup/", Columns: []Column{column("time", Time), column("allocated", "B/op")}},
	{Title: "A call with one of 8 permits: of an empty function, and by 64 callers of a sleep of 20 µs", Columns: anItem, Prefix: "Permit/"},
	{Title: "400,000 tasks that sleep for 7 ms, 30,000 at once, or goroutines without a limit", Columns: anOp, Prefix: "Sleepers/"},
	{Title: "A loop that calls a function of 2 ns for a million items, and the sum of ten million numbers", Columns: anOp,
		Rows: append(each("Loop/items=1000000/model=", "pieces par.Each stint.Each"), each("Sum/model=", "pieces par.Reduce par.RangeWith")...)},
	{Title: "A million elements, sorted, and a pair of such slices sorted at once", Columns: anOp, Prefix: "Sort/"},
	{Title: "A record sent to another goroutine, with buffers and batches of 1,024", Columns: anItem[1:], Prefix: "Hop/"},
	{Title: "A hundred tasks that wait: 0 to 9 ms, 5 ms in 20 slots, or 100 ms", Columns: []Column{anOp[0], column("at once", "at-once")},
		Rows: each("Adaptive/work=", "wait/tasks=100/limit=100 wait/tasks=100/adaptive slots/tasks=100/limit=20 slots/tasks=100/adaptive "+
			"long/tasks=100/limit=100 long/tasks=100/adaptive")},
	{Title: "Tasks beside background tasks of 5 ms, with 8 permits", Columns: []Column{column("a background task", "background-sec"),
		column("99 of 100 wait", "p99-sec")}, Rows: each("Priority/model=", "stint.Limit stint.LowPriority")},
	{Title: "2,000 messages, ten of a key in a row", Prefix: "Keys/", Columns: []Column{anOp[0], column("out of order", "disorder")}},
}

var oursCurves = []Curve{
	{Title: "A loop that calls a function of 2 ns for each item", X: "items", Lines: each("Loop/items=*/model=", "plain pieces par.Each stint.Each conc.iter")},
}
