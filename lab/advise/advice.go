package advise

import (
	"time"

	"github.com/stint-go/stint/lab/result"
	"github.com/stint-go/stint/lab/stats"
)

// MinSpeedup is the smallest speedup over the loop that pays. A smaller gain
// does not justify concurrent code.
const MinSpeedup = 1.1

// A row without an interval also pays if its speedup is at least clearSpeedup
// in each of at least minClearRounds rounds. If its median speedup were less,
// each round would show that with probability at most 1/2, and three rounds
// with 1/8: the sign test. It is less certain than an interval, as Reason says,
// and serves items that take too long for more rounds.
const (
	clearSpeedup   = 1.5
	minClearRounds = 3
)

// An Advice is the result of Run.
type Advice struct {
	N      int           // items of the list
	Items  int           // items measured: the first ones
	Budget time.Duration // time allowed for all runs

	Work  Work           // how the function spends its time
	Share stats.Estimate // CPU time in the loop per unit of time
	Item  stats.Estimate // ns per item in the loop

	Rows    []Row  // the loop first, the limits last, in ascending order
	Highest string // why there is no larger limit
	Auto    *Auto  // nil: not measured

	// Answer says whether concurrency pays: yes if a row reaches MinSpeedup, no
	// if all intervals show that none does. It is not sure, instead of no, if
	// other programs use the processors that a computing function needs.
	Answer result.Answer
	Best   string // name of the recommended row, or if not sure, of the fastest by far; empty: nothing was measured beside the loop
	Call   string // its code
	Reason string // in a sentence or two

	// Lines are command lines that do the same as Call, if the function runs a
	// command: see Command.Lines.
	Lines []string

	Warnings []result.Warning
	Result   *result.Result // the samples, as in the experiments

	cores int // of the machine
}

// A Row is the result for one model.
type Row struct {
	Name    string
	Limit   int            // 0: no fixed limit
	Call    string         // the code
	Time    stats.Estimate // ns per run
	Speedup stats.Estimate // the loop's time to this one's, paired by round
	Pays    result.Answer  // whether Speedup reaches MinSpeedup; empty for sequential rows

	times []float64
}

// An Auto describes the adaptive limit.
type Auto struct {
	Limit     stats.Estimate // at the end of a run
	Phase     string         // as in stint.LimiterStats, at the end of the last run
	Reason    string         // the same
	BestFixed string         // the fastest row with a fixed limit
	Ratio     stats.Estimate // the time to that row's, paired by round
}

// A Work says how a function spends its time.
type Work string

// Kinds of work. Waiting for a processor that others use counts as waiting.
const (
	Computes Work = "computes"
	Waits    Work = "waits"
	Both     Work = "computes and waits"
	Unknown  Work = "not known"
)

// Share of CPU time up to which a function waits, and from which it computes.
const (
	waiting   = 0.2
	computing = 0.8
)

// Short is the kind of the warnings that only a part of the list, or too few
// rounds, were measured.
const Short = "budget"
