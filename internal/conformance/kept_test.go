package conformance_test

import (
	"context"
	"iter"
	"sync"
	"testing"

	"github.com/stint-go/stint"
	"github.com/stint-go/stint/stream"
)

// pulling are the calls that range over a sequence of the caller.
var pulling = map[string]func(seq iter.Seq[int], f body, opts ...stint.Option) error{
	"EachSeq": func(seq iter.Seq[int], f body, opts ...stint.Option) error {
		return stint.EachSeq(bg, seq, f, opts...)
	},
	"MapSeq": func(seq iter.Seq[int], f body, opts ...stint.Option) error {
		return yielded(stint.MapSeq(bg, seq, valued(f), opts...))
	},
	"EachKey": func(seq iter.Seq[int], f body, opts ...stint.Option) error {
		return stint.EachKey(bg, seq, func(int) int { return 0 }, f, opts...)
	},
	"MapKey": func(seq iter.Seq[int], f body, opts ...stint.Option) error {
		return yielded(stint.MapKey(bg, seq, func(int) int { return 0 }, valued(f), opts...))
	},
}

// A sequence may keep its yield function. When it has ended, however it does, a call of that
// function starts no task: it returns false, or panics as that of a range loop.
func TestKeptYieldStartsNothing(t *testing.T) {
	for end, f := range ways {
		for name, call := range pulling {
			for _, wanted := range []int{2, 9} { // of 4: then a task fails
				bubble(t, name+"/"+end, func(t *testing.T) { keepYield(t, f, wanted, call) })
			}
		}
	}
}

// keepYield makes a call with a sequence that ends by leave, of which one task fails, and then uses its
// yield function.
func keepYield(t *testing.T, leave func(), wanted int, call func(iter.Seq[int], body, ...stint.Option) error) {
	var kept func(int) bool
	seq := func(yield func(int) bool) {
		kept = yield
		count(4)(yield)
		if leave != nil {
			leave()
		}
	}
	var tasks gauge
	l := stint.Limit(2)
	leaving(func() {
		call(seq, func(_ context.Context, i int) error {
			tasks.Hold(0)
			if i == wanted {
				return errBoom
			}
			return nil
		}, l)
	})
	before := tasks.Total()
	recovered(func() { equal(t, "a late call", kept(5), false) })
	noneLeft(t)
	equal(t, "tasks of late calls", tasks.Total()-before, 0)
	equal(t, "usage", usage(l), [3]int{2})
}

// A sequence of ours may be ranged over again, after it was left and by several goroutines at
// once. It does not call its yield function again when that has returned false.
func TestSequencesRunAgain(t *testing.T) {
	fails := valued(func(_ context.Context, i int) error { return []error{nil, errBoom}[i%2] })
	for name, seq := range map[string]iter.Seq2[int, error]{
		"MapSeq":    stint.MapSeq(bg, count(6), fails, stint.KeepGoing()),
		"Unordered": stint.MapSeq(bg, count(6), fails, stint.KeepGoing(), stint.Unordered()),
		"MapKey":    stint.MapKey(bg, count(6), itself, fails, stint.KeepGoing()),
		"All":       stream.Map(stream.From(indexes(6)), itself).All(bg),
	} {
		for after := 1; after <= 6; after++ {
			bubble(t, name, func(t *testing.T) { runAgain(t, seq, after) })
		}
	}
}

// runAgain leaves seq so late, six times.
func runAgain(t *testing.T, seq iter.Seq2[int, error], after int) {
	once := func() {
		calls := 0
		seq(func(int, error) bool { calls++; return calls < after })
		equal(t, "calls", calls, after)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { once(); once() })
	}
	all.Wait()
}
