// Package advise measures whether a function of yours should run concurrently, and how many
// calls should run at once. It reports whether the function computes or waits, whether
// concurrency pays, the throughput at each limit, and the code to write.
//
//	func TestFetchConcurrently(t *testing.T) {
//		report, err := advise.Run(t.Context(), len(urls), func(ctx context.Context, i int) error {
//			return fetch(ctx, urls[i])
//		})
//		if err != nil {
//			t.Fatal(err)
//		}
//		t.Log(report)
//	}
//
// "go test -v" prints the report. Do not measure with -race. Run takes about two seconds, or up
// to a minute if the answer is not clear. The items must not depend on each other. [Stages] is
// for a function in two steps. The command "stint advise" measures a command line. The page
// https://github.com/stint-go/stint/blob/main/docs/which.md answers the usual cases.
package advise

import (
	"context"
	"fmt"
	"time"

	"github.com/stint-go/stint"
)

// MinSpeedup is the smallest speedup over a plain loop that is worth concurrent code.
const MinSpeedup = 1.1

// A Report is the result of Run or Stages. It prints as text.
type Report struct {
	N     int           `json:"n"`       // items of the list
	Calls int           `json:"calls"`   // calls of the function so far
	Took  time.Duration `json:"took_ns"` // time of the measuring so far
	Item  Item          `json:"item"`    // one item, alone
	Work  Work          `json:"work"`    // how an item spends its time

	// Answer says whether concurrency pays: Yes if a model is at least MinSpeedup times as fast
	// as the loop, No if no model is, and NotSure if more items or more time are needed to say.
	Answer Answer  `json:"answer"`
	Limit  int     `json:"limit"`  // the smallest fixed limit with nearly the best throughput; 1 if the answer is no, 0 if not sure
	Best   *Model  `json:"best"`   // the model to use; the loop if the answer is not yes
	Models []Model `json:"models"` // the loop first, fixed limits last, in ascending order
	Reason string  `json:"reason"` // why Answer is so, in a sentence or two
	Code   string  `json:"code"`   // the code to write

	Notes []string `json:"notes"` // what is not known, and when not to follow the answer
}

// An Item is the cost of one item, alone.
type Item struct {
	Measured int           `json:"measured"`  // number of measured items
	Wall     time.Duration `json:"wall_ns"`   // median time
	P99      time.Duration `json:"p99_ns"`    // 99th percentile of the time; of fewer than 100 items, the longest time
	CPU      time.Duration `json:"cpu_ns"`    // CPU time of the item with the median time
	Memory   uint64        `json:"mem_bytes"` // bytes that the item allocated; for a command, the most that a process had; 0: not known
}

// A Work says how an item spends its time. The time in which it waits for a CPU counts as
// waiting.
type Work string

// The kinds of work.
const (
	Computes Work = "computes"           // CPU time is 80 % of the time, or more
	Waits    Work = "waits"              // CPU time is 20 % of the time, or less
	Both     Work = "computes and waits" // CPU time is between 20 and 80 % of the time
	Unknown  Work = "not known"
)

// An Answer says whether something holds.
type Answer string

// The answers.
const (
	Yes     Answer = "yes"
	No      Answer = "no"
	NotSure Answer = "not sure"
)

// A Model is one way to run the items.
type Model struct {
	Name      string        `json:"name"`
	Limit     int           `json:"limit"` // calls at once; 0: no fixed number
	Speedup   Estimate      `json:"speedup"`
	PerSecond float64       `json:"items_per_second"`
	P50       time.Duration `json:"p50_ns"` // median time of an item; 0: not known
	P99       time.Duration `json:"p99_ns"` // 99th percentile; of fewer than 100 items, the longest time
}

// An Estimate is a measured value. The true value is between Lo and Hi in 99 % of cases. Lo and
// Hi are 0 if there are too few samples for an interval. None of the three exceeds the speedup of
// a whole list that was slower, or the largest possible speedup: so they may be equal.
type Estimate struct {
	Value float64 `json:"value"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}

// Options change what Run does.
type Options struct {
	// Budget is how long Run may measure. Run returns earlier if more time would not change the
	// answer, and later if calls still run when the time is over. 0 means a minute.
	Budget time.Duration

	// Most is the largest number of calls at once. 0 means 256, or GOMAXPROCS if that is more.
	Most int

	// Once makes Run call f at most once for an index. Run then compares different items with
	// each other, so the answer is less sure.
	Once bool

	// CPU, if not nil, returns the CPU time that other processes have used for the items so
	// far. The CPU time of this process counts anyway.
	CPU func() time.Duration

	own func() time.Duration // CPU time of this process, in tests

	// Progress, if not nil, is called with the report so far, each time that the report has
	// changed.
	Progress func(*Report)
}

// Run measures f with the zero Options.
func Run(ctx context.Context, n int, f func(ctx context.Context, i int) error) (*Report, error) {
	return Options{}.Run(ctx, n, f)
}

// Run measures f for the indexes from 0 to n-1. Unless Once is set, Run calls f many times for
// an index, also concurrently. All CPU time of the process counts, so nothing else should run
// in the process.
//
// The first error of f ends the measuring, and Run returns it. When ctx ends, Run starts no
// more calls, waits for the running calls, and returns the cause of ctx. The report is never
// nil: after an error it says what is known so far. A panic of f is raised by Run, and is a
// *stint.PanicError if the call was concurrent.
//
// Run panics if ctx or f is nil, or n, Budget or Most is negative.
func (o Options) Run(ctx context.Context, n int, f func(ctx context.Context, i int) error) (*Report, error) {
	models := rangeModels("err := stint.Range(ctx, n, f)")
	if o.Most > 0 {
		models = rangeModels(fmt.Sprintf("err := stint.Range(ctx, n, f, stint.Auto(1, %d))", o.Most), stint.Auto(1, o.Most))
	}
	return o.measure(ctx, "Run", n, f, models)
}
