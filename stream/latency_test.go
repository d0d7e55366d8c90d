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

type ats = stream.Stream[at]

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

// hops are the boundaries, and two with a stage between.
var hops = []struct {
	name string
	add  func(s ats) ats
}{
	{"Buffer(1)", func(s ats) ats { return stream.Buffer(s, 1) }},
	{"Buffer(1000)", func(s ats) ats { return stream.Buffer(s, 1000) }},
	{"ParMap(1)", func(s ats) ats { return stream.ParMap(s, passOn, stint.Limit(1)) }},
	{"ParMap", func(s ats) ats { return stream.ParMap(s, passOn) }},
	{"Unordered", func(s ats) ats { return stream.ParMap(s, passOn, stint.Limit(4), stint.Unordered()) }},
	{"Merge", func(s ats) ats {
		return stream.Merge(s, stream.Generate(func(ctx context.Context, _ func(at) bool) error { <-ctx.Done(); return nil }))
	}},
	{"Buffer+Map", func(s ats) ats { return stream.Map(stream.Buffer(s, 64), func(v at) at { return v }) }},
}

func passOn(_ context.Context, v at) (at, error) { return v, nil }

// inTime fails the test unless s has n records, each of which takes at most a time. It calls last
// at the last one, and leaves the loop.
func inTime(t *testing.T, s ats, n int, most time.Duration, last func()) {
	t.Helper()
	got := 0
	for v, err := range s.All(t.Context()) {
		if err != nil {
			t.Error(err)
		}
		if late := sinceBubble() - v.when; late > most {
			t.Errorf("record %d of %d took %v", v.v, n, late)
		}
		if got++; got == n {
			last()
			break
		}
	}
	equal(t, "records", got, n)
}

func nothing() {}

// everyPipeline runs a test in a bubble for every source with 1 and 4 of each hop in a row, and with
// all hops in a row.
func everyPipeline(t *testing.T, test func(t *testing.T, pipeline func(seq iter.Seq[at]) ats)) {
	for _, o := range sourcesOf[at]() {
		row := func(name string, add func(s ats) ats) {
			bubble(t, o.name+"/"+name, func(t *testing.T) {
				test(t, func(seq iter.Seq[at]) ats { return add(o.open(t, seq)) })
			})
		}
		for _, h := range hops {
			row(h.name, h.add)
			row(h.name+"/4", func(s ats) ats { return h.add(h.add(h.add(h.add(s)))) })
		}
		row("mixed", func(s ats) ats {
			for _, h := range hops {
				s = h.add(s)
			}
			return s
		})
	}
}

// Records before a silence arrive after at most one linger, however many boundaries there are.
func TestRecordsBeforeASilence(t *testing.T) {
	everyPipeline(t, func(t *testing.T, pipeline func(iter.Seq[at]) ats) {
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
			inTime(t, s, n, linger, func() { close(silence) }) // only now: the loop that is left waits for the source
		}
	})
}

// A record after a silence arrives at once.
func TestALoneRecordDoesNotWait(t *testing.T) {
	everyPipeline(t, func(t *testing.T, pipeline func(iter.Seq[at]) ats) {
		s := pipeline(timed(10, func(int) { time.Sleep(10 * time.Millisecond) }))
		inTime(t, s, 10, 0, nothing)
	})
}

// At any rate of records, each arrives after at most one linger.
func TestSteadyRecords(t *testing.T) {
	for _, pace := range []time.Duration{100 * time.Microsecond, 700 * time.Microsecond, time.Millisecond, 1300 * time.Microsecond} {
		t.Run(pace.String(), func(t *testing.T) {
			everyPipeline(t, func(t *testing.T, pipeline func(iter.Seq[at]) ats) {
				s := pipeline(timed(50, func(int) { time.Sleep(pace) }))
				inTime(t, s, 50, linger, nothing)
			})
		})
	}
}

// A stage that becomes slow delays records before it by one linger and the call in progress, and
// records on other goroutines not at all.
func TestASlowCallHoldsUpItsOwnGoroutineOnly(t *testing.T) {
	const pause = 10 * time.Millisecond
	becomesSlow := func(n int) func(i int) at { // record i has the time at which its own call ended
		return func(i int) at {
			if i >= n/2 {
				time.Sleep(pause)
			}
			return at{i, sinceBubble()}
		}
	}
	for _, h := range hops {
		bubble(t, h.name, func(t *testing.T) {
			inTime(t, h.add(stream.Map(stream.FromSeq(count(60)), becomesSlow(60))), 60, linger, nothing)
		})
		bubble(t, h.name+"/slice", func(t *testing.T) { // of which several go through the stage at once
			inTime(t, h.add(stream.Map(stream.From(indexes(600)), becomesSlow(600))), 600, linger+pause, nothing)
		})
		bubble(t, h.name+"/behind", func(t *testing.T) { // the slow stage is behind the boundary
			s := h.add(stream.FromSeq(timed(20, func(int) { time.Sleep(100 * time.Microsecond) })))
			s = stream.Map(s, func(v at) at {
				v.when = sinceBubble()
				time.Sleep(pause)
				return v
			})
			inTime(t, s, 20, linger+2*pause, nothing)
		})
	}
}

// A result of a ParMap does not wait for calls started after its own.
func TestParMapResultsDoNotWait(t *testing.T) {
	for _, fast := range []int{0, 1000} {
		bothOrders(t, fmt.Sprint(fast), func(t *testing.T, order ...stint.Option) {
			s := stream.ParMap(stream.From(indexes(fast+50)), func(_ context.Context, i int) (at, error) {
				if i >= fast {
					time.Sleep(time.Second)
				}
				return at{i, sinceBubble()}, nil
			}, append(order, stint.Limit(5))...)
			inTime(t, s, fast+50, 0, nothing)
			equal(t, "time passed", sinceBubble(), 10*time.Second)
		})
	}
}
