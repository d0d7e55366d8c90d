// Package advise measures whether a function of your own is faster
// concurrently. It compares a plain loop with stint.Range under limits of 1, 2,
// 4 and so on, with stint.Range without a limit, and, if the function computes,
// with par.Range. It reports whether the function computes or waits, the
// speedups, whether concurrency pays, and the code to write.
//
//	func TestFetchConcurrently(t *testing.T) {
//		advice, err := advise.Run(t.Context(), len(urls), func(i int) { fetch(urls[i]) })
//		if err != nil {
//			t.Fatal(err)
//		}
//		t.Log(advice)
//	}
//
// The items must not depend on each other. Work whose parts must be merged is one item: compare
// par.Reduce or par.Sort with the sequential function in a benchmark.
//
// The command "go run ./lab advise" does the same for a command line.
package advise

import (
	"context"
	"fmt"
	"time"
)

// An Advice is the result of Run.
type Advice struct {
	N      int           // items of the list
	Items  int           // items measured: the first ones
	Budget time.Duration // time for all runs
	Needed time.Duration // the budget that may decide, if the answer is not sure

	Work  Work     // how the function spends its time
	Share Estimate // CPU time in the loop per unit of time
	Item  Estimate // ns per item in the loop

	Rows    []*Row  // the loop first, the limits last, in ascending order
	Highest string  // why there is no larger limit
	Limit   float64 // the adaptive limit at the end of its last run

	// Answer says whether concurrency pays: yes if a row reaches MinSpeedup, no if all
	// intervals show that none does.
	Answer   Answer
	Best     *Row     // recommended, or if not sure, the fastest by far; nil: nothing was measured beside the loop
	Reason   string   // in a sentence or two
	Lines    []string // command lines that do the same: see Command.Lines
	Warnings []string
}

// A Row is the result for one model.
type Row struct {
	Name    string
	Limit   int      // 0: no fixed limit
	Call    string   // the code
	Time    Estimate // ns per run
	Speedup Estimate // the loop's time to this one's, paired by round
	Pays    Answer   // whether Speedup reaches MinSpeedup; empty for sequential rows

	run        func(context.Context) error
	reps       int       // runs in a sample
	times, cpu []float64 // ns per run, one per round
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

// Options change how the function is measured.
type Options struct {
	// Budget is the approximate duration; the end of running calls is waited for. 0: 5 s to
	// a minute, by the time that the first items take.
	Budget time.Duration

	// Most is the largest number of concurrent calls, for example for a server with a quota.
	// 0: 256, or GOMAXPROCS if that is more.
	Most int

	// CPU returns the CPU time used so far, or false if it is not known, of functions whose
	// work is done by other processes; par.Range is then not measured. nil: this process's,
	// which is known on Unix only.
	CPU func() (time.Duration, bool)

	own func() (time.Duration, bool) // CPU time of this process, if a test has not that of the kernel
}

// Run measures f without options.
func Run(ctx context.Context, n int, f func(i int)) (*Advice, error) {
	return Options{}.Run(ctx, n, f)
}

// Run measures f on the indexes from 0 to n-1. It calls f many times and
// concurrently, also with the same index. If runs of all items take too long
// for the budget, it measures the first items only, two at least. CPU time is
// that of the process, so nothing else should run in it. Run uses real time and
// does not work in a testing/synctest bubble.
//
// When ctx ends, Run starts no more calls of f, except for some milliseconds if
// they are short, and returns the cause of ctx with the advice so far, which is
// never nil.
//
// A panic of f in the loop propagates; in other models it is a
// *stint.PanicError. Run panics if ctx or f is nil or n, Budget or Most is negative.
func (o Options) Run(ctx context.Context, n int, f func(i int)) (*Advice, error) {
	if ctx == nil || f == nil || n < 0 || o.Budget < 0 || o.Most < 0 {
		panic(fmt.Sprintf("advise: Run: n = %d, budget %v, most %d: want 0 or more, a context and a function", n, o.Budget, o.Most))
	}
	s := &session{Advice: &Advice{N: n, Items: n}, Options: o, f: f}
	err := s.measure(ctx)
	s.judge()
	return s.Advice, err
}
