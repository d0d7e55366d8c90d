package claims

import (
	"math"
	"slices"
)

// Scheduling is the third article of the series on scheduling in Go.
var Scheduling = Article{
	Title: "Go语言调度（三）：并发",
	Author: "A translation, 2021, of William Kennedy's \"Scheduling In Go : Part III - Concurrency\", 2018, " +
		"[the article](https://www.ardanlabs.com/blog/2018/12/scheduling-in-go-part3.html)",
	In:     "scheduling/add",
	Filter: "gogc:off goroutines:8",
	File:   "scheduling.txt",
	Names: map[string]string{
		"Sequential": "the loop", "SequentialAgain": "the loop, again", "Concurrent": "8 goroutines", "ConcurrentAgain": "8 goroutines, again",
		"Nothing": "8 goroutines without numbers", "Pieces": "pieces", "Pieces/pieces=1": "one piece", "Pieces/pieces=*": "the best number of pieces",
		"Place": "8 copies of a loop", "Workers": "goroutines", "Workers/workers=*": "the best number of goroutines", "Workers/workers=4": "4 goroutines",
		"Workers/workers=8": "8 goroutines", "Workers/workers=64": "64 goroutines", "Workers/workers=1000": "1,000 goroutines",
		"Sort/model=bubble": "the bubble sort", "Sort/model=parts/pieces=2": "the sort of 2 pieces alone",
		"Sort/model=last/pieces=2": "the last sort, of 2 sorted pieces", "Sort/model=last/pieces=8": "the last sort, of 8 sorted pieces", "Sort/model=parts+last/pieces=2": "the bubble sort in 2 pieces",
		"Sort/model=parts+last/pieces=8": "the bubble sort in 8 pieces", "Sort/model=merge/pieces=8": "the merge of 8 sorted pieces",
		"Sort/model=parts+merge/pieces=8": "the bubble sort of 8 pieces, merged",
	},
	Claims: slices.Concat(scheduling("add", "", []Claim{
		{Says: "A sum cut into 8 pieces takes longer than a loop on one CPU.", Bar: More, Cause: &schedulingNothing,
			Pairs: slices.Concat(OnOne("Sequential", "Concurrent"), OnOne("SequentialAgain", "ConcurrentAgain"))},
		{Says: "The loop takes 10 to 13 % less time than the pieces on one CPU.", Bar: AtMost(0.9), Cause: &schedulingNothing,
			Pairs: slices.Concat(OnOne("Concurrent", "Sequential"), OnOne("ConcurrentAgain", "SequentialAgain"))},
		{Says: "If pieces cost 10 % on one CPU, that is for goroutines and their switches.", Bar: AtLeast(0.1), Pairs: OnOne("Sequential", "Nothing"),
			Cause: &Cause{"The author's 10 % have another cause, which is not known. The place of a loop in a program can make such a difference, in the cache: of " +
				"eight copies of one loop the slowest takes longer by more.", Claim{Bar: AtLeast(1.1), Pairs: []Pair{{A: "Place", Unit: "slowest/fastest"}}}},
			Note: "Here the loop and the pieces add by the same instructions."},
		{Says: "One piece, in a goroutine of its own, takes as long as the loop.", Bar: Between(0.95, 1.05), Ours: true, Pairs: OnOne("Sequential", "Pieces/pieces=1")},
		{Says: "A goroutine for each CPU is best for work that computes: on one CPU, 2, 8, 64 and 1,000 pieces are not 5 % faster than one.",
			Bar: AtMost(1.05), Pairs: schedulingBest("Pieces/pieces=1", false)},
		{Says: "A goroutine for each CPU is best for work that computes: on two CPUs, 8, 64 and 1,000 pieces are not 5 % faster than two.",
			Bar: AtMost(1.05), CPUs: 2, Pairs: schedulingBest("Pieces/pieces=2", true)[1:]},
		{Says: "Work that computes is slower with more goroutines than CPUs: on one CPU with 2, 8 and 64.", Bar: More, Cause: &schedulingNothing,
			Pairs: OnOne("Pieces/pieces=1", "Pieces/pieces=2", "Pieces/pieces=8", "Pieces/pieces=64")},
		{Says: "The pieces are faster than the loop on more CPUs than one.", Bar: More, CPUs: 2,
			Pairs: slices.Concat(OnAll("Concurrent", "Sequential"), OnAll("ConcurrentAgain", "SequentialAgain"))},
		{Says: "The pieces take 41 to 43 % less time than the loop on 4 cores with 8 threads.", Bar: AtMost(0.59), CPUs: 8,
			Pairs: slices.Concat(OnAll("Sequential", "Concurrent"), OnAll("SequentialAgain", "ConcurrentAgain")),
			Note:  "Two CPUs can save half at most."},
		{Says: "8 goroutines that compute are faster on more CPUs than on one.", Bar: More, CPUs: 2,
			Pairs: []Pair{{A: "Concurrent", B: "Concurrent", BAll: true}, {A: "ConcurrentAgain", B: "ConcurrentAgain", BAll: true}}},
		schedulingTwice("sum"),
		{Says: "A goroutine that computes does not wait.", Bar: AtMost(64), Note: "The bar is ours: 8 are scheduled fewer than 64 times for a sum.",
			Pairs: []Pair{{A: "Concurrent", Unit: "scheduled/op"}, {A: "Concurrent", AAll: true, Unit: "scheduled/op"}}},
	}), scheduling("sort", "gogc:off", []Claim{
		{Says: "A bubble sort of 8 pieces and then of all is no faster than one of all.", Bar: NoGain,
			Pairs: Than("Sort/model=bubble", "Sort/model=parts+last/pieces=8")},
		{Says: "A bubble sort of 2 pieces and then of all is no faster than one of all.", Bar: NoGain,
			Pairs: Than("Sort/model=bubble", "Sort/model=parts+last/pieces=2"), Cause: &schedulingQuadratic},
		{Says: "The last sort undoes the work of the pieces: after 8 of them it takes as many comparisons as without.", Bar: AtLeast(0.95),
			Pairs: In("comparisons/op", OnOne("Sort/model=bubble", "Sort/model=last/pieces=8")...),
			Note:  "After 2 pieces it takes three quarters of them, after the article's three pieces 539 of 620."},
		{Says: "Nothing puts sorted pieces together efficiently.", Bar: NoGain, Pairs: Than("Sort/model=bubble", "Sort/model=parts+merge/pieces=8"),
			Cause: &Cause{"A merge does: it compares each number a few times. The article's program sorts all numbers again.",
				Claim{Bar: AtMost(0.01), Pairs: In("comparisons/op", Than("Sort/model=bubble", "Sort/model=merge/pieces=8")...)}}},
		{Says: "Sorted in three pieces, the article's 36 numbers are three sorted runs, not one.", Test: "TestRuns of lab/scheduling/sort",
			Note: "A merge of the runs takes 56 comparisons; the bubble sort of all takes 539, of 620 without the pieces."},
	}), scheduling("find", "gogc:off goroutines:8 items:1", []Claim{
		{Says: "8 goroutines search documents faster than a loop, on one CPU too: while one waits, others run.", Bar: More,
			Pairs: slices.Concat(Than("Concurrent", "Sequential"), Than("ConcurrentAgain", "SequentialAgain")),
			Note: "The article's headings say ten thousand documents, its text a thousand. A sleep stands for a read, as in the article. A sleep " +
				"holds no thread; a read from a disk does, and the runtime runs other goroutines on another thread."},
		{Says: "8 goroutines take 87 to 88 % less time than the loop.", Bar: AtMost(0.135), Note: "8 goroutines that only wait save 87.5 %.",
			Pairs: slices.Concat(Than("Sequential", "Concurrent"), Than("SequentialAgain", "ConcurrentAgain")),
			Cause: &Cause{"Decoding takes CPU time beside the waits: more than 20 ms for the thousand documents.", Claim{
				Bar: Bar{"more than 20 ms", 0.02, math.Inf(1)}, Pairs: []Pair{{A: "Concurrent", Unit: "cpu-sec/op"}}}}},
		schedulingTwice("search"),
		{Says: "More threads bring nothing to work that waits.", Bar: NoGain, Pairs: AllToOne("Concurrent", "ConcurrentAgain"),
			Cause: &Cause{"More CPUs decode faster. With documents that have no items they bring nothing.",
				Claim{Bar: NoGain, Filter: "gogc:off goroutines:8 items:0", Pairs: AllToOne("Concurrent")}}},
		{Says: "A goroutine that waits makes room for another on the same thread: on one CPU 8 wait at once.", Bar: AtLeast(8),
			Pairs: []Pair{{A: "Concurrent", Unit: "at-once"}},
			Note: "A goroutine that waits for a mutex makes room as well, which was not measured. An atomic operation, which the article names too, lets no goroutine wait: " +
				"each piece of the sum has one."},
		{Says: "Work that waits is faster with more goroutines than CPUs: with 8 than with 4, and with 64 than with 8.", Bar: More,
			Pairs: append(Than("Workers/workers=8", "Workers/workers=4"), Than("Workers/workers=64", "Workers/workers=8")...),
			Note:  "The article leaves open how many goroutines a thread should have. The curve below says it."},
		{Says: "Too many goroutines are slower: 1,000 against the best number.", Bar: More, Pairs: Than("Workers/workers=*", "Workers/workers=1000")},
		{Ours: true, Says: "stint.Map, which needs no number of goroutines, is faster than the article's 8 goroutines.", Bar: More,
			Pairs: Than("Find/model=stint.Map", "Concurrent")},
	})),
	Tables: []Table{
		{Title: "The sum of ten million numbers, without garbage collection; libraries take 65,536 at a time", Main: true,
			In: "scheduling/add", Columns: schedulingColumns("add"),
			Rows: slices.Concat(schedulingAuthors, []string{"Nothing", "Add/model=par.Range", "Add/model=par.Reduce"}, schedulingRows("Add/model="))},
		{Title: "Sorting 2,000 numbers, without garbage collection", In: "scheduling/sort", Filter: "gogc:off",
			Rows: slices.Concat([]string{"Sort/model=bubble", "Sort/model=parts+last/pieces=2", "Sort/model=parts+last/pieces=8"}, schedulingHalves,
				[]string{"Sort/model=parts+merge/pieces=8", "Sort/model=merge/pieces=8", "Sort/model=slices.Sort", "Sort/model=par.Sort"}), Columns: []Column{
				{Title: "here, 1 CPU"}, {Title: "here, all", All: true}, {Title: "comparisons", Unit: "comparisons/op"},
				{Title: "exchanges", Unit: "exchanges/op"}, {Title: "allocated", Unit: "B/op"}, {Title: "peak memory", All: true, Unit: "peak-B/op"}}},
		{Title: "Finding in a thousand documents, without garbage collection", Main: true,
			In: "scheduling/find", Filter: "gogc:off goroutines:8 items:1", Rows: slices.Concat(schedulingAuthors, schedulingRows("Find/model=")),
			Columns: append(schedulingColumns("find"), schedulingAtOnce...)},
		{Title: "The same with documents of ten items", In: "scheduling/find", Filter: "gogc:off goroutines:8 items:10",
			Rows:    append([]string{"Concurrent"}, schedulingRows("Find/model=")...),
			Columns: append([]Column{{Title: "here, 1 CPU"}, {Title: "here, all", All: true}}, schedulingAtOnce...)},
	},
	Curves: []Curve{
		{Title: "The sum in pieces, a goroutine each, on one CPU", X: "pieces", Filter: `gogc:off goroutines:8 /gomaxprocs:""`,
			Lines: []string{"Pieces/pieces=*"}},
		schedulingFind(true, "one item, on one CPU", `1 /gomaxprocs:""`), schedulingFind(false, "one item, on all CPUs", "1"),
		schedulingFind(false, "ten items, on one CPU", `10 /gomaxprocs:""`), schedulingFind(false, "ten items, on all CPUs", "10"),
	},
	Write: "`par.Range` adds in three statements: the article's function has 31 lines where the loop has 7, its search 35 where the loop has 15, and its bubble sort 26 more than the loop's. " +
		"`stint.Map(ctx, docs, read)` finds how many documents to read at once: the number depends on how long a document waits and how long it " +
		"takes to decode. `slices.Sort` or `par.Sort` sorts.",
}

