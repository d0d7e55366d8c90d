package claims

import "slices"

// Pools is the second article of the series on concurrency in Go.
var Pools = Article{
	Title:  "golang并发三板斧系列之二：goroutine池用于并发",
	Author: "baixiaoustc, 2019, [the article](http://baixiaoustc.com/2019/02/20/2019-02-20-golang-concurency-2-goroutine-pool/)",
	In:     "pools",
	Filter: "gogc:off cpus:28",
	File:   "pools.txt",
	Names: map[string]string{
		"CPUSequential": "a loop", "CPUPipeline": "a pipeline", "CPUPipelineBuffer": "a pipeline with buffers", "CPUFan": "a fan",
		"CPUFanBuffer": "a fan with buffers", "CPUParallelize": "pieces", "CPUPoolMin": "the small pool", "CPUPool": "the pool",
		"CPUPoolMax": "the large pool", "IOSequential": "a loop", "IOPipeline": "a pipeline", "IOPipelineBuffer": "a pipeline with buffers",
		"IOFan": "a fan", "IOFanBuffer": "a fan with buffers", "IOParallelize": "pieces", "IOPoolMin": "the small pool",
		"IOPool": "the pool", "IOPoolMax": "the large pool", "IO/model=balanced": "pieces cut evenly", "CPUWorkers/workers=1": "a pool of one worker",
		"CPUWorkers": "workers", "IOWorkers": "workers",
		"FewCPU/model=goroutines": "a goroutine for each", "Channel/way=shared": "one channel for all",
		"Channel/way=own":    "a channel for each sender",
		"Channel/way=select": "a select on one channel", "Channel/way=select/Ps=many": "a select with eight Ps for each CPU",
		"Channel/way=shared/Ps=many":   "one channel for all with eight Ps for each CPU",
		"Stages/work=waits/model=loop": "a loop of two waits", "Stages/work=waits/model=pipeline": "a pipeline of two waits",
		"Stages/work=waits/model=stream": "a stream of two waits", "Stages/work=computes/model=loop": "a loop of two powers",
		"Stages/work=computes/model=stream": "a stream of two powers", "Stages/work=computes/model=batches": "a pipeline of batches",
	},
	Claims: []Claim{{
		Says: "When items compute, a loop is faster than pipelines and fans.", Bar: More, Pairs: Than("CPUSequential", poolsChannels...),
	}, {
		Says: "The results of a fan come in any order.", Test: "TestOrder of lab/models", Note: "stint.Map returns them in the order of the items. " +
			"The article says that one goroutine reads all channels of a fan; in its code each has a goroutine.",
	}, {
		Says: "When items compute, pipelines and fans without buffers are slower on more CPUs than one.",
		Bar:  More, Pairs: AllToOne("CPUPipeline", "CPUFan"), Cause: &poolsTurns,
	}, {
		Says: "When items compute, pipelines and fans with buffers are slower on more CPUs than one.",
		Bar:  More, Pairs: AllToOne("CPUPipelineBuffer", "CPUFanBuffer"), Cause: &poolsShared,
	}, {
		Says: "When items compute, buffers make pipelines and fans faster.", Bar: More, Pairs: slices.Clone(poolsBuffers),
	}, {
		Says: "With buffers goroutines block less: they are scheduled fewer times.", Bar: More, Pairs: In("scheduled/op", slices.Clone(poolsBuffers)...),
	}, {
		Says: "When items compute, 28 pieces with a WaitGroup are faster than a loop, and than all other models, on more CPUs than one.",
		Bar:  More, Pairs: OnAll("CPUParallelize", append(poolsChannels, "CPUSequential")...), CPUs: 2,
	}, {
		Says: "On one CPU pieces are no faster than a loop.", Bar: NoGain, Pairs: OnOne("CPUSequential", "CPUParallelize"),
	}, {
		Says: "A loop that computes gains nothing from more CPUs.", Bar: NoGain, Pairs: AllToOne("CPUSequential"),
		Note: "The article has 95 ms on 1 CPU and 101 ms on 8.",
	}, {
		Says: "When items wait, the fan has the advantage: it is faster than a loop and pipelines.", Bar: More,
		Pairs: Than("IOFan", "IOSequential", "IOPipeline", "IOPipelineBuffer"), Note: "14 items wait at once in it. Pools with more workers are faster.",
	}, {
		Says: "When items wait, a fan is faster than pieces.", Bar: More, Pairs: Than("IOFan", "IOParallelize"),
		Note: "The article names no number of CPUs. Its times fit 28 pieces: the last has 19 of 100 items, the others have 3.",
	}, {
		Says: "28 pieces cut evenly are faster than a fan of 14 workers, and than the article's 28 pieces: those lose by the last, which has 19 items.",
		Bar:  More, Ours: true, Pairs: Than("IO/model=balanced", "IOFan", "IOParallelize"),
	}, {
		Says: "When items wait, buffers make nothing faster.", Bar: NoGain,
		Pairs: slices.Concat(Than("IOPipeline", "IOPipelineBuffer"), Than("IOFan", "IOFanBuffer")),
	}, {
		Says: "When items wait, no model gains from more CPUs.", Bar: NoGain, Pairs: AllToOne(poolsWaits...),
	}, {
		Says: "When items compute, channels without buffers only cost time: on more CPUs too, a loop is faster than a pipeline, " +
			"and a pipeline than a fan.",
		Bar: More, CPUs: 2, Pairs: append(OnAll("CPUSequential", "CPUPipeline", "CPUFan"), OnAll("CPUPipeline", "CPUFan")...),
		Note: "When items wait, 14 of them wait at once in a fan without buffers.",
	}, {
		Says: "Work that computes is faster on more CPUs if it is cut in pieces.", Bar: More, CPUs: 2,
		Pairs: []Pair{{A: "CPUParallelize", B: "CPUParallelize", BAll: true}},
	}, {
		Says: "On average over nine models, more CPUs do not make work that waits faster.", Bar: NoGain, Mean: true,
		Pairs: AllToOne(append(poolsWaits, "IOPoolMin", "IOPool", "IOPoolMax")...),
	}, {
		Says: "The author sees no use for a pipeline: it is no faster than a loop.", Bar: NoGain,
		Pairs: append(Than("CPUSequential", "CPUPipeline"), Than("IOSequential", "IOPipeline")...),
		Note:  "All work of these pipelines is in one stage, though a pipeline may have any number. The rows on two stages have two.",
	}, {
		Says: "The stages of a pipeline work at the same time: two that wait for different things overlap, on one CPU too.", Bar: More, Filter: "gogc:100",
		Pairs: slices.Concat(Than("Stages/work=waits/model=pipeline", "Stages/work=waits/model=loop"),
			Than("Stages/work=waits/model=stream", "Stages/work=waits/model=loop")),
	}, {
		Says: "Two stages that compute overlap on two CPUs, if the numbers pass in batches.", Bar: More, Filter: "gogc:100", CPUs: 2, Ours: true,
		Pairs: slices.Concat(OnAll("Stages/work=computes/model=batches", "Stages/work=computes/model=loop"),
			OnAll("Stages/work=computes/model=stream", "Stages/work=computes/model=loop")),
		Note: "A stream takes single numbers, and wakes the second stage for many. A channel operation for each number costs about as much as a power.",
	}, {
		Says: "runtime.NumCPU does not follow GOMAXPROCS.", Test: "TestNumCPU of lab/pools",
		Note: "NumCPU counts the CPUs that the process may use when it starts. Since Go 1.25 GOMAXPROCS follows the CPU limit of a container.",
	}, {
		Says: "With GOMAXPROCS=1 on a machine of 28 CPUs, a pool of NumCPU workers is too large: it takes longer and allocates more than one worker.",
		Bar:  More, Ours: true, Pairs: append(OnOne("CPUWorkers/workers=1", "CPUPool"), In("B/op", OnOne("CPUWorkers/workers=1", "CPUPool")...)...),
	}, {
		Says: "Pools of 14 and of 28 that compute the powers of a hundred numbers are slower on more CPUs than one.", Bar: More,
		Pairs: AllToOne("CPUPoolMin", "CPUPool"), Cause: &poolsStart,
	}, {
		Says: "The pool of 280 is, too.", Bar: More, Pairs: AllToOne("CPUPoolMax"), Cause: &poolsStart,
	}, {
		Says: "A pool that computes a hundred powers is slower with too many workers: 280 against 28.", Bar: More, Pairs: Than("CPUPool", "CPUPoolMax"),
	}, {
		Says: "With garbage collection and this machine's numbers of workers too, such pools mostly start workers and pass numbers: a loop takes less than half of the time.", Bar: AtLeast(2),
		Ours: true, Filter: "gogc:100", Pairs: Than("FewCPU/model=loop", "CPUPoolMin", "CPUPool", "CPUPoolMax"),
	}, {
		Says: "By the article's figures, a pool that computes is faster with 14 workers than with 28.", Bar: More, Pairs: Than("CPUPoolMin", "CPUPool"),
	}, {
		Says: "Pools that wait do not gain from more CPUs.", Bar: NoGain, Pairs: AllToOne("IOPoolMin", "IOPool", "IOPoolMax"),
	}, {
		Says: "Within a range, a pool that waits is faster with more workers: 28 against 14, 280 against 28.", Bar: More,
		Pairs: append(Than("IOPool", "IOPoolMin"), Than("IOPoolMax", "IOPool")...),
	}, {
		Says: "The range reaches to the number of items: for 100 items, 128 workers are faster than 64.", Bar: More, Ours: true,
		Pairs: Than("IOWorkers/workers=128", "IOWorkers/workers=64"),
	}, {
		Says: "More workers than items bring nothing: for 100 items, 256 and 512 are no faster than 128.", Bar: NoGain, Ours: true,
		Pairs: Than("IOWorkers/workers=128", "IOWorkers/workers=256", "IOWorkers/workers=512"),
	}, {
		Says: "Pools, which use channels, gain nothing from more CPUs, whether they compute or wait.", Bar: NoGain,
		Pairs: AllToOne("CPUPoolMin", "CPUPool", "CPUPoolMax", "IOPoolMin", "IOPool", "IOPoolMax"), Cause: &poolsStart,
		Note: "When items wait, channels are not the reason: a loop and pieces gain nothing either. " +
			"For items that compute, see the goroutines without channels below.",
	}, {
		Says: "Without channels too, 100 goroutines for these powers gain nothing from more CPUs.", Bar: NoGain, Filter: "gogc:100", Ours: true,
		Pairs: AllToOne("FewCPU/model=goroutines"),
	}, {
		Says: "Each channel operation takes the channel's lock, which is a bottleneck when many goroutines use it.", Bar: More, CPUs: 2,
		Pairs: append(OnAll("Channel/way=own", "Channel/way=shared"), AllToOne("Channel/way=shared")...),
		Note:  "The article on channels has the cost of a channel operation.",
	}, {
		Says: "In pipelines most of the cost is not the lock but blocking: on one CPU too, a pipeline takes more than twice the time of one with buffers.",
		Bar:  AtLeast(2), Ours: true, Pairs: OnOne("CPUPipelineBuffer", "CPUPipeline"),
	}, {
		Says: "A select on a shared channel is slow with many Ps ([Go issue 20351](https://github.com/golang/go/issues/20351), open since 2017).",
		Bar:  More, CPUs: 2, Note: "It is slower than a plain receive, on more CPUs than on one, and with eight Ps for each CPU than with one.",
		Pairs: slices.Concat(OnAll("Channel/way=shared", "Channel/way=select"), OnAll("Channel/way=select", "Channel/way=select/Ps=many"),
			AllToOne("Channel/way=select"), OnAll("Channel/way=shared/Ps=many", "Channel/way=select/Ps=many")),
	}},
	Tables: []Table{{
		Title: "Computing without garbage collection: the powers of a million numbers, with 14 workers, 28 pieces and buffers of 1,000", Main: true,
		Rows: append([]string{"CPUSequential", "CPUParallelize"}, poolsChannels...), Columns: poolsColumns,
	}, {
		Title: "Computing without garbage collection: the powers of a hundred numbers, in pools of 14, 28 and 280", Main: true,
		Rows: []string{"CPUPoolMin", "CPUPool", "CPUPoolMax"}, Columns: poolsColumns,
	}, {
		Title: "Waiting without garbage collection: a hundred sleeps of 0 to 9 ms, with pools of 14, 28 and 280", Main: true,
		Rows: slices.Concat(poolsWaits, []string{"IO/model=balanced", "IOPoolMin", "IOPool", "IOPoolMax"},
			poolsRows("IO/model=")), Columns: append(poolsColumns, Column{Title: "at once", All: true, Unit: "at-once"}),
	}, {
		Title: "Computing with garbage collection: the powers of 100,000 numbers, with this machine's workers", Filter: "gogc:100",
		Rows: slices.Concat([]string{"CPUSequential", "CPUParallelize"}, poolsChannels, []string{"CPU/model=loop", "CPU/model=par.Reduce"},
			poolsRows("CPU/model=")), Columns: poolsColumns[2:],
	}, {
		Title: "Computing with garbage collection: the powers of a hundred numbers, with this machine's workers", Filter: "gogc:100",
		Rows: slices.Concat([]string{"FewCPU/model=loop", "CPUPoolMin", "CPUPool", "CPUPoolMax", "FewCPU/model=par.Reduce"},
			poolsRows("FewCPU/model=")), Columns: poolsColumns[2:],
	}, {
		Title: "Two stages: 20 items with two waits of 2 ms, 100,000 numbers with two powers each", Filter: "gogc:100",
		Prefix: "Stages/", Columns: poolsColumns[2:],
	}, {
		Title:  "One channel for all, and a channel for each sender: 100,000 numbers. With eight Ps for each CPU both columns have all CPUs",
		Prefix: "Channel/", Columns: poolsColumns[2:],
	}},
	Curves: []Curve{
		{Title: "Workers of a pool, 100 items that wait", X: "workers", Lines: []string{"IOWorkers/workers=*"}},
		{Title: "Workers of a pool, 100 items that compute", X: "workers", Lines: []string{"CPUWorkers/workers=*"}},
	},
	Write: "`par.Reduce` or `par.Map` for work that computes, and a plain loop for a short list of it; `stint.Map(ctx, list, f)` for work that " +
		"waits, which finds how many items to run at once; `stream.Buffer` between stages that wait for different things. None of them needs " +
		"a number of workers.",
}

