package claims

import "slices"

// The lines of lab/survey/commands.
const (
	surveyMillion = "tasks:1000000 capacity:50000 benchtime:1x"
	surveyEvery   = "tasks:200000 capacity:50000 benchtime:1x"
	surveyControl = "tasks:200000 capacity:5000 benchtime:1x"
	surveyTen     = "tasks:2000 capacity:500 benchtime:10x"
	surveyFifty   = "tasks:2000 capacity:500 benchtime:50x"
	surveyFiles   = "benchtime:100ms"
)

// Survey is the survey of pool libraries.
var Survey = Article{
	Title:  "Golang 协程池技术调研",
	Author: "No author, year or address is known",
	In:     "survey",
	Filter: surveyMillion,
	File:   "survey.txt",
	Names: map[string]string{
		"Goroutines": "plain goroutines", "ErrGroup": "errgroup", "ErrGroupCustom": "errgroup, by its own Wait", "ConcPool": "conc",
		"AntsPool": "ants", "Sleepers/model=channel": "50,000 goroutines on a channel",
		"Channel": "goroutines behind a channel", "Sleepers/model=ants": "ants, made for each op", "Sleepers/model=stint.Pool": "stint.Pool, made for each op",
		"Kept/model=stint.Pool": "stint.Pool, kept", "Kept/model=stint.Group": "stint.Group in a pool that is kept",
		"WorkerChannel/channel=own/buffer=0": "an unbuffered channel for each worker", "WorkerChannel/channel=own/buffer=1": "a channel of 1 for each worker",
		"WorkerChannel/channel=shared/buffer=0": "an unbuffered channel for all workers", "WorkerChannel/channel=shared/buffer=1": "a channel of 1 for all workers",
	},
	Claims: []Claim{
		{
			Says: "Plain goroutines are faster than every pool.", Bar: More, There: "machine:m1-8",
			Pairs: Than("Goroutines", "ErrGroup", "AntsPool", "ConcPool"),
			Note: "The article's introduction expects reused goroutines to be faster. Where this row holds, those of conc and ants are not; those of a stint.Pool are: see the table. " +
				"On the article's virtual machine with two cores ants was faster, and on one core of the M1 conc took as long.",
			Cause: &Cause{"Starting a goroutine takes longer than handing a task to an idle worker of ants.", Claim{
				Bar: More, Pairs: In("submit-sec/op", OnAll("AntsPool", "Goroutines")...)}},
		}, {
			Says: "M1, eight cores: plain goroutines are the fastest, then errgroup and ants, then conc.", Bar: More, CPUs: 8, There: "machine:m1-8",
			Pairs: slices.Concat(OnAll("Goroutines", "ErrGroup", "AntsPool"), OnAll("ErrGroup", "ConcPool"), OnAll("AntsPool", "ConcPool")),
		}, {
			Says: "M1, one core: plain goroutines and conc are the fastest, then errgroup, then ants.", Bar: More, There: "machine:m1-1",
			Pairs: slices.Concat(OnOne("Goroutines", "ErrGroup"), OnOne("ConcPool", "ErrGroup"), OnOne("ErrGroup", "AntsPool")),
			Cause: &Cause{"50,000 workers make conc slow. With 5,000 it takes about as long as plain goroutines.", Claim{
				Bar: AtMost(1.1), Filter: surveyControl, Pairs: OnOne("Goroutines", "ConcPool")}},
		}, {
			Says: "M1, one core: the differences are small.", Bar: Between(0.8, 1.25), There: "machine:m1-1",
			Pairs: OnOne("Goroutines", "ErrGroup", "ConcPool", "AntsPool"),
			Note:  "The article's differences are at most 15 %. Here, 25 % still counts as small.",
			Cause: &Cause{"conc and ants take longer than plain goroutines until all tasks are submitted.", Claim{
				Bar: More, Pairs: In("submit-sec/op", OnOne("Goroutines", "ConcPool", "AntsPool")...)}},
		}, {
			Says: "Virtual machine, two cores: ants is the fastest, then plain goroutines, errgroup and conc.", Bar: More, There: "machine:vm-2",
			Pairs: slices.Concat(OnAll("AntsPool", "Goroutines"), OnAll("Goroutines", "ErrGroup"), OnAll("ErrGroup", "ConcPool")),
			Note:  "With more than two CPUs, all of them are used.",
			Cause: &Cause{"ants takes as long to submit all tasks, or longer: handing a task over costs no less than starting a goroutine.", Claim{
				Bar: NoGain, Pairs: In("submit-sec/op", OnAll("Goroutines", "AntsPool")...)}},
		}, {
			Says: "Virtual machine, one core: plain goroutines are the fastest, then errgroup, conc and ants.", Bar: More, There: "machine:vm-1",
			Pairs: slices.Concat(OnOne("Goroutines", "ErrGroup"), OnOne("ErrGroup", "ConcPool"), OnOne("ConcPool", "AntsPool")),
			Cause: &Cause{"On one CPU errgroup, with a goroutine for each task, takes longer than 50,000 goroutines on a channel and than conc.", Claim{
				Bar: More, Pairs: append(OnOne("Sleepers/model=channel", "ErrGroup"), OnOne("ConcPool", "ErrGroup")...)}},
			Note: "On one core of the M1 it was the other way round: conc before errgroup.",
		}, {
			Says: "conc allocates least, then ants, plain goroutines and errgroup.", Bar: More, There: "machine:m1-8",
			Pairs: In("B/op", slices.Concat(Than("ConcPool", "AntsPool"), Than("AntsPool", "Goroutines"), Than("Goroutines", "ErrGroup"))...),
			Note: "The article's code makes a closure for each task of ants, errgroup and plain goroutines, and none for conc. A million closures " +
				"of 16 bytes are 16 MB. On the other three machines plain goroutines allocated 96 to 120 MB, and errgroup 104.",
		}, {
			Says: "conc allocates a tenth of what plain goroutines do.", Bar: AtMost(0.1), There: "machine:m1-1",
			Pairs: In("B/op", Than("Goroutines", "ConcPool")...),
			Cause: &Cause{"conc allocates for each worker, not for each task. With 5,000 workers and 200,000 tasks it allocates less than a tenth.", Claim{
				Bar: AtMost(0.1), Filter: surveyControl, Pairs: In("B/op", Than("Goroutines", "ConcPool")...)}},
		}, {
			Says: "At its peak a pool needs less memory than plain goroutines.", Bar: More,
			Pairs: In("peak-B/op", slices.Concat(Than("ConcPool", "Goroutines"), Than("AntsPool", "Goroutines"))...),
			Note:  "ants on all CPUs, and stint.Pool, need less under the same limit: see the table. Under overload a pool bounds the memory: see the next article.",
			Cause: &Cause{"50,000 workers that all start need more memory than plain goroutines: written by hand, on a channel, they do too.", Claim{
				Bar: Less, Pairs: In("peak-B/op", Than("Sleepers/model=channel", "Goroutines")...)}},
		}, {
			Says: "conc takes a tenth of the memory of plain goroutines.", Bar: AtMost(0.1), There: "machine:m1-1",
			Pairs: In("peak-B/op", Than("Goroutines", "ConcPool")...),
			Note:  "Until November 2026 this page had conc 19 to 26 % below plain goroutines: that was all memory of heap and stacks, and this is its rise.",
			Cause: &Cause{"The article's MB/op count all bytes allocated in an op, and no stacks. " +
				"Most memory at the peak belongs to 50,000 goroutines: written by hand, they need about as much.", Claim{
				Bar: AtLeast(0.9), Pairs: In("peak-B/op", Than("ConcPool", "Sleepers/model=channel")...)}},
		}, {
			Ours: true, Says: "A pool that is kept for ten ops allocates less for each than a pool made for each op.", Bar: More, Filter: surveyTen,
			Pairs: In("B/op", surveyKept...),
			Note:  "The article has such runs, in screenshots that are lost. These are as many ops.",
		}, {
			Ours: true, Says: "A pool that is kept for fifty ops allocates less for each than a pool made for each op.", Bar: More, Filter: surveyFifty,
			Pairs: In("B/op", slices.Clone(surveyKept)...),
		}, {
			Says: "On one CPU a channel of each worker's own is faster without a buffer than with one of 1. ants has none there.", Bar: More, Filter: surveyFiles,
			Pairs: OnOne("WorkerChannel/channel=own/buffer=0", "WorkerChannel/channel=own/buffer=1"),
			Note:  "ants decides when the program starts: with -cpu=1 on a machine with more CPUs it keeps the buffer.",
			Cause: &Cause{"A worker is in the list of idle ones before it receives: without a buffer, a caller that has found it waits for it. " +
				"One unbuffered channel for all, without a list, is faster.", Claim{
				Bar: More, Filter: surveyFiles, Pairs: OnOne("WorkerChannel/channel=shared/buffer=0", "WorkerChannel/channel=own/buffer=0")}},
		}, {
			Says: "On more CPUs a buffer of 1 in each worker's channel is faster. ants has it there.", Bar: More, Filter: surveyFiles,
			Pairs: OnAll("WorkerChannel/channel=own/buffer=1", "WorkerChannel/channel=own/buffer=0"),
			Note: "conc has one unbuffered channel for all workers, and no list of workers, though the article says that it has one. " +
				"The list of ants is a stack under a lock; here it is a channel.",
			Cause: &Cause{"The list of idle workers takes more than a buffer can save: one unbuffered channel for all, without a list, is faster.", Claim{
				Bar: More, Filter: surveyFiles, Pairs: OnAll("WorkerChannel/channel=shared/buffer=0", "WorkerChannel/channel=own/buffer=1",
					"WorkerChannel/channel=own/buffer=0")}},
		}, {
			Says: "A pool makes concurrent code simpler: errgroup and conc take fewer lines for the MD5 sums of a tree.", Bar: More, Filter: surveyFiles,
			Pairs: []Pair{{A: "MD5All/model=goroutines", B: "MD5All/model=errgroup", Unit: "lines"}, {A: "MD5All/model=goroutines", B: "MD5All/model=conc", Unit: "lines"}},
			Note: "The article says that arguments reach tasks of errgroup only over a channel; a closure passes them too. As printed, " +
				"its three libraries share one channel, and each closes it, which panics; here each has a function of its own.",
		}, {
			Says: "ants takes more lines than errgroup and conc.", Bar: More, Filter: surveyFiles,
			Pairs: []Pair{{A: "MD5All/model=ants", B: "MD5All/model=errgroup", Unit: "lines"}, {A: "MD5All/model=ants", B: "MD5All/model=conc", Unit: "lines"}},
			Note:  "Its code also loses errors. With PoolWithFuncGeneric an argument needs no type assertion; another function needs another pool.",
		},
		{Says: "errgroup starts a goroutine for each task; conc and ants reuse workers.", Test: "TestCells/Worker_reuse of lab/features"},
		{Says: "conc catches a task's panic; Wait panics with it, and its caller can recover.", Test: "TestCells/Panics/conc of lab/features"},
		{Says: "Of the five features conc has the most: three in full, waiting in part, changing the limit not at all.", Test: "TestCells of lab/features",
			Note: "It needs Go 1.19: for types of sync/atomic, and not, as the article has it, for generics."},
		{
			Says: "Of the three, only ants can change its limit while tasks run.", Test: "TestCells/Resizing of lab/features",
			Note: "Any goroutine may change it. A higher limit holds at once; under a lower one, idle workers still count.",
		},
		{
			Says: "`NewGoroutinePool(4, 10)` runs four tasks at once, gives them a context, and its Wait returns the errors.",
			Test: "TestGoroutinePool of lab/survey", Note: "It is `stint.NewGroup(ctx, stint.Limit(4), stint.Queue(10), stint.KeepGoing())`.",
		},
	},
	Tables: []Table{{
		Title: "Time of a million tasks that sleep for 10 ms; pools run at most 50,000 at once. Of a range in the article, its middle", Main: true,
		Rows: slices.Clone(surveyFour), Columns: append(surveyMachines(""), Column{Title: "here, 1 CPU"}, Column{Title: "here, all CPUs", All: true}),
	}, {
		Title: "The same: allocated in an op, and memory at the peak", Main: true,
		Rows: slices.Clone(surveyFour), Columns: append(surveyMachines("B/op"), Column{Title: "here, 1 CPU", Unit: "B/op"}, Column{Title: "here, all CPUs", All: true, Unit: "B/op"},
			Column{Title: "peak, 1 CPU", Unit: "peak-B/op"}, Column{Title: "peak, all CPUs", All: true, Unit: "peak-B/op"}),
	}, {
		Title: "200,000 tasks on all CPUs. In the row 'ants, made for each op', all tasks share one function", Filter: surveyEvery,
		Columns: append(slices.Clone(surveyUsual), Column{Title: "until all are submitted", All: true, Unit: "submit-sec/op"}),
		Rows:    append([]string{"Goroutines", "Channel", "ErrGroup", "ErrGroupCustom", "ConcPool", "AntsPool", "Kept/model=stint.Pool", "Kept/model=stint.Group"}, surveyModels("Sleepers", "channel", "ants", "pond", "stint.Pool", "stint.Group", "stint.Each")...),
	}, {
		Title: "2,000 tasks, 10 times by one pool", Filter: surveyTen, Columns: surveyUsual, Rows: surveyLong,
	}, {
		Title: "2,000 tasks, 50 times by one pool", Filter: surveyFifty, Columns: surveyUsual, Rows: surveyLong,
	}, {
		Title: "MD5 of 1,000 files: five goroutines read; the lines are those of the function, without what the first four share",
		Rows:  surveyModels("MD5All", "goroutines", "errgroup", "conc", "ants", "stint.MapSeq"), Filter: surveyFiles,
		Columns: append([]Column{{Title: "1 CPU"}}, append(slices.Clone(surveyUsual), Column{Title: "lines", All: true, Unit: "lines"})...),
	}, {
		Title: "Handing over 20,000 tasks of a microsecond", Filter: surveyFiles, Columns: append([]Column{{Title: "1 CPU"}}, surveyUsual...),
		Prefix: "WorkerChannel",
	}},
	Write: "For `NewGoroutinePool(4, 10)`: `stint.NewGroup(ctx, stint.Limit(4), stint.Queue(10), stint.KeepGoing())`, its Go and its Wait; " +
		"without KeepGoing the first error ends all. In a service, keep one " +
		"`stint.NewPool`. For a list or a walk: `stint.Each` or `stint.MapSeq` without an option.",
}