var (
	schedulingAtOnce    = []Column{{Title: "at once, 1 CPU", Unit: "at-once"}, {Title: "at once, all", All: true, Unit: "at-once"}}
	schedulingHalves    = []string{"Sort/model=parts/pieces=2", "Sort/model=last/pieces=2"}
	schedulingAuthors   = []string{"Sequential", "Concurrent", "SequentialAgain", "ConcurrentAgain"}
	schedulingQuadratic = Cause{"On two CPUs the halves run at the same time, and the last sort need not repeat their exchanges: it makes half of " +
		"those of a whole sort. One after the other, a half and the last sort make as many comparisons as a whole sort, and three quarters of the exchanges.",
		Claim{Bar: AtMost(0.8), Pairs: slices.Concat(OnAll("Sort/model=bubble", schedulingHalves...),
			In("comparisons/op", OnOne("Sort/model=bubble", schedulingHalves...)...),
			In("exchanges/op", OnOne("Sort/model=bubble", schedulingHalves...)...))}}
	schedulingNothing = Cause{"Goroutines cost next to nothing here: 8 that have no numbers take less than a hundredth of the time of the sum.",
		Claim{Bar: AtMost(0.01), Pairs: OnOne("Sequential", "Nothing")}}
)

// schedulingBest compares a number of pieces with others.
func schedulingBest(n string, all bool) (pairs []Pair) {
	for _, other := range []string{"2", "8", "64", "1000"} {
		pairs = append(pairs, Pair{A: n, B: "Pieces/pieces=" + other, AAll: all, BAll: all})
	}
	return pairs
}

