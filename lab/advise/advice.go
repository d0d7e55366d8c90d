package advise

import (
	"time"

	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/stats"
)

// Worth is how many times as fast as the loop something must be to pay: less is not
// worth the thought that concurrent code takes.
const Worth = 1.1

// A row without an interval pays, too, if it is far times as fast as the loop, or more,
// in each of at least few rounds. If its median were less, then each round would show
// that with a probability of a half at most, and all of them with 1/8 for three rounds,
// 1/16 for four, 1/32 for five: the sign test. That is less certain than an interval,
// and Reason says so. It is for items that take so long that there is no time for more.
const (
	far = 1.5
	few = 3
)

// An Advice is what Run found out, and what follows from it.
type Advice struct {
	N      int           // items of the list
	Items  int           // how many of them a run takes: the first ones
	Budget time.Duration // how long all runs might take

	Work  Work           // what the function does
	Share stats.Estimate // processor time in the loop, as a part of the time
	Item  stats.Estimate // ns that an item takes in the loop

	Rows    []Row  // the loop first, the limits last, in ascending order
	Highest string // why there is no larger limit
	Auto    *Auto  // nil: not measured

	// Answer says whether concurrency pays: yes if a row is at least Worth times as
	// fast as the loop, no if none is, as far as the intervals tell, or few rounds that
	// are far from that. It is not no for a function that computes while other programs
	// use the processors.
	Answer result.Answer
	Best   string // the name of the row that is advised, or, if not sure, was best by far; empty: nothing was measured beside the loop
	Call   string // its code
	Reason string // in a sentence or two

	Warnings []result.Warning
	Result   *result.Result // the samples, in the form of the experiments

	cores int // of the machine, for this and all other programs
}

// A Row is what was found about one way to go through the list.
type Row struct {
	Name    string
	Limit   int            // 0: none that is fixed
	Call    string         // the code
	Time    stats.Estimate // ns that a run takes
	Speedup stats.Estimate // the time of the loop over this one's, in the same round
	Pays    result.Answer  // whether that is at least Worth, as in Answer; empty for those where one item runs at once

	times []float64
}

// An Auto is what became of the limit that finds itself.
type Auto struct {
	Limit  stats.Estimate // at the end of a run
	Phase  string         // as in stint.LimiterStats, at the end of the last run
	Reason string         // the same
	Beside string         // the row with the fixed limit that was fastest
	Ratio  stats.Estimate // the time over that one's, in the same round
}

// A Work says what a function does with its time.
type Work string

// What functions do. Where others use the processors, time in which a function waits
// for one counts as waiting.
const (
	Computes Work = "computes"
	Waits    Work = "waits"
	Both     Work = "computes and waits"
	Unknown  Work = "not known"
)

// Shares of processor time up to which a function waits, and from which on it computes.
const (
	waiting   = 0.2
	computing = 0.8
)

// Short is a kind of warning that is not one of package result: less was measured than
// the list, or than gives an interval.
const Short = "budget"