var (
	poolsChannels = []string{"CPUPipeline", "CPUPipelineBuffer", "CPUFan", "CPUFanBuffer"}
	poolsWaits    = []string{"IOSequential", "IOPipeline", "IOPipelineBuffer", "IOFan", "IOFanBuffer", "IOParallelize"}
	poolsColumns  = []Column{
		{Title: "the article, 1 CPU", There: "*"}, {Title: "the article, 8 CPUs", There: "*", All: true},
		{Title: "here, 1 CPU"}, {Title: "here, all", All: true}, {Title: "allocated", All: true, Unit: "B/op"},
		{Title: "peak memory", All: true, Unit: "peak-B/op"}, {Title: "goroutines scheduled", All: true, Unit: "scheduled/op"},
	}
	poolsBuffers = slices.Concat(Than("CPUPipelineBuffer", "CPUPipeline"), Than("CPUFanBuffer", "CPUFan"))
	poolsShared  = Cause{"The workers of a fan with buffers share the CPUs: they take more CPU time than on one, but not twice as much.",
		Claim{Bar: Between(1, 2), Pairs: In("cpu-sec/op", AllToOne("CPUFanBuffer")...)}}
	poolsTurns = Cause{"Without buffers the goroutines of a pipeline take turns: on two CPUs it takes no more CPU time than on one, so that nothing is lost.",
		Claim{Bar: AtMost(1.05), Pairs: In("cpu-sec/op", AllToOne("CPUPipeline")...)}}
	poolsStart = Cause{"The pool of 280 takes little more CPU time on two CPUs than on one.",
		Claim{Bar: AtMost(1.25), Pairs: In("cpu-sec/op", AllToOne("CPUPoolMax")...)}}
)

// poolsRows returns the benchmarks of the libraries.
func poolsRows(prefix string) (rows []string) {
	for _, m := range []string{"stint.Map", "stint.Range", "stream", "goroutines", "errgroup", "conc.iter", "conc.pool", "ants", "pond"} {
		rows = append(rows, prefix+m)
	}
	return rows
}