// schedulingTwice is that the author's benchmarks of a program, which he ran twice, agree.
func schedulingTwice(what string) Claim {
	return Claim{Says: "Each benchmark of the " + what + ", run twice, gives consistent results.", Bar: Between(0.9, 1.1), Note: "The bar is ours: 10 %.",
		Pairs: append(Than("Sequential", "SequentialAgain"), Than("Concurrent", "ConcurrentAgain")...)}
}

// scheduling returns claims about one of the author's programs.
func scheduling(work, filter string, claims []Claim) []Claim {
	for i := range claims {
		claims[i].In, claims[i].Filter, claims[i].There = "scheduling/"+work, filter, "work:"+work
	}
	return claims
}

func schedulingColumns(work string) []Column {
	there := "work:" + work
	return []Column{{Title: "the article, 1 CPU", There: there}, {Title: "the article, 8 threads", There: there, All: true}, {Title: "here, 1 CPU"},
		{Title: "here, all", All: true}, {Title: "goroutines scheduled", All: true, Unit: "scheduled/op"},
		{Title: "threads switched", All: true, Unit: "switches/op"}, {Title: "peak memory", All: true, Unit: "peak-B/op"}}
}

func schedulingRows(prefix string) (rows []string) {
	for _, m := range []string{"stint.Map", "stint.Range", "errgroup", "conc.pool", "ants", "pond", "goroutines"} {
		rows = append(rows, prefix+m)
	}
	return rows
}

func schedulingFind(main bool, what, items string) Curve {
	return Curve{Title: "Finding in a thousand documents of " + what, Main: main, X: "goroutines", In: "scheduling/find",
		Filter: "gogc:off goroutines:8 items:" + items, Lines: []string{"Workers/workers=*"}}
}
