package stream_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// linger is how long a record may wait in the library.
const linger = time.Millisecond

// at is a record with the time at which its source had it.
type at struct {
	v    int
	when time.Duration
}

// timed yields 0 to n-1, each with its time, after a pause.
func timed(n int, pause func(i int)) iter.Seq[at] {
	return func(yield func(at) bool) {
		for i := range n {
			pause(i)
			if !yield(at{i, sinceBubble()}) {
				return
			}
		}
	}
}

// A hop is a stage of records with times.
type hop struct {
	name string
	add  func(s stream.Stream[at]) stream.Stream[at]
}

func passOn(_ context.Context, v at) (at, error) { return v, nil }

// hops are the boundaries, and two with a stage between.
var hops = []hop{
	{"Buffer(1)", func(s stream.Stream[at]) stream.Stream[at] { return stream.Buffer(s, 1) }},
	{"Buffer(1000)", func(s stream.Stream[at]) stream.Stream[at] { return stream.Buffer(s, 1000) }},
	{"ParMap(1)", func(s stream.Stream[at]) stream.Stream[at] { return stream.ParMap(s, passOn, stint.Limit(1)) }},
	{"ParMap(8)", func(s stream.Stream[at]) stream.Stream[at] { return stream.ParMap(s, passOn, stint.Limit(8)) }},
	{"ParMap", func(s stream.Stream[at]) stream.Stream[at] { return stream.ParMap(s, passOn) }},
	{"Unordered", func(s stream.Stream[at]) stream.Stream[at] {
		return stream.ParMap(s, passOn, stint.Limit(4), stint.Unordered())
	}},
	{"Merge", func(s stream.Stream[at]) stream.Stream[at] {
		return stream.Merge(s, stream.Generate(func(ctx context.Context, _ func(at) bool) error { <-ctx.Done(); return nil }))
	}},
	{"Buffer+Map", func(s stream.Stream[at]) stream.Stream[at] {
		return stream.Map(stream.Buffer(s, 64), func(v at) at { return v })
	}},
}

// inTime fails the test unless s has n records, each of which takes at most a time.
func inTime(t *testing.T, s stream.Stream[at], n int, most time.Duration) {
	t.Helper()
	got := 0
	for v, err := range s.All(t.Context()) {
		if err != nil {
			t.Error(err)
		}
		if late := sinceBubble() - v.when; late > most {
			t.Errorf("record %d took %v", v.v, late)
		}
		if got++; got == n {
			break
		}
	}
	equal(t, "records", got, n)
}

// everyPipeline runs a test in a bubble for every source with 1 to 5 of each hop in a row, and with
// all hops in a row.
func everyPipeline(t *testing.T, test func(t *testing.T, pipeline func(seq iter.Seq[at]) stream.Stream[at])) {
	for _, o := range sourcesOf[at]() {
		for _, h := range hops {
			for depth := 1; depth <= 5; depth++ {
				bubble(t, fmt.Sprint(o.name, "/", h.name, "/", depth), func(t *testing.T) {
					test(t, func(seq iter.Seq[at]) stream.Stream[at] {
						s := o.open(t, seq)
						for range depth {
							s = h.add(s)
						}
						return s
					})
				})
			}
		}
		bubble(t, o.name+"/mixed", func(t *testing.T) {
			test(t, func(seq iter.Seq[at]) stream.Stream[at] {
				s := o.open(t, seq)
				for _, h := range hops {
					s = h.add(s)
				}
				return s
			})
		})
	}
}

// Records before a silence arrive after at most one linger, however many boundaries there are.
func TestRecordsBeforeASilence(t *testing.T) {
	everyPipeline(t, func(t *testing.T, pipeline func(iter.Seq[at]) stream.Stream[at]) {
		for _, n := range []int{1, 2, 10, 300} {
			silence := make(chan struct{})
			s := pipeline(timed(n+1, func(i int) {
				if i == n {
					select {
					case <-silence:
					case <-time.After(time.Hour):
					}
				}
			}))
			got := 0
			for v, err := range s.All(t.Context()) {
				if err != nil {
					t.Error(err)
				}
				if late := sinceBubble() - v.when; late > linger {
					t.Errorf("record %d of %d took %v", v.v, n, late)
				}
				if got++; got == n {
					close(silence) // only now: the loop that is left waits for the source
					break
				}
			}
			equal(t, "records", got, n)
		}
	})
}