var (
	surveyFour  = append([]string{"Goroutines", "ErrGroup", "ConcPool", "AntsPool"}, surveyModels("Sleepers", "stint.Pool", "stint.Group")...)
	surveyLong  = append([]string{"Goroutines", "ErrGroup", "AntsPool", "Kept/model=stint.Pool", "Kept/model=stint.Group"}, surveyModels("Sleepers", "ants", "stint.Pool")...)
	surveyKept  = append(OnAll("AntsPool", "Sleepers/model=ants"), OnAll("Kept/model=stint.Pool", "Sleepers/model=stint.Pool")...)
	surveyUsual = []Column{{Title: "time", All: true}, {Title: "allocated", All: true, Unit: "B/op"}, {Title: "peak memory", All: true, Unit: "peak-B/op"}}
)

// surveyMachines are the author's, as columns. A range is its middle.
func surveyMachines(unit string) []Column {
	return []Column{
		{Title: "M1, 8 cores", There: "machine:m1-8", All: true, Unit: unit}, {Title: "M1, 1 core", There: "machine:m1-1", Unit: unit},
		{Title: "VM, 2 cores", There: "machine:vm-2", All: true, Unit: unit}, {Title: "VM, 1 core", There: "machine:vm-1", Unit: unit},
	}
}

// surveyModels returns the names of sub-benchmarks.
func surveyModels(of string, names ...string) (out []string) {
	for _, n := range names {
		out = append(out, of+"/model="+n)
	}
	return out
}