// A record after a silence arrives at once.
func TestALoneRecordDoesNotWait(t *testing.T) {
	everyPipeline(t, func(t *testing.T, pipeline func(iter.Seq[at]) stream.Stream[at]) {
		s := pipeline(timed(10, func(int) { time.Sleep(10 * time.Millisecond) }))
		inTime(t, s, 10, 0)
	})
}

// At any rate of records, each arrives after at most one linger.
func TestSteadyRecords(t *testing.T) {
	for _, pace := range []time.Duration{100 * time.Microsecond, 700 * time.Microsecond, time.Millisecond, 1300 * time.Microsecond} {
		t.Run(pace.String(), func(t *testing.T) {
			everyPipeline(t, func(t *testing.T, pipeline func(iter.Seq[at]) stream.Stream[at]) {
				s := pipeline(timed(50, func(int) { time.Sleep(pace) }))
				inTime(t, s, 50, linger)
			})
		})
	}
}

// A stage that becomes slow delays records before it by one linger and the call in progress, and
// records on other goroutines not at all.
func TestASlowCallHoldsUpItsOwnGoroutineOnly(t *testing.T) {
	const call = 10 * time.Millisecond
	for _, h := range hops {
		bubble(t, h.name, func(t *testing.T) {
			// Record i has the time at which its own call ended.
			s := stream.Map(stream.FromSeq(count(60)), func(i int) at {
				if i >= 30 {
					time.Sleep(call)
				}
				return at{i, sinceBubble()}
			})
			inTime(t, h.add(s), 60, linger)
		})
		bubble(t, h.name+"/slice", func(t *testing.T) { // which hands chunks to the stage
			s := stream.Map(stream.From(indexes(600)), func(i int) at {
				if i >= 300 {
					time.Sleep(call)
				}
				return at{i, sinceBubble()}
			})
			inTime(t, h.add(s), 600, linger+call)
		})
		bubble(t, h.name+"/behind", func(t *testing.T) { // the slow stage is behind the boundary
			s := h.add(stream.FromSeq(timed(20, func(int) { time.Sleep(100 * time.Microsecond) })))
			s = stream.Map(s, func(v at) at {
				v.when = sinceBubble()
				time.Sleep(call)
				return v
			})
			inTime(t, s, 20, linger+2*call)
		})
	}
}

// A result of a ParMap does not wait for calls started after its own, except for those of its own
// task: 50 µs of work.
func TestParMapResultsDoNotWait(t *testing.T) {
	const task = 1024 // records at most
	for _, opt := range [][]stint.Option{{}, {stint.Unordered()}} {
		bubble(t, fmt.Sprint(len(opt)), func(t *testing.T) {
			s := stream.ParMap(stream.FromSeq(count(50)), func(_ context.Context, i int) (at, error) {
				time.Sleep(time.Second)
				return at{i, sinceBubble()}, nil
			}, append(opt, stint.Limit(5))...)
			inTime(t, s, 50, 0)
			equal(t, "time passed", sinceBubble(), 10*time.Second)
		})
		bubble(t, fmt.Sprint(len(opt), "/one blocks after a fast stretch"), func(t *testing.T) {
			s := stream.ParMap(stream.From(indexes(5000)), func(_ context.Context, i int) (at, error) {
				if i == 4000 {
					time.Sleep(time.Hour)
				}
				return at{i, sinceBubble()}, nil
			}, append(opt, stint.Limit(5))...)
			for v, err := range s.All(t.Context()) {
				equal(t, "error", err, nil)
				if late := sinceBubble() - v.when; v.v < 4000-task && late > linger {
					t.Errorf("record %d took %v", v.v, late)
				}
			}
		})
	}
}
